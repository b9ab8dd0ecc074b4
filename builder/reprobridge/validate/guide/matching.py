"""Comparing what a command printed with what the guide says.

Expected text is compared character by character, apart from:
- `...` matches any text, also over several lines; on a line of its own it matches any number of whole lines;
- `98.88±0.05` matches a number whose distance from 98.88 is at most 0.05;
- white space at the ends of lines and empty lines at the end of the text don't count.

The comparison keeps every place that the text may have been read up to, so it finds a reading if there is one
and its time grows with the length of the text, not with the number of readings.
"""

import re
from collections.abc import Collection, Iterator
from decimal import Decimal

from reprobridge.frozen import frozen

_NUMBER = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_TOKEN = re.compile(
    rf"(?P<lines>(?<![^\n])\.\.\.(?:\n|\Z))|(?P<any>\.\.\.)|(?P<value>{_NUMBER})±(?P<within>{_NUMBER})"
)
_FOUND_NUMBER = re.compile(rf"(?<![0-9.]){_NUMBER}")


@frozen
class Literal:
    """Exactly this text."""

    text: str
    """Not empty."""


@frozen
class AnyText:
    """Any text, perhaps none."""

    whole_lines: bool
    """Whether it must end where a line begins, or at the end."""


@frozen
class About:
    """A number near another."""

    value: Decimal
    """The middle."""
    within: Decimal
    """Greatest distance."""


Token = Literal | AnyText | About
"""A piece of expected text."""


def matches(expected: str, found: str) -> bool:
    """Whether the printed text is what was expected."""
    text = _plain(found)
    places: Collection[int] = {0}
    for token in tokens(_plain(expected)):
        places = _after(token, text, places)
        if not places:
            return False
    return len(text) in places


def tokens(expected: str) -> Iterator[Token]:
    """The pieces of an expected text, in order."""
    end = 0
    for found in _TOKEN.finditer(expected):
        if found.start() > end:
            yield Literal(expected[end : found.start()])
        if found["value"]:
            yield About(Decimal(found["value"]), abs(Decimal(found["within"])))
        else:
            yield AnyText(found["lines"] is not None)
        end = found.end()
    if end < len(expected):
        yield Literal(expected[end:])


def _plain(text: str) -> str:
    """Without white space at the ends of lines; each line ends with a newline, and none is empty at the end."""
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return "".join(f"{line}\n" for line in lines)


def _after(token: Token, text: str, places: Collection[int]) -> Collection[int]:
    """Where the text may have been read up to after this piece, from any of these places."""
    match token:
        case Literal(literal):
            return {place + len(literal) for place in _occurrences(literal, text, places)}
        case AnyText(whole_lines):
            # A range, not a set: it may span megabytes of output.
            rest = range(min(places), len(text) + 1)
            return set(_line_starts(text, rest)) if whole_lines else rest
        case About(value, within):
            read = (found for found in _FOUND_NUMBER.finditer(text) if found.start() in places)
            return {found.end() for found in read if abs(Decimal(found[0]) - value) <= within}


def _occurrences(literal: str, text: str, places: Collection[int]) -> Iterator[int]:
    if not isinstance(places, range):
        yield from (place for place in places if text.startswith(literal, place))
        return
    place = text.find(literal, places.start)
    while place >= 0:
        yield place
        place = text.find(literal, place + 1)


def _line_starts(text: str, within: range) -> Iterator[int]:
    if within.start == 0 or text[within.start - 1] == "\n":
        yield within.start
    newline = text.find("\n", within.start)
    while newline >= 0:
        yield newline + 1
        newline = text.find("\n", newline + 1)
