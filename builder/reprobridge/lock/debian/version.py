"""Order of Debian versions (deb-version(7)): epoch, upstream version, revision.

Digits compare as numbers, `~` sorts before everything and even before the end, letters before the rest.
Agrees with `dpkg --compare-versions` (tests/unit/lock/debian/test_version.py compares random pairs).
"""

import functools
import itertools
import re
from collections.abc import Callable, Mapping

_Piece = tuple[tuple[int, ...], int]

_PIECES = re.compile(r"([^0-9]*)([0-9]*)")
_END: _Piece = ((0,), 0)
"""What a part goes on with after its end: no text, number 0. So `1` equals `1-0` and follows `1~`."""


def compare_versions(left: str, right: str) -> int:
    """-1, 0 or 1 as left is earlier than, equal to or later than right. Raises ValueError for a bad epoch."""
    if left == right:
        return 0
    for a, b in zip(_parts(left), _parts(right), strict=True):
        for x, y in itertools.zip_longest(a, b, fillvalue=_END):
            if x != y:
                return 1 if x > y else -1
    return 0


_OPERATORS: Mapping[str, Callable[[int], bool]] = {
    "<<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    "=": lambda order: order == 0,
    ">=": lambda order: order >= 0,
    ">>": lambda order: order > 0,
}


def version_fits(version: str, operator: str, bound: str) -> bool:
    """Whether `version OPERATOR bound` holds, with the operators of package relations."""
    return _OPERATORS[operator](compare_versions(version, bound))


@functools.lru_cache(maxsize=1 << 14)
def _parts(version: str) -> tuple[list[_Piece], list[_Piece], list[_Piece]]:
    epoch, colon, rest = version.partition(":")
    if not colon:
        epoch, rest = "0", version
    upstream, dash, revision = rest.rpartition("-")
    if not dash:
        upstream, revision = rest, ""
    return [((), int(epoch))], _pieces(upstream), _pieces(revision)


def _pieces(part: str) -> list[_Piece]:
    """Text and number by turns; each text is closed by 0, which sorts after `~` and before all else."""
    return [((*map(_order, text), 0), int(number or 0)) for text, number in _PIECES.findall(part)]


def _order(char: str) -> int:
    if char == "~":
        return -1
    return ord(char) if char.isalpha() else ord(char) + 256
