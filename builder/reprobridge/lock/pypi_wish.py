"""What a spec asks for in Python packages: by name, or as a source that must be built.

What cannot be locked is refused here, before anything is resolved, all of it together.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from reprobridge.digest import Digest, digest_json
from reprobridge.errors import LockError, Problem
from reprobridge.frozen import frozen
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.spec.model import Spec

if TYPE_CHECKING:
    from reprobridge.spec.requirement_lines import Line
    from reprobridge.spec.requirement_source import SourceWish


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
    constraints_file: str = "constraints"
    """What the constraints file is called."""

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
        lines = list(_read(self.requirements, self.file))
        both = (*lines, *_read(self.constraints, self.constraints_file))
        problems = [one for _, one in both if isinstance(one, Problem)]
        if problems:
            listed = "\n".join(str(problem) for problem in problems)
            raise LockError(f"the requirements cannot be locked\n{listed}", where="environment.python")
        read = [(line, one) for line, one in lines if not isinstance(one, Problem)]
        sources = tuple(one for _, one in read if not isinstance(one, str))
        names = {one if isinstance(one, str) else one.name for _, one in read}
        published = "".join(f"{line.text}\n" for line, one in read if isinstance(one, str))
        return Asked(
            names=frozenset(name for name in names if name),
            published=published if sources else self.requirements,
            sources=sources,
        )

    def places(self) -> Mapping[str, tuple[str, ...]]:
        """Where each package is asked for or constrained, by normalised name."""
        found: dict[str, tuple[str, ...]] = {}
        for text, file in ((self.requirements, self.file), (self.constraints, self.constraints_file)):
            for line, one in _read(text, file):
                name = None if isinstance(one, Problem) else one if isinstance(one, str) else one.name
                if name:
                    found[name] = (*found.get(name, ()), _place(file, line))
        return found


def python_request(spec: Spec, target: PythonTarget) -> PythonRequest:
    """What the spec asks for."""
    wish = spec.environment.python

    def text(path: PurePosixPath | None) -> str:
        return "" if path is None else spec.files[path].decode("utf-8-sig")

    return PythonRequest(
        requirements=text(wish.requirements),
        constraints=text(wish.constraints),
        exclude_newer=wish.exclude_newer,
        indexes=wish.indexes,
        target=target,
        file=str(wish.requirements or "requirements"),
        constraints_file=str(wish.constraints or "constraints"),
    )


def python_wish(spec: Spec, target: PythonTarget) -> Digest:
    """Digest of what the spec asks for: whether a lock still answers it."""
    return python_request(spec, target).digest()


def _read(text: str, file: str) -> "Iterator[tuple[Line, str | SourceWish | Problem]]":
    """Each line of a file, with what it asks for."""
    from reprobridge.spec.requirement_lines import read_requirement, requirement_lines

    for line in requirement_lines(text):
        yield line, read_requirement(_place(file, line), line.text)


def _place(file: str, line: "Line") -> str:
    return f"{file}, line {line.first}"
