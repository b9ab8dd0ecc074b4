"""`validate`: every check of one image, in order, as a report that is kept in the store."""

import time
from collections.abc import Callable, Mapping

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError
from reprobridge.sandbox.model import Sandbox
from reprobridge.store.store import Store
from reprobridge.validate.checks import cleanliness, guide, image, inventory, launcher, python, tasks
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
    CheckId.IMPORTS: python.check_imports,
    CheckId.SMOKE: tasks.check_smoke,
    CheckId.ANY_USER: tasks.check_any_user,
    CheckId.GUIDE: guide.check_guide,
}
"""The function of each check."""

RESULT = "validation"
"""Kind of the store's results that hold reports, by the digest of the image's manifest."""


def validate(subject: Subject, sandbox: Sandbox, tell: Callable[[CheckResult], None]) -> Report:
    """Make every check; `tell` hears of each as soon as it is done."""
    shell = CleanShell(subject, sandbox)
    results: list[CheckResult] = []
    bad: dict[CheckId, str] = {}
    for check in CheckId:
        start = time.monotonic()
        reasons = tuple(f"{needed.value} {bad[needed]}" for needed in NEEDS.get(check, ()) if needed in bad)
        finding = Finding(Verdict.NOT_RUN, reasons) if reasons else _made(CHECKS[check], shell)
        if reasons or finding.verdict is Verdict.FAILED:
            bad[check] = "was not run" if reasons else "failed"
        spent = round(1000 * (time.monotonic() - start))
        results.append(CheckResult(check=check, finding=finding, milliseconds=spent))
        tell(results[-1])
    return Report(
        image=subject.digest, artifact=subject.artifact_id, sandbox=sandbox.kind, results=tuple(results)
    )


def _made(check: Check, shell: CleanShell) -> Finding:
    try:
        return check(shell)
    except ArtifactError as error:
        return judged([str(error)], "")


# the store


def keep_report(store: Store, report: Report) -> None:
    """Keep the report; a later one about the same image replaces it."""
    store.remember(RESULT, report.image, report.to_json())


def kept_report(store: Store, image: Digest) -> Report | None:
    """The last report about exactly this image, or None; what can't be read counts as none."""
    value = store.result(RESULT, image)
    try:
        return None if value is None else Report.from_json(value)
    except (ValueError, TypeError, KeyError):
        return None
