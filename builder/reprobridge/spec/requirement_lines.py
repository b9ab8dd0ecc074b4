"""The lines of a requirements file, each read far enough to know what it asks for, or that it can't be locked."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from reprobridge.errors import Problem
from reprobridge.frozen import frozen
from reprobridge.spec.letters import with_odd_character
from reprobridge.spec.nodes import shown
from reprobridge.spec.package_name import normalized

if TYPE_CHECKING:
    from reprobridge.spec.requirement_source import SourceWish


@frozen
class Line:
    """A requirement as it stands in its file: comments and continued lines are resolved as pip does."""

    first: int
    """Number of its first line, from 1."""
    last: int
    """Number of the line that ends it."""
    text: str
    """What it asks for; never empty."""


def requirement_lines(text: str) -> Iterator[Line]:
    """Each requirement of a file."""
    joined, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        first = first or number
        if line.endswith("\\"):
            joined += line[:-1]
            continue
        requirement = re.sub(r"(^|\s)#.*$", "", joined + line).strip()
        if requirement:
            yield Line(first, number, requirement)
        joined, first = "", 0


def read_requirement(place: str, text: str) -> "str | SourceWish | Problem":
    """The normalised name of a release or wheel, a source whose wheel has to be built, or why it is neither."""
    from packaging.requirements import Requirement

    try:
        requirement = Requirement(text)
        urlsplit(requirement.url or "")
    except (ValueError, RecursionError):  # also of numbers, addresses and markers that are none
        from reprobridge.spec.requirement_source import unnamed_source

        hint = with_odd_character("see PEP 508; options have keys of their own", text)
        expected = "NAME[EXTRAS] VERSIONS, NAME @ URL, or ./FOLDER"
        return unnamed_source(place, text) or Problem(place, expected, shown(text), hint)
    name = normalized(requirement.name)
    if requirement.url is None:
        return name
    from reprobridge.spec.requirement_source import named_source

    return named_source(place, requirement) or name
