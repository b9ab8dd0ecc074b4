"""Tests and patterns of a script, as far as texts tell their result (test(1), dpkg(1))."""

import fnmatch
from collections.abc import Callable, Container, Mapping, Sequence

from reprobridge.shell.state import UNKNOWN, Budget

EARLIER = frozenset(("lt", "le", "ne", "<", "<<", "<=", "gt-nl", "ge-nl"))
"""How dpkg compares no version with any: earlier, except that `-nl` takes none for later."""
Status = bool | None
"""Whether a command succeeds; None when only a machine knows."""

_NUMBERS: Mapping[str, Callable[[int, int], bool]] = {
    "-eq": int.__eq__,
    "-ne": int.__ne__,
    "-gt": int.__gt__,
    "-ge": int.__ge__,
    "-lt": int.__lt__,
    "-le": int.__le__,
}
_MOST_DIGITS = 9


def negated(status: Status) -> Status:
    """What `!` makes of it."""
    return None if status is None else not status


def tested(words: Sequence[str], files: Container[str]) -> Status:
    """test(1), as far as it compares texts and numbers or asks for files that are known."""
    if UNKNOWN in "".join(words):
        return None
    match words:
        case [left, ("=" | "=="), right]:
            return left == right
        case [left, "!=", right]:
            return left != right
        case [left, operator, right] if operator in _NUMBERS:
            return _compared(left, operator, right)
        case ["!", *rest]:
            return negated(tested(rest, files))
        case ["-n", text] | [text]:
            return text != ""
        case ["-z", text]:
            return text == ""
        case [("-e" | "-f"), path]:
            return True if path in files else None
        case _:
            return None


def matched(text: str, pattern: str, budget: Budget) -> Status:
    """Whether a pattern of `case` matches; shells disagree on `[^…]` and locales on `[[:…:]]`."""
    if pattern == "*":
        return True
    budget.spend(len(pattern) + len(text) * (1 + pattern.count("*")))
    if UNKNOWN in text + pattern or "[^" in pattern or "[[:" in pattern:
        return None
    return fnmatch.fnmatchcase(text, pattern)


def _compared(left: str, operator: str, right: str) -> Status:
    if not all(text.isdecimal() and text.isascii() and len(text) <= _MOST_DIGITS for text in (left, right)):
        return None
    return _NUMBERS[operator](int(left), int(right))
