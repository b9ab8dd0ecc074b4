"""`reprobridge validate`: check an image in a clean shell.

Each check is told once: by the table at the end, or with --json, which people do not read, by a line on standard error
as soon as it has ended. While checks go on a terminal shows a bar, which vanishes.
"""

import argparse
import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from reprobridge.cli.doors import Doors

if TYPE_CHECKING:
    from reprobridge.validate.model import CheckResult

NAME = "validate"
SUMMARY = "check an image in a clean shell: its bytes, launcher, tasks and guide"

FAILED = 1
"""Exit status when a check failed or was not run (guides/reference/exit-codes.md)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument(
        "image", nargs="?", default=".", metavar="DIR|oci:PATH|IMAGE", help="what to check (default: here)"
    )
    parser.add_argument(
        "--sandbox", metavar="KIND", help="bubblewrap, podman or docker (default: the first that works)"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Make every check, keep the report, print it."""
    from reprobridge.cli.images import open_image
    from reprobridge.sandbox.choose import choose, every_sandbox
    from reprobridge.validate.kept import keep_report
    from reprobridge.validate.subject import open_unproven
    from reprobridge.validate.validation import validate

    image = open_image(arguments.image, doors)
    with doors.store.working():
        sandboxes = every_sandbox(doors.store, doors.processes, as_root=os.geteuid() == 0)
        sandbox = choose(sandboxes, arguments.sandbox)
        subject = open_unproven(image, doors.store)
        with _told(doors, by_lines=arguments.json) as tell:
            report = validate(subject, sandbox, tell)
        keep_report(doors.store, report)
    if arguments.json:
        import json

        print(json.dumps(report.to_json(), indent=1), file=doors.out)
    else:
        from reprobridge.validate.table import print_table

        print_table(report, doors.out)
    return 0 if report.passed else FAILED


@contextlib.contextmanager
def _told(doors: Doors, *, by_lines: bool) -> "Iterator[Callable[[CheckResult], None]]":
    """What hears of each check as soon as it has ended, and tells it."""
    from reprobridge.cli.progress import build_progress
    from reprobridge.validate.model import CheckId

    if by_lines:
        yield lambda result: doors.log(f"{result.finding.verdict.value:8} {result.check.value}")
        return
    with build_progress(doors) as progress:
        progress.begin("checking", len(CheckId))
        yield lambda result: progress.step(result.check.value)
