"""What was measured in an artifact's environment, beside the references: our own predicate.

`urn:reprobridge:measurements:1` (guides/reference/attestations.md):

    {"artifact": "<64 hex>",
     "tasks": [{"task": "lda", "unit": "percent", "published": "98.9%" | null,
                "references": {"where": "…", "observations": ["98.88", …]} | null,
                "measured": {"value": "98.8764" | null, "failure": "extraction_error" | null,
                             "run": "…", "witness": "runner", "image": "sha256:…" | null,
                             "record": "<the record's exact text>"} | null}, …]}

Numbers are text. A task whose `measured` is null was accepted unmeasured. The record is the one that the runner
wrote (schema `reprobridge.evidence/1`), byte for byte; the fields beside it are what it says, for people.
"""

from collections.abc import Mapping, Sequence

from reprobridge.digest import Json
from reprobridge.publish.statements.statement import PredicateType, Statement, Subject
from reprobridge.validate.scored import Scored
from reprobridge_launcher.manifest import Manifest
from reprobridge_launcher.references import Reference


def measurements(
    subject: Subject, artifact: Manifest, references: Mapping[str, Reference], evidence: Sequence[Scored]
) -> Statement:
    """Evidence and references of every task; tasks without evidence are listed as such."""
    measured = {scored.record.task: scored for scored in evidence}
    tasks: list[Json] = [
        {
            "task": task.id,
            "unit": task.measurement.unit,
            "published": task.published.raw if task.published else None,
            "references": _references(references.get(task.id)),
            "measured": _measured(measured.get(task.id)),
        }
        for task in artifact.tasks
    ]
    predicate: dict[str, Json] = {"artifact": artifact.artifact.id, "tasks": tasks}
    return Statement(subject=subject, predicate_type=PredicateType.MEASUREMENTS, predicate=predicate)


def _references(reference: Reference | None) -> Json:
    if reference is None:
        return None
    pairs = zip(reference.observations, reference.ranges, strict=True)
    observations: list[Json] = [
        repr(value) if ends is None else [repr(end) for end in ends] for value, ends in pairs
    ]
    return {"where": reference.where, "observations": observations}


def _measured(scored: Scored | None) -> Json:
    if scored is None:
        return None
    record = scored.record
    return {
        "value": None if record.value is None else repr(record.value),
        "failure": record.failure.class_ if record.failure else None,
        "run": record.run,
        "witness": record.witness,
        "image": record.artifact.image,
        "record": scored.data.decode(),
    }
