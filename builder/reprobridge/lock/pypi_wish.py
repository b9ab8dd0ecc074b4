"""What a spec asks for in Python packages, read far enough to know what is asked for by name and what must be built.

What cannot be locked is refused here, before anything is resolved, all of it together.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from reprobridge.digest import Digest, digest_json
from reprobridge.errors import LockError, Problem
from reprobridge.frozen import frozen
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.spec.model import Spec
from reprobridge.spec.nodes import shown

if TYPE_CHECKING:
    from reprobridge.lock.sdist.wish import SourceWish


@frozen
class Asked:
    """Requirements, read."""

    names: frozenset[str]
    """Normalised names of those that have one."""
    published: str
    """Text of a requirements file with those that name a release or a wheel."""
    sources: "tuple[SourceWish, ...]"
    """Those whose wheels have to be built, in the author's order."""


@frozen(kw_only=True)
class PythonRequest:
    """Everything that decides which packages are chosen."""

    requirements: str
    """Text of the requirements file."""
    constraints: str
    """Text of the constraints file."""
    exclude_newer: str | None
    """RFC 3339 date or time: later releases do not exist."""
    indexes: tuple[str, ...]
    """Indexes that the author names, searched first."""
    target: PythonTarget
    """The interpreter."""
    file: str = "requirements"
    """What the requirements file is called, for people."""

    def digest(self) -> Digest:
        """Of all of it."""
        return digest_json(
            {
                "requirements": self.requirements,
                "constraints": self.constraints,
                "exclude_newer": self.exclude_newer,
                "indexes": self.indexes,
                "target": self.target.to_json(),
            }
        )

    def cutoff(self) -> str | None:
        """The moment after which releases do not exist: a bare date includes its day, in UTC everywhere."""
        if self.exclude_newer is None or len(self.exclude_newer) != len("2026-01-01"):
            return self.exclude_newer
        from datetime import date, timedelta

        return f"{date.fromisoformat(self.exclude_newer) + timedelta(days=1)}T00:00:00Z"

    def asked(self) -> Asked:
        """The requirements, read. Raises LockError with all that cannot be locked."""
        problems: list[Problem] = []
        read = [(line, _parse(place, line, problems)) for place, line in _lines(self.requirements, self.file)]
        if problems:
            listed = "\n".join(str(problem) for problem in problems)
            raise LockError(f"the requirements cannot be locked\n{listed}", where="environment.python")
        kept = [(line, one) for line, one in read if one is not None]
        sources = tuple(one for _, one in kept if not isinstance(one, str))
        names = {one if isinstance(one, str) else one.name for _, one in kept}
        published = "".join(f"{line}\n" for line, one in kept if isinstance(one, str))
        return Asked(
            names=frozenset(name for name in names if name),
            published=published if sources else self.requirements,
            sources=sources,
        )


def python_request(spec: Spec, target: PythonTarget) -> PythonRequest:
    """What the spec asks for."""
    wish = spec.environment.python

    def text(kind: str) -> str:
        path = wish.requirements if kind == "requirements" else wish.constraints
        return "" if path is None else spec.files[path].decode("utf-8-sig")

    return PythonRequest(
        requirements=text("requirements"),
        constraints=text("constraints"),
        exclude_newer=wish.exclude_newer,
        indexes=wish.indexes,
        target=target,
        file=str(wish.requirements or "requirements"),
    )


def python_wish(spec: Spec, target: PythonTarget) -> Digest:
    """Digest of what the spec asks for: whether a lock still answers it."""
    return python_request(spec, target).digest()


def _lines(text: str, file: str) -> Iterator[tuple[str, str]]:
    """Each requirement with its place; comments and continued lines are resolved as pip does."""
    joined, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        first = first or number
        if line.endswith("\\"):
            joined += line[:-1]
            continue
        requirement = re.sub(r"(^|\s)#.*$", "", joined + line).strip()
        if requirement:
            yield f"{file}, line {first}", requirement
        joined, first = "", 0


def _parse(place: str, line: str, problems: list[Problem]) -> "str | SourceWish | None":
    """The normalised name of a release or wheel, or a source; None for a problem."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    found: SourceWish | Problem | None
    try:
        requirement = Requirement(line)
        urlsplit(requirement.url or "")
    except (ValueError, RecursionError):  # also of numbers, addresses and markers that are none
        from reprobridge.lock.sdist.wish import unnamed_source

        hint = "see PEP 508; options have keys of their own"
        expected = "NAME[EXTRAS] VERSIONS, NAME @ URL, or ./FOLDER"
        found = unnamed_source(place, line) or Problem(place, expected, shown(line), hint)
    else:
        if requirement.url is None:
            return canonicalize_name(requirement.name)
        from reprobridge.lock.sdist.wish import named_source

        found = named_source(place, requirement)
        if found is None:
            return canonicalize_name(requirement.name)
    if isinstance(found, Problem):
        problems.append(found)
        return None
    return found
