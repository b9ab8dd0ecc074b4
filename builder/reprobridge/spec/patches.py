"""Whether a file is a unified diff with at least one whole hunk, or git's form of a change without lines.

That it applies, and that each hunk belongs to one change, is found when locking: here is no source tree.
Patches are bytes, since old code has other encodings than UTF-8.
"""

import re

from reprobridge.spec.nodes import Node
from reprobridge.spec.reading import Reading

# Texts, not compiled patterns: most artifacts have no patch, and making the two takes 0.6 ms.
_HUNK = rb"@@ -\d{1,9}(?:,(\d{1,9}))? \+\d{1,9}(?:,(\d{1,9}))? @@"
_WITHOUT_LINES = (
    rb"(?m)^(GIT binary patch|rename from |copy from |old mode |new file mode |deleted file mode )"
)
"""What git writes for binary files, renames, modes and empty files: changes that no hunk shows."""


def check_patch(node: Node, data: bytes, reading: Reading) -> None:
    """Report what keeps a file from being a unified diff."""
    lines = data.removesuffix(b"\n").split(b"\n")
    in_file, hunks, number = False, 0, 0
    while number < len(lines):
        if _starts_file(lines, number):
            in_file, number = True, number + 2
        elif in_file and (match := re.match(_HUNK, lines[number])):
            end = _end_of_hunk(lines, number + 1, int(match[1] or 1), int(match[2] or 1))
            if end is None:
                found = f"a hunk in line {number + 1} with other lines than it announces"
                reading.report(node, "a unified diff", found, _how(data))
                return
            hunks, number = hunks + 1, end
        else:
            number += 1
    if not hunks and not re.search(_WITHOUT_LINES, data):
        reading.report(node, "a unified diff", "no hunk (@@ …) below --- and +++ lines", _how(data))


def _starts_file(lines: list[bytes], number: int) -> bool:
    following = lines[number + 1] if number + 1 < len(lines) else b""
    return lines[number].startswith(b"--- ") and following.startswith(b"+++ ")


def _end_of_hunk(lines: list[bytes], start: int, old: int, new: int) -> int | None:
    """Number of the line after a hunk with so many old and new lines; None where the lines don't fit."""
    number = start
    while old or new:
        sign = lines[number][:1] if number < len(lines) else b"end"
        if sign not in (b"", b" ", b"-", b"+", b"\\"):
            return None
        old -= sign in (b"", b" ", b"-")  # an empty line is a context line whose blank an editor removed
        new -= sign in (b"", b" ", b"+")
        if old < 0 or new < 0:
            return None
        number += 1
    return number


def _how(data: bytes) -> str:
    if b"\nBinary files " in data:
        return "make it anew with `git diff --binary`"
    return "make it anew with `git diff` or `diff -u`"
