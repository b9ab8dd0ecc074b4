"""`validate`: every check of one image as a report.

Checks go on side by side as far as one does not need another's outcome: most of their time is spent in an
image's processes, and there are as many at once as there are cores.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from reprobridge.assemble.composition import build_notes
from reprobridge.errors import ArtifactError
from reprobridge.frozen import frozen
from reprobridge.sandbox.model import Sandbox
from reprobridge.system.processes import cores
from reprobridge.validate.checks import cleanliness, guide, image, inventory, launcher, modules, python, tasks
from reprobridge.validate.model import NEEDS, CheckId, CheckResult, Finding, Report, Verdict, judged
from reprobridge.validate.shell import CleanShell
from reprobridge.validate.subject import Subject

Check = Callable[[CleanShell], Finding]
"""Looks at an image; a fault of the image is a finding, an exception means that we could not look."""

CHECKS: Mapping[CheckId, Check] = {
    CheckId.DIGESTS: image.check_digests,
    CheckId.CONFIG: image.check_config,
    CheckId.LAYERS: image.check_layers,
    CheckId.MODES: image.check_modes,
    CheckId.INVENTORY: inventory.check_inventory,
    CheckId.SECRETS: cleanliness.check_secrets,
    CheckId.HISTORY: cleanliness.check_history,
    CheckId.CACHES: cleanliness.check_caches,
    CheckId.SCORES: cleanliness.check_scores,
    CheckId.LAUNCHER: launcher.check_launcher,
    CheckId.REQUIREMENTS: python.check_requirements,
    CheckId.IMPORTS: modules.check_imports,
    CheckId.SMOKE: tasks.check_smoke,
    CheckId.ANY_USER: tasks.check_any_user,
    CheckId.GUIDE: guide.check_guide,
}
"""The function of each check."""


def validate(subject: Subject, sandbox: Sandbox, tell: Callable[[CheckResult], None]) -> Report:
    """Make every check; `tell` hears of each as soon as it is done, from any thread."""
    shell = CleanShell(subject, sandbox)
    pool = ThreadPoolExecutor(cores())
    try:
        made: dict[CheckId, Future[_Made]] = {}
        for check in CheckId:
            # Started in order, and a check needs only earlier ones: no one waits for what can't start.
            needed = [made[one] for one in NEEDS.get(check, ())]
            made[check] = pool.submit(_result, check, shell, needed, tell)
        results = tuple(made[check].result().result for check in CheckId)
    finally:
        pool.shutdown(cancel_futures=True)
    return Report(
        image=subject.digest,
        artifact=subject.artifact_id,
        sandbox=sandbox.kind,
        results=results,
        notes=build_notes(subject.store, subject.digest),
    )


def _result(
    check: CheckId,
    shell: CleanShell,
    needed: Sequence["Future[_Made]"],
    tell: Callable[[CheckResult], None],
) -> "_Made":
    earlier = [future.result() for future in needed]
    start = time.monotonic()
    reasons = tuple(filter(None, map(_hindrance, earlier)))
    finding = Finding(Verdict.NOT_RUN, reasons) if reasons else _look(CHECKS[check], shell)
    spent = round(1000 * (time.monotonic() - start))
    result = CheckResult(check=check, finding=finding, milliseconds=spent)
    tell(result)
    return _Made(result, hindered=bool(reasons))


@frozen
class _Made:
    """A result, and whether it is that the check could not be made because of another one."""

    result: CheckResult
    hindered: bool


def _hindrance(earlier: _Made) -> str | None:
    """Why a check that needs this one can't be made; lacking hardware is no hindrance."""
    check = earlier.result.check.value
    if earlier.hindered:
        return f"{check} was not run"
    return f"{check} failed" if earlier.result.finding.verdict is Verdict.FAILED else None


def _look(check: Check, shell: CleanShell) -> Finding:
    try:
        return check(shell)
    except ArtifactError as error:
        return judged([str(error)], "")
