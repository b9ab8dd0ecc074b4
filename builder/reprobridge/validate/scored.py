"""Scored evidence in the store: what `run` measured, found again by what was measured.

A record is kept under the digest of its task's frozen spec, the tree of the code, the locks and the declared
variables. So it holds for every image that delivers the same: another guide changes the image's digest and
nothing that was measured. The image that ran stands in the record.
Only what counts is kept (`shortcomings` says what does not). A value is never replaced by a later failure.
"""

from reprobridge.digest import Digest, digest_json, strict_json
from reprobridge.frozen import frozen
from reprobridge.store.store import Store
from reprobridge_launcher import cparts, evidence
from reprobridge_launcher.fields import FormatError
from reprobridge_launcher.manifest import Manifest, Task, parts

RESULT = "scored"
"""Kind of the store's results that hold records of scored runs."""

RECORD = "runner.json"
"""Name of the runner's record in a run's folder."""
UNCLASSIFIED = "infrastructure"
"""Class of failures that say nothing about the task: somebody stopped the run."""


@frozen
class Scored:
    """A record as it was kept."""

    data: bytes
    """The exact bytes of the runner's record."""
    record: evidence.Evidence
    """What they say."""

    @classmethod
    def parse(cls, data: bytes) -> "Scored":
        """Read the bytes of a record. Raises FormatError, ValueError or TypeError for anything else."""
        return cls(data, evidence.parse(strict_json(data)))


def record_bytes(record: evidence.Evidence) -> bytes:
    """The bytes of a record's file."""
    return cparts.json_text(evidence.form(record)).encode() + b"\n"


def keep_scored(store: Store, artifact: Manifest, record: evidence.Evidence) -> bool:
    """Keep the record of a run if it counts for its task; says whether it does."""
    task = next((task for task in artifact.tasks if task.id == record.task), None)
    if task is None or shortcomings(record, artifact, task):
        return False
    earlier = kept_scored(store, artifact, task)
    if record.value is not None or earlier is None or earlier.record.value is None:
        text = record_bytes(record).decode()
        store.remember_measured(RESULT, measured_key(artifact, task), {"record": text})
    return True


def kept_scored(store: Store, artifact: Manifest, task: Task) -> Scored | None:
    """The record that is kept for this task, code and environment, or None; what can't be read counts as none."""
    match store.result(RESULT, measured_key(artifact, task)):
        case {"record": str(text)}:
            try:
                return Scored.parse(text.encode())
            except (FormatError, ValueError, TypeError):
                return None
    return None


def measured_key(artifact: Manifest, task: Task) -> Digest:
    """Digest of everything that a measurement is of."""
    return digest_json(
        {
            "task": task.digest,
            "tree": artifact.source.tree,
            "locks": dict(artifact.environment.locks),
            "variables": dict(artifact.environment.variables),
        }
    )


def shortcomings(record: evidence.Evidence, artifact: Manifest, task: Task) -> list[str]:
    """Why a record is no evidence for this task of this artifact; empty: it is."""
    return [*_differences(record, artifact, task), *_gaps(record, task)]


def _differences(record: evidence.Evidence, artifact: Manifest, task: Task) -> list[str]:
    """Where it is of something else."""
    declared = dict(artifact.environment.variables)
    variables = {name: value for name, value in record.setting.variables if name in declared}
    compared = {
        "task": (record.task, task.id),
        "definition of the task": (record.task_digest, task.digest),
        "tree of the code": (record.code.tree, artifact.source.tree),
        "set of locks": (dict(record.setting.locks), dict(artifact.environment.locks)),
        "set of variables": (variables, declared),
    }
    return [f"it is of another {what}" for what, (found, wanted) in compared.items() if found != wanted]


def _gaps(record: evidence.Evidence, task: Task) -> list[str]:
    """What it lacks to be a whole observation, seen from outside."""
    complete = record.value is None or len(record.parts) == parts(task)
    classified = record.failure is not None and record.failure.class_ != UNCLASSIFIED
    gaps = {
        f"its witness is the {record.witness}, not the runner": record.witness != "runner",
        f"it is a {record.mode} run": record.mode != "scored",
        f"it is {record.state}": record.state != "finished",
        f"{len(record.parts)} of {parts(task)} commands were run": not complete,
        "it has neither a value nor a classified failure": record.value is None and not classified,
        f"it failed where the task was not meant to run: {'; '.join(record.unfit)}": record.value is None
        and bool(record.unfit),
        f"it deviates: {'; '.join(record.deviations)}": bool(record.deviations),
    }
    return [gap for gap, holds in gaps.items() if holds]
