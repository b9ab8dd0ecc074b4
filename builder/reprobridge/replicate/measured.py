"""What a publisher attests to have measured: each task's value beside the published one."""

from collections.abc import Mapping

from reprobridge.digest import Json
from reprobridge.errors import TrustError
from reprobridge.frozen import frozen
from reprobridge.publish.proof import attested_records
from reprobridge.publish.signing.check import CheckedStatement
from reprobridge.validate.scored import Scored, shortcomings
from reprobridge_launcher.evidence import Evidence
from reprobridge_launcher.manifest import Manifest, Task


@frozen(kw_only=True)
class Measured:
    """One task's measurement."""

    task: str
    """Its id."""
    what: str
    """What is measured, for example `accuracy`."""
    value: float | None
    """In the unit, unrounded; None: the task failed."""
    unit: str
    """For example `percent`."""
    failure: str | None
    """Class of the failure where there is no value."""
    published: str | None
    """As printed in the paper; None: the paper gives none."""
    verdict: str | None
    """How the value compares with the references, as the record says; None: it was not compared."""


def counting_records(statement: CheckedStatement, artifact: Manifest) -> Mapping[str, Scored]:
    """The records by their tasks, each of which counts as the gate before publishing has it (`validate/scored.py`).

    Raises TrustError where one does not, or they are another artifact's.
    """
    if (found := statement.predicate.get("artifact")) != artifact.artifact.id:
        raise TrustError(
            "the measurements are of another artifact", expected=artifact.artifact.id, found=str(found)
        )
    records = attested_records(statement.predicate)
    tasks = {task.id: task for task in artifact.tasks}
    for name, scored in sorted(records.items()):
        problems = shortcomings(scored.record, artifact, tasks[name]) if name in tasks else ["no such task"]
        if problems:
            raise TrustError("a measurement does not count", where=name, found="; ".join(problems))
    return records


def measured_in(statement: CheckedStatement, artifact: Manifest) -> list[Measured]:
    """The measurements that a statement holds, in the order of the artifact's tasks. Raises TrustError."""
    records = counting_records(statement, artifact)
    return [_measured(task, records[task.id].record) for task in artifact.tasks if task.id in records]


def _measured(task: Task, record: Evidence) -> Measured:
    return Measured(
        task=task.id,
        what=task.measurement.name,
        value=record.value,
        unit=record.unit,
        failure=record.failure.class_ if record.failure else None,
        published=task.published.raw if task.published else None,
        verdict=record.comparison.verdict if record.comparison else None,
    )


def measured_text(measured: Measured) -> str:
    """For people, in a line."""
    value = f"no value ({measured.failure})"
    if measured.value is not None:
        value = f"{measured.value:.10g} {measured.unit}"
    published = "" if measured.published is None else f", published {measured.published}"
    return f"{measured.what} {value}{published}" + (f": {measured.verdict}" if measured.verdict else "")


def measured_json(measured: Measured) -> dict[str, Json]:
    """For machines; the value is text, with all its digits."""
    return {
        "task": measured.task,
        "value": None if measured.value is None else repr(measured.value),
        "unit": measured.unit,
        "failure": measured.failure,
        "published": measured.published,
        "verdict": measured.verdict,
    }
