"""The validation report as a test result: nothing of the report is lost, nothing is made to look better."""

import json
from typing import Any

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import TrustError
from reprobridge.frozen import replace
from reprobridge.publish.statements.validation import EXTENSION, Acceptances, read_validation, validation
from reprobridge.validate.model import CheckId, Finding, Report, Verdict
from support.publishing import report_about
from support.statements import SUBJECT, said_of_itself

NOT_RUN = Finding(Verdict.NOT_RUN, ("no GPU here",))
FAILED = Finding(Verdict.FAILED, ("the guide says 1, the image 2",))
ACCEPTED = Acceptances(not_run=("tasks.smoke",), unmeasured=("qda",))


def report(**findings: Finding) -> Report:
    return report_about(SUBJECT.digest, said_of_itself().manifest, **findings)


def predicate(made: Report, accepted: Acceptances = ACCEPTED) -> Any:
    return json.loads(validation(SUBJECT, made, accepted).to_bytes())["predicate"]


@pytest.mark.parametrize("findings", [{}, {"SMOKE": NOT_RUN}, {"SMOKE": NOT_RUN, "GUIDE": FAILED}], ids=str)
def test_the_whole_report_and_what_was_accepted_come_back(findings: dict[str, Finding]) -> None:
    made = report(**findings)
    assert read_validation(predicate(made)) == (made, ACCEPTED)


def test_a_passed_report_is_passed() -> None:
    said = predicate(report())
    assert said["result"] == "PASSED"
    assert said["passedTests"] == [check.value for check in CheckId]
    assert said["warnedTests"] == said["failedTests"] == []


def test_a_check_that_was_not_run_is_a_warning() -> None:
    said = predicate(report(SMOKE=NOT_RUN))
    assert (said["result"], said["warnedTests"]) == ("WARNED", ["tasks.smoke"])


def test_a_failed_check_fails_whatever_was_accepted() -> None:
    said = predicate(report(SMOKE=NOT_RUN, GUIDE=FAILED))
    assert (said["result"], said["failedTests"]) == ("FAILED", ["guide.blocks"])


def test_a_report_that_lacks_a_check_is_failed() -> None:
    whole = report()
    assert predicate(replace(whole, results=whole.results[1:]))["result"] == "FAILED"


def test_a_report_about_another_image_is_refused() -> None:
    with pytest.raises(ValueError, match="about"):
        validation(SUBJECT, replace(report(), image=Digest.of(b"another")), ACCEPTED)


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {EXTENSION: None},
        {EXTENSION: {}},
        {EXTENSION: {"report": {}, "acceptNotRun": [], "acceptUnmeasured": []}},
    ],
    ids=str,
)
def test_a_statement_without_a_report_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises(TrustError, match="cannot be read"):
        read_validation(broken)
