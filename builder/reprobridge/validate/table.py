"""The report as a table for people, and the table of all checks for the guide; rich is imported only here."""

from collections.abc import Iterable, Sequence
from typing import TextIO

from reprobridge.validate.model import NEEDS, PROMISES, CheckId, CheckResult, Report, Verdict
from reprobridge.wording import counted

_STYLES = {Verdict.PASSED: "green", Verdict.FAILED: "bold red", Verdict.NOT_RUN: "yellow"}


def print_table(report: Report, out: TextIO) -> None:
    """Write the checks with verdict, time and evidence, what the build noted, and what follows from the checks."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, justify in (
        ("check", "left"),
        ("verdict", "left"),
        ("seconds", "right"),
        ("evidence", "left"),
    ):
        table.add_column(title, justify=justify, no_wrap=title != "evidence", overflow="fold")  # type: ignore[arg-type]
    for result in report.results:
        verdict = result.finding.verdict
        table.add_row(
            result.check.value,
            Text(verdict.value.replace("_", " "), style=_STYLES[verdict]),
            f"{result.milliseconds / 1000:.1f}",
            Text("\n".join(result.finding.evidence)),
        )
    console = Console(file=out, highlight=False, width=None if out.isatty() else 120)
    console.print(table)
    for line in _noted(report):
        console.print(Text(line), soft_wrap=True)
    console.print(Text(summary(report)), soft_wrap=True)


def _noted(report: Report) -> Iterable[str]:
    """What `build` noted, a line each; or that nobody knows."""
    if report.notes is None:
        return ("what `build` noted is not known: the image was built elsewhere",)
    return (f"note: {note}" for note in report.notes)


def summary(report: Report) -> str:
    """One line on the whole report."""
    count = len(report.results)
    bad = report.with_verdict(Verdict.FAILED)
    open_ones = report.with_verdict(Verdict.NOT_RUN)
    parts = [f"{len(report.with_verdict(Verdict.PASSED))} of {counted(count, 'check')} passed"]
    parts += [f"failed: {_names(bad)}"] if bad else []
    parts += [f"not run: {_names(open_ones)}"] if open_ones else []
    return f"{report.image} in {report.sandbox}: {'; '.join(parts)}"


def _names(results: Sequence[CheckResult]) -> str:
    return ", ".join(result.check.value for result in results)


def checks_table() -> str:
    """The checks of this version as a Markdown table: a part of guides/reference/validation-report.md."""
    rows = ["| check | what a passed check means | not run after a fault of |", "|---|---|---|"]
    for check in CheckId:
        needed = ", ".join(f"`{needed.value}`" for needed in NEEDS.get(check, ()))
        rows.append(f"| `{check.value}` | {PROMISES[check]} | {needed} |")
    return "\n".join(rows) + "\n"
