"""/rra/manifest.json and /rra/references.json, in the launcher's formats (`reprobridge_launcher/manifest.py`).

Numbers are the author's decimal text read as floats, since the launcher computes with them; no key of ours has any, and
a task's digest is one of this file's own text, in which Python writes each float in one way.
Both are parsed by the launcher's own parser before they leave here, so that an image never holds one that
its launcher cannot read.
"""

import json
from collections.abc import Mapping

from reprobridge.digest import Digest, digest_json
from reprobridge.lock.cuda import cuda
from reprobridge.lock.model import LockedChange, LockedPlatform, LockedSource
from reprobridge.spec import model
from reprobridge.spec.extract import launcher_form
from reprobridge.spec.model import Spec, Task
from reprobridge_launcher import fields
from reprobridge_launcher import manifest as launcher_manifest
from reprobridge_launcher import references as launcher_references
from reprobridge_launcher.interval import Policy

INTEGRITY = "/rra/inventory"
"""Where the image's inventory stands."""


def manifest_bytes(
    spec: Spec, source: LockedSource, platform: LockedPlatform, artifact: "ArtifactId"
) -> bytes:
    """The bytes of /rra/manifest.json."""
    value = {
        "schema": launcher_manifest.SCHEMA,
        "paper": _paper(spec.paper),
        "artifact": {
            "id": artifact.id.hex,
            "version": spec.version,
            "license": spec.license,
            "repository": spec.repository,
        },
        "source": {
            "kind": source.kind,
            "origin": source.origin,
            "commit": source.commit,
            "tree": source.refined.hex,
            "date": source.date,
        },
        "changes": [_change(*pair) for pair in zip(spec.changes, source.changes, strict=True)],
        "decisions": _decisions(spec.decisions),
        "environment": {
            "python": "/opt/env/bin/python",
            "variables": dict(spec.environment.variables),
            "locks": {"/rra/lock/reprobridge.lock": artifact.lock.hex},
            "distributions": [{"name": w.name, "version": w.version} for w in platform.python.wheels],
            "gpu": cuda(platform.python.wheels),
        },
        "data": [],
        "tasks": [_task(task) for task in spec.tasks],
        "integrity": INTEGRITY,
    }
    launcher_manifest.parse(value)
    return _bytes(value)


class ArtifactId:
    """The artifact's identity: digest of the canonical {spec, lock}."""

    def __init__(self, spec: Digest, lock: Digest) -> None:
        self.lock = lock
        """Of the lock's bytes."""
        self.id = digest_json({"spec": str(spec), "lock": str(lock)})
        """Of both."""


def references_bytes(spec: Spec) -> bytes:
    """The bytes of /rra/references.json."""
    tasks: dict[str, object] = {}
    for task in spec.tasks:
        if task.references is not None:
            measured = task.measurement
            tasks[task.id] = {
                "observations": [float(value) for value in task.references.observations],
                "where": task.references.where,
                "interval": fields.form(
                    Policy(lower=_number(measured.lower_bound), upper=_number(measured.upper_bound))
                ),
            }
    value: dict[str, object] = {"schema": launcher_references.SCHEMA, "tasks": tasks}
    launcher_references.parse(json.loads(_bytes(value)))
    return _bytes(value)


def _paper(paper: model.Paper) -> dict[str, object]:
    fields = ("id", "title", "year", "venue", "doi", "url")
    return {**{name: getattr(paper, name) for name in fields}, "authors": list(paper.authors)}


def _change(change: model.Change, locked: LockedChange) -> dict[str, object]:
    return {
        "id": change.id,
        "class": change.change_class.value,
        "why": change.why,
        "affects_numbers": change.affects_numbers,
        "ambiguity": change.ambiguity,
        "paper": change.paper,
        "tasks": list(change.tasks),
        "patch": change.patch.name,
        "files": list(locked.files),
    }


def _decisions(decisions: model.Decisions) -> dict[str, object]:
    return {
        "ambiguities": [
            {
                **_named(item, ("id", "paper", "code", "gap", "chosen", "basis", "decided")),
                "options": list(item.options),
                "tasks": list(item.tasks),
                "sensitivity": _named(item.sensitivity, ("level", "evidence")),
            }
            for item in decisions.ambiguities
        ],
        "pitfalls": [
            {**_named(item, ("id", "symptom", "cause", "avoid")), "tasks": list(item.tasks)}
            for item in decisions.pitfalls
        ],
        "open_choices": [
            {**_named(item, ("id", "question", "default")), "options": list(item.options)}
            for item in decisions.open_choices
        ],
    }


def _task(task: Task) -> dict[str, object]:
    value = _frozen_task(task)
    return {**value, "digest": _digest_of(value)}


def _frozen_task(task: Task) -> dict[str, object]:
    smoke, seeds = task.smoke, task.seeds
    return {
        **_named(task, ("id", "title", "scope")),
        "experiment": _named(task.experiment, ("id", "dataset", "split", "variant")),
        "published": _published(task.published),
        "measurement": {
            **_named(task.measurement, ("name", "unit", "direction", "statistic", "repeats")),
            "over": task.measurement.over or "runs",
        },
        "checkpoints": list(task.checkpoints),
        "command": list(task.command),
        "smoke": smoke and {"command": list(smoke.command), "timeout": smoke.timeout},
        "seeds": seeds and {"option": seeds.option, "values": list(seeds.values)},
        "extract": launcher_form(task.extract),
        "resources": _named(task.resources, ("gpus", "gpu_memory", "cpus", "memory", "disk", "time")),
    }


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


def _published(published: model.Published) -> dict[str, object]:
    spread = published.spread
    return {
        **_named(published, ("location", "raw", "decimals")),
        "value": float(published.value),
        "range": published.range and [float(bound) for bound in published.range],
        "spread": spread and {"value": float(spread.value), "kind": spread.kind},
    }


def _named(value: object, names: tuple[str, ...]) -> dict[str, object]:
    return {name: getattr(value, name) for name in names}


def _digest_of(value: Mapping[str, object]) -> str:
    return Digest.of(_bytes(value)).hex


def _bytes(value: object) -> bytes:
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n").encode()
