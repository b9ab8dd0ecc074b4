"""The gate: what it lets pass, everything that it refuses and why, and that nothing gets around it."""

from typing import Any

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import PublishError
from reprobridge.frozen import replace
from reprobridge.oci.layout import ImageParts
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.gate import Accepted, GateClosedError, Passed, Presented, pass_gate
from reprobridge.validate.model import CheckId, Finding, Verdict
from reprobridge_launcher import manifest as launcher_manifest
from reprobridge_launcher.manifest import Manifest
from support import launcher_artifact
from support.publishing import failed, record_of, report_about, scored

IMAGE = Digest.of(b"manifest")
"""The image's digest of record."""
FAILED = Finding(Verdict.FAILED, ("the guide says 1, the image 2",))
NOT_RUN = Finding(Verdict.NOT_RUN, ("no GPU here",))


@pytest.fixture
def artifact() -> Manifest:
    tasks = (launcher_artifact.task(), launcher_artifact.task(id="qda", digest="e" * 64))
    return launcher_manifest.parse(launcher_artifact.manifest(*tasks))


def presented(artifact: Manifest, **changes: Any) -> Presented:
    descriptor = Descriptor(MediaType.MANIFEST, IMAGE, 8)
    whole = Presented(
        image=ImageParts(
            name="reprobridge/wine",
            version="1.0.0",
            manifest=descriptor,
            config=descriptor,
            layers=(),
            path=lambda digest: pytest.fail(f"the gate read {digest}"),
        ),
        artifact=artifact,
        report=report_about(IMAGE, artifact),
        evidence={task.id: scored(record_of(artifact, task)) for task in artifact.tasks},
        accepted=Accepted(),
    )
    return replace(whole, **changes)


def reasons(artifact: Manifest, **changes: Any) -> list[str]:
    """Every reason against what is presented."""
    with pytest.raises(GateClosedError) as caught:
        pass_gate(presented(artifact, **changes))
    assert caught.value.exit_code == 11
    return [str(problem) for problem in caught.value.problems]


def test_a_passing_report_and_evidence_of_every_task_let_an_image_pass(artifact: Manifest) -> None:
    let = pass_gate(presented(artifact))
    assert [item.record.task for item in let.evidence] == ["lda", "qda"]
    assert (let.not_run, let.unmeasured) == ((), ())


def test_without_a_report_it_is_closed(artifact: Manifest) -> None:
    (reason,) = reasons(artifact, report=None)
    assert "expected a validation report for this digest, found no report" in reason
    assert "reprobridge validate" in reason


def test_a_report_for_another_digest_does_not_count(artifact: Manifest) -> None:
    other = Digest.of(b"another manifest")
    (reason,) = reasons(artifact, report=report_about(other, artifact))
    assert f"expected a report for {IMAGE}, found a report for {other}" in reason


def test_a_report_about_another_artifact_does_not_count(artifact: Manifest) -> None:
    (reason,) = reasons(artifact, report=replace(report_about(IMAGE, artifact), artifact="b" * 64))
    assert f"one about {'b' * 64}" in reason


@pytest.mark.parametrize("check", list(CheckId))
def test_a_report_that_lacks_a_check_does_not_count_and_the_check_is_named(
    artifact: Manifest, check: CheckId
) -> None:
    whole = report_about(IMAGE, artifact)
    results = tuple(result for result in whole.results if result.check is not check)
    (reason,) = reasons(artifact, report=replace(whole, results=results))
    assert f"a report without {check.value}" in reason


def test_a_report_without_any_check_does_not_count(artifact: Manifest) -> None:
    (reason,) = reasons(artifact, report=replace(report_about(IMAGE, artifact), results=()))
    assert all(check.value in reason for check in CheckId)


def test_a_report_with_a_check_twice_does_not_count(artifact: Manifest) -> None:
    whole = report_about(IMAGE, artifact)
    (reason,) = reasons(artifact, report=replace(whole, results=(*whole.results, whole.results[0])))
    assert "each check once" in reason


@pytest.mark.parametrize("check", list(CheckId))
@pytest.mark.parametrize("accepted", [Accepted(), Accepted(not_run=True, unmeasured=True)])
def test_a_failed_check_closes_the_gate_whatever_is_accepted(
    artifact: Manifest, check: CheckId, accepted: Accepted
) -> None:
    report = report_about(IMAGE, artifact, **{check.name: FAILED})
    (reason,) = reasons(artifact, report=report, accepted=accepted)
    assert reason.startswith(f"{check.value}: expected passed, found the guide says 1, the image 2")


def test_a_check_that_was_not_run_closes_it_unless_that_is_accepted(artifact: Manifest) -> None:
    report = report_about(IMAGE, artifact, SMOKE=NOT_RUN)
    (reason,) = reasons(artifact, report=report)
    assert "not run: no GPU here" in reason
    assert "--accept-not-run" in reason
    let = pass_gate(presented(artifact, report=report, accepted=Accepted(not_run=True)))
    assert let.not_run == (CheckId.SMOKE,)


def test_a_task_without_evidence_closes_it_unless_that_is_accepted(artifact: Manifest) -> None:
    only = {"lda": scored(record_of(artifact, artifact.tasks[0]))}
    (reason,) = reasons(artifact, evidence=only)
    assert reason.startswith("tasks.qda: expected scored evidence")
    assert "--accept-unmeasured" in reason
    let = pass_gate(presented(artifact, evidence=only, accepted=Accepted(unmeasured=True)))
    assert let.unmeasured == ("qda",)


@pytest.mark.parametrize("class_", ["execution_blocked", "resource_or_access", "extraction_error"])
def test_a_classified_failure_is_evidence(artifact: Manifest, class_: str) -> None:
    record = record_of(artifact, artifact.tasks[0], **failed(class_))
    given = {**presented(artifact).evidence, "lda": scored(record)}
    assert pass_gate(presented(artifact, evidence=given)).evidence[0].record.failure is not None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"witness": "launcher"}, "its witness is the launcher"),
        ({"mode": "smoke"}, "it is a smoke run"),
        ({"state": "interrupted"}, "it is interrupted"),
        ({"state": "running", "end": None}, "it is running"),
        ({"deviations": ("seed 1 only",)}, "it deviates: seed 1 only"),
        ({"task_digest": "f" * 64}, "it is of another definition of the task"),
        ({"task": "qda"}, "it is of another task"),
        ({"parts": ()}, "0 of 1 commands were run"),
        (failed("infrastructure"), "neither a value nor a classified failure"),
        ({"value": None}, "neither a value nor a classified failure"),
    ],
)
def test_evidence_that_does_not_count_is_refused_even_where_none_is_accepted(
    artifact: Manifest, changes: dict[str, object], said: str
) -> None:
    record = record_of(artifact, artifact.tasks[0], **changes)
    given = {**presented(artifact).evidence, "lda": scored(record)}
    found = reasons(artifact, evidence=given, accepted=Accepted(unmeasured=True))
    assert [reason.startswith("tasks.lda: ") for reason in found] == [True] * len(found)
    assert any(said in reason for reason in found)


def test_evidence_of_other_code_locks_or_variables_does_not_count(artifact: Manifest) -> None:
    record = record_of(artifact, artifact.tasks[0])
    elsewhere = launcher_artifact.manifest(
        launcher_artifact.task(),
        source={"kind": "path", "origin": "./src", "commit": None, "tree": "1" * 64},
        environment={"python": None, "variables": {"OMP_NUM_THREADS": "8"}, "locks": {"/rra/lock": "2" * 64}},
    )
    other = launcher_manifest.parse(elsewhere)
    found = reasons(other, report=report_about(IMAGE, other), evidence={"lda": scored(record)})
    said = "\n".join(found)
    assert all(f"another {what}" in said for what in ("tree of the code", "set of locks", "set of variables"))


def test_all_reasons_are_said_at_once(artifact: Manifest) -> None:
    report = report_about(IMAGE, artifact, GUIDE=FAILED, SMOKE=NOT_RUN)
    assert len(reasons(artifact, report=report, evidence={})) == 4


def test_nobody_but_the_gate_can_say_that_an_image_passed(artifact: Manifest) -> None:
    let = pass_gate(presented(artifact))
    with pytest.raises(PublishError, match="only the gate"):
        Passed(**{**vars(let), "seal": object()})


@pytest.mark.parametrize("field", ["image", "report", "evidence", "not_run", "unmeasured"])
def test_what_passed_cannot_be_changed_afterwards(artifact: Manifest, field: str) -> None:
    let = pass_gate(presented(artifact))
    other = Descriptor(MediaType.MANIFEST, Digest.of(b"another manifest"), 8)
    changes: dict[str, Any] = {
        "image": replace(let.image, manifest=other),
        "report": replace(let.report, image=other.digest),
        "evidence": let.evidence[:1],
        "not_run": (CheckId.GUIDE,),
        "unmeasured": ("qda",),
    }
    with pytest.raises(PublishError, match="only the gate"):
        replace(let, **{field: changes[field]})
