"""Putting the tables into the page that explains them, between two of its headings."""

from pathlib import Path

BEGIN = "## The tables\n"
"""Above the tables."""
END = "## Where the difference comes from\n"
"""Below them."""


def write_page(page: Path, tables: str, headings: tuple[str, str] = (BEGIN, END)) -> None:
    """Replace what stands between two headings. Raises ValueError when the page lacks them."""
    page.write_text(with_tables(page.read_text(), tables, headings))


def with_tables(text: str, tables: str, headings: tuple[str, str] = (BEGIN, END)) -> str:
    """The page's text with these tables. Raises ValueError."""
    before, begin, rest = text.partition(headings[0])
    _, end, after = rest.partition(headings[1])
    if not begin or not end:
        raise ValueError(
            f"expected a page with the headings {' and '.join(repr(h.strip()) for h in headings)}"
        )
    return f"{before}{begin}\n{tables}\n{end}{after}"
