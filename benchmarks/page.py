"""Putting the tables into the page that explains them, between two of its headings."""

from pathlib import Path

from benchmarks.report import Report

BEGIN = "## The tables\n"
"""Above the tables."""
END = "## Where the difference comes from\n"
"""Below them."""


def write_page(page: Path, report: Report) -> None:
    """Replace what stands between the headings. Raises ValueError when the page lacks them."""
    page.write_text(with_tables(page.read_text(), report.tables()))


def with_tables(text: str, tables: str) -> str:
    """The page's text with these tables. Raises ValueError."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"expected a page with the headings {BEGIN.strip()!r} and {END.strip()!r}")
    return f"{before}{begin}\n{tables}\n{end}{after}"
