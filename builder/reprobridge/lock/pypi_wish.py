"""What a spec asks for in Python packages, read far enough to know what is asked for by name.

Only wheels can be locked: requirements that are repositories, folders or sdists are refused here, before
anything is resolved, all of them together.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reprobridge.digest import Digest, digest_json
from reprobridge.errors import LockError, Problem
from reprobridge.frozen import frozen
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.spec.model import Spec

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_WHEELS_ONLY = "this release takes wheels only: name a published wheel, or make the code part of `source`"


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

    def requested(self) -> frozenset[str]:
        """Normalised names that the requirements ask for. Raises LockError for what can't become a wheel."""
        from packaging.utils import canonicalize_name

        problems: list[Problem] = []
        names = {
            canonicalize_name(requirement.name)
            for place, line in _lines(self.requirements)
            if (requirement := _parse(place, line, problems)) is not None
        }
        if problems:
            listed = "\n".join(str(problem) for problem in problems)
            raise LockError(f"the requirements cannot be locked\n{listed}", where="environment.python")
        return frozenset(names)


def python_request(spec: Spec, target: PythonTarget) -> PythonRequest:
    """What the spec asks for."""
    wish = spec.environment.python

    def text(kind: str) -> str:
        path = wish.requirements if kind == "requirements" else wish.constraints
        return "" if path is None else spec.files[path].decode()

    return PythonRequest(
        requirements=text("requirements"),
        constraints=text("constraints"),
        exclude_newer=wish.exclude_newer,
        indexes=wish.indexes,
        target=target,
    )


def python_wish(spec: Spec, target: PythonTarget) -> Digest:
    """Digest of what the spec asks for: whether a lock still answers it."""
    return python_request(spec, target).digest()


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Each requirement with its place; comments and continued lines are resolved as pip does."""
    joined, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        first = first or number
        if line.endswith("\\"):
            joined += line[:-1]
            continue
        requirement = re.sub(r"(^|\s+)#.*$", "", joined + line).strip()
        if requirement:
            yield f"requirements, line {first}", requirement
        joined, first = "", 0


def _parse(place: str, line: str, problems: list[Problem]) -> "Requirement | None":
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(line)
    except InvalidRequirement:
        hint = (
            _WHEELS_ONLY
            if re.match(r"[./]|\w+\+?\w*:", line)
            else "see PEP 508; options have keys of their own"
        )
        problems.append(Problem(place, "NAME[EXTRAS] VERSIONS or NAME @ URL", repr(line), hint))
        return None
    if requirement.url is not None and (found := _unfit(requirement.url)):
        problems.append(Problem(place, f"the address of a wheel for {requirement.name}", found, _WHEELS_ONLY))
    return requirement


def _unfit(url: str) -> str | None:
    """What is wrong with a direct reference, or None."""
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if "+" in parts.scheme or parts.path.endswith(".git"):
        return f"a repository ({url})"
    if parts.scheme not in ("http", "https"):
        return f"a path of this machine ({url})"
    if parts.username or parts.password:
        return "an address with a password in it"
    return None if parts.path.endswith(".whl") else f"something else ({url})"
