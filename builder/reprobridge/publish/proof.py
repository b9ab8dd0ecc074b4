"""Proof that an image works, taken over from where it was published before: its attested report and evidence."""

from collections.abc import Mapping
from typing import Any

from reprobridge.errors import TrustError
from reprobridge.frozen import frozen
from reprobridge.publish.attested import Said, attested
from reprobridge.publish.signing.policy import Policy
from reprobridge.publish.statements.statement import PredicateType
from reprobridge.publish.statements.validation import read_validation
from reprobridge.validate.model import Report
from reprobridge.validate.scored import Scored
from reprobridge_launcher.fields import FormatError


@frozen(kw_only=True)
class Proof:
    """What the gate asks for."""

    report: Report
    """About the image; whether it passes is for the gate to say."""
    evidence: Mapping[str, Scored]
    """Records of scored runs, by the task's id."""


def attested_proof(said: Said, policy: Policy) -> Proof:
    """What somebody whom the policy trusts attested about an image. Raises TrustError."""
    validated = attested(said, policy, PredicateType.VALIDATION)
    reports = [read_validation(statement.predicate)[0] for statement in validated]
    evidence: dict[str, Scored] = {}
    for statement in attested(said, policy, PredicateType.MEASUREMENTS):
        evidence |= attested_records(statement.predicate)
    return Proof(report=max(reports, key=lambda report: report.passed), evidence=evidence)


def attested_records(predicate: Mapping[str, Any]) -> dict[str, Scored]:
    """The runner's records in a statement about measurements. Raises TrustError."""
    try:
        measured = {task["task"]: task["measured"] for task in predicate["tasks"]}
        records = {
            str(task): Scored.parse(given["record"].encode()) for task, given in measured.items() if given
        }
        values = {str(task): given["value"] for task, given in measured.items() if given}
    except (KeyError, TypeError, ValueError, AttributeError, FormatError, RecursionError) as error:
        raise TrustError("the attested measurements cannot be read", found=repr(error)) from error
    for task, scored in records.items():
        value = None if scored.record.value is None else repr(scored.record.value)
        if values[task] != value:
            raise TrustError(
                "the attested measurement says another value than its record",
                where=task,
                expected=value or "no value",
                found=str(values[task]),
            )
    return records
