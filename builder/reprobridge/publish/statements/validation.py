"""That an image was validated, as an in-toto test result v0.1, with the whole report.

https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md
The report and what the publisher accepted to go without stand under `urn:reprobridge:validation:1`: extension
fields are named by URIs. Checks that were not run are warnings there, so that a policy which knows nothing of
ReproBridge sees them.
"""

from collections.abc import Mapping
from typing import Any

from reprobridge.digest import Json
from reprobridge.errors import TrustError
from reprobridge.frozen import frozen
from reprobridge.publish.statements.statement import PredicateType, Statement, Subject
from reprobridge.validate.model import SCHEMA, Report, Verdict

EXTENSION = "urn:reprobridge:validation:1"
"""Field of the predicate that holds the report and what was accepted."""


@frozen(kw_only=True)
class Acceptances:
    """What the publisher accepted to go without."""

    not_run: tuple[str, ...] = ()
    """Ids of checks, with `--accept-not-run`."""
    unmeasured: tuple[str, ...] = ()
    """Ids of tasks without evidence, with `--accept-unmeasured`."""


def validation(subject: Subject, report: Report, accepted: Acceptances) -> Statement:
    """What the report says; also when it says that something failed. Raises ValueError for another image's."""
    if report.image != subject.digest:
        raise ValueError(f"expected a report about {subject.digest}, found one about {report.image}")
    tests: dict[str, Json] = {
        f"{name}Tests": [result.check.value for result in report.with_verdict(verdict)]
        for name, verdict in _TESTS.items()
    }
    predicate: dict[str, Json] = {
        "result": _result(report),
        "configuration": [{"uri": f"urn:{SCHEMA.replace('.', ':').replace('/', ':')}"}],
        **tests,
        EXTENSION: {
            "report": report.to_json(),
            "acceptNotRun": list(accepted.not_run),
            "acceptUnmeasured": list(accepted.unmeasured),
        },
    }
    return Statement(subject=subject, predicate_type=PredicateType.VALIDATION, predicate=predicate)


def read_validation(predicate: Mapping[str, Any]) -> tuple[Report, Acceptances]:
    """Report and acceptances of a checked statement. Raises TrustError when they are not there or broken."""
    try:
        held = predicate[EXTENSION]
        accepted = Acceptances(
            not_run=tuple(map(str, held["acceptNotRun"])),
            unmeasured=tuple(map(str, held["acceptUnmeasured"])),
        )
        return Report.from_json(held["report"]), accepted
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise TrustError(
            "the attested validation report cannot be read", expected=f"schema {SCHEMA}", found=repr(error)
        ) from error


def _result(report: Report) -> str:
    if not report.complete or report.with_verdict(Verdict.FAILED):
        return "FAILED"
    return "WARNED" if report.with_verdict(Verdict.NOT_RUN) else "PASSED"


_TESTS: Mapping[str, Verdict] = {
    "passed": Verdict.PASSED,
    "warned": Verdict.NOT_RUN,
    "failed": Verdict.FAILED,
}
"""The specification's names of our verdicts."""
