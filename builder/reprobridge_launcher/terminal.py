"""Text to the terminal: data on standard output, talk on standard error.

Always UTF-8, whatever the container's locale is, and without Python's own buffering, so that it keeps its order
with what tasks write.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Sequence


def occupy() -> None:
    """Put /dev/null in the place of standard streams that are closed, or the next files opened would be taken for them."""
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        os.set_inheritable(descriptor, True)
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)


def out(text: str) -> None:
    """Write data."""
    _write(1, text)


def talk(text: str) -> None:
    """Write talk."""
    _write(2, text)


def table(rows: "Sequence[tuple[str, ...]]") -> str:
    """Lay out rows in columns two spaces apart."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))] if rows else []
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "".join(line + "\n" for line in lines)


def duration(seconds: "float | None") -> str:
    """Show a time as people say it; `?` where it isn't known."""
    if seconds is None:
        return "?"
    if seconds < 120:
        return "{:g} s".format(seconds)
    return "{:.0f} min".format(seconds / 60) if seconds < 7200 else "{:.1f} h".format(seconds / 3600)


def _write(descriptor: int, text: str) -> None:
    data = text.encode("utf-8", "surrogateescape")
    while data:
        data = data[os.write(descriptor, data) :]
