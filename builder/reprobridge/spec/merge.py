"""What an unfinished merge leaves in a text file: both sides, between lines that version control put in."""

import re

UNMERGED = "one text"
"""What is expected in the place of both sides."""
RESOLVE = "keep what is right of the two sides, and take the lines with <<<<<<<, ======= and >>>>>>> out"
"""What to do about it."""
_MARK = rb"(?m)^(?:<{7}|\|{7}|>{7})(?: |\r?$)"  # a text: compiled where a file may have one


def merge_mark(data: bytes) -> int | None:
    """The first line that is a mark of a merge, from 1; None: there is none.

    The mark between the sides is not looked for: it underlines headings in Markdown.
    """
    if b"<<<<<<<" not in data and b">>>>>>>" not in data:
        return None
    mark = re.search(_MARK, data)
    return data.count(b"\n", 0, mark.start()) + 1 if mark else None


def both_sides(place: str) -> str:
    """What was found, for a message; the mark stands at this place, for example `line 7`."""
    return f"both sides of a merge, marked in {place}"
