"""The gate before publishing: it alone makes a `Passed`, and nothing is pushed without one.

It keeps an honest author from publishing what does not work. Against a dishonest one there are rebuild,
replication and audit: whoever owns the machine can write any report.
What is asked for: a complete validation report for exactly this digest with every check passed, and for each
task its scored evidence from this code and lock, or the task's classified failure. What a user accepts to go
without stands in the `Passed`, and from there in the attestation.
"""

from collections.abc import Iterator, Mapping, Sequence

from reprobridge.errors import Problem, PublishError
from reprobridge.frozen import frozen
from reprobridge.oci.layout import ImageParts
from reprobridge.validate.model import CheckId, Report, Verdict
from reprobridge.validate.scored import Scored, shortcomings
from reprobridge.wording import counted
from reprobridge_launcher.manifest import Manifest, Task


class _Seal:
    """Shows that the gate let exactly this pass; a changed copy of what passed does not fit it."""

    def __init__(self, of: tuple[object, ...]) -> None:
        self.of = of


class GateClosedError(PublishError):
    """What would be published is not proven to work; holds every reason."""

    def __init__(self, problems: Sequence[Problem], *, where: str) -> None:
        super().__init__(f"not published, for {counted(len(problems), 'reason')}", where=where)
        self.problems = tuple(problems)
        """All reasons: those about the report first."""

    def __str__(self) -> str:
        return "\n".join([f"{self.where}: {self.message}", *(str(problem) for problem in self.problems)])


@frozen(kw_only=True)
class Accepted:
    """What the user accepts to go without; it is attested."""

    not_run: bool = False
    """Checks that this machine could not make."""
    unmeasured: bool = False
    """Tasks without evidence."""


@frozen(kw_only=True)
class Presented:
    """What is presented at the gate."""

    image: ImageParts
    """What shall be published."""
    artifact: Manifest
    """What the image says about itself."""
    report: Report | None
    """The validation report, when there is one."""
    evidence: Mapping[str, Scored]
    """Records of scored runs, by the task's id."""
    accepted: Accepted
    """What may be lacking."""


@frozen(kw_only=True)
class Passed:
    """An image that may be published. Only `pass_gate` makes one; whatever pushes takes one."""

    image: ImageParts
    """The image."""
    artifact: Manifest
    """What it says about itself."""
    report: Report
    """About exactly this image; complete, nothing failed."""
    evidence: tuple[Scored, ...]
    """One for each measured task, in the order of the tasks."""
    not_run: tuple[CheckId, ...]
    """Checks that were accepted as not run."""
    unmeasured: tuple[str, ...]
    """Ids of the tasks that were accepted without evidence."""
    seal: object
    """Shows that the gate made it, and that nothing was changed since."""

    def __post_init__(self) -> None:
        what = (self.image.manifest, self.artifact, self.report, self.evidence, self.not_run, self.unmeasured)
        if not isinstance(self.seal, _Seal) or self.seal.of != what:
            raise PublishError("only the gate may say that an image may be published")


def pass_gate(presented: Presented) -> Passed:
    """Let the image pass. Raises GateClosedError with every reason against it."""
    report, tasks = presented.report, presented.artifact.tasks
    problems = [*_report_problems(presented), *_evidence_problems(presented)]
    if problems or report is None:
        raise GateClosedError(problems, where=f"{presented.image.name}@{presented.image.manifest.digest}")
    evidence = tuple(presented.evidence[task.id] for task in tasks if task.id in presented.evidence)
    not_run = tuple(result.check for result in report.with_verdict(Verdict.NOT_RUN))
    unmeasured = tuple(task.id for task in tasks if task.id not in presented.evidence)
    return Passed(
        image=presented.image,
        artifact=presented.artifact,
        report=report,
        evidence=evidence,
        not_run=not_run,
        unmeasured=unmeasured,
        seal=_Seal((presented.image.manifest, presented.artifact, report, evidence, not_run, unmeasured)),
    )


def _report_problems(presented: Presented) -> Iterator[Problem]:
    """Why the report does not let the image pass."""
    report, digest = presented.report, presented.image.manifest.digest
    again = "run `reprobridge validate` on this image"
    if report is None:
        yield Problem("validation", "a validation report for this digest", "no report", again)
        return
    if report.image != digest:
        yield Problem("validation", f"a report for {digest}", f"a report for {report.image}", again)
    if report.artifact != presented.artifact.artifact.id:
        stated = presented.artifact.artifact.id
        yield Problem(
            "validation", f"a report about artifact {stated}", f"one about {report.artifact}", again
        )
    yield from _set_problems(report, again)
    for result in report.with_verdict(Verdict.FAILED):
        found = "; ".join(result.finding.evidence) or "failed"
        yield Problem(result.check.value, "passed", found, "repair it, build and validate again")
    for result in () if presented.accepted.not_run else report.with_verdict(Verdict.NOT_RUN):
        why = f"not run: {'; '.join(result.finding.evidence)}"
        hint = "validate where it can be run, or accept it with --accept-not-run (it is attested)"
        yield Problem(result.check.value, "passed", why, hint)


def _set_problems(report: Report, hint: str) -> Iterator[Problem]:
    """Checks that the report lacks, or holds twice or in another order."""
    made = [result.check for result in report.results]
    lacking = [check.value for check in CheckId if check not in made]
    if lacking:
        yield Problem("validation", "every check", f"a report without {', '.join(lacking)}", hint)
    elif not report.complete:
        yield Problem("validation", "each check once, in order", f"{len(made)} checks", hint)


def _evidence_problems(presented: Presented) -> Iterator[Problem]:
    """Why the evidence does not let the image pass; evidence that does not count is never accepted as such."""
    artifact = presented.artifact
    if not artifact.tasks:
        yield Problem("tasks", "at least one task", "none")
    for task in artifact.tasks:
        scored = presented.evidence.get(task.id)
        if scored is not None:
            for reason in shortcomings(scored.record, artifact, task):
                yield Problem(_place(task), "evidence of this code and lock", reason, _hint(task))
        elif not presented.accepted.unmeasured:
            expected = "scored evidence, or the task's classified failure"
            yield Problem(_place(task), expected, "none from this code and lock", _hint(task))


def _place(task: Task) -> str:
    return f"tasks.{task.id}"


def _hint(task: Task) -> str:
    measure = f"measure it with `reprobridge run {task.id}`"
    return f"{measure}, or accept to publish without with --accept-unmeasured (it is attested)"
