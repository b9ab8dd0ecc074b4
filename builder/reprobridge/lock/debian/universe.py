"""All packages that a resolver may choose from: several suites' indexes as one.

Indexes are large (bookworm: 63,000 paragraphs), so paragraphs stay text until a package is asked for.
"""

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

from reprobridge.digest import Digest
from reprobridge.errors import LockError
from reprobridge.frozen import frozen
from reprobridge.lock.debian.control import (
    Paragraph,
    Relation,
    parse_paragraph,
    parse_relations,
    split_paragraphs,
)
from reprobridge.lock.debian.index import SuiteIndex
from reprobridge.lock.debian.version import compare_versions
from reprobridge.lock.model import LockedDeb


@frozen
class Package:
    """One version of a package in an archive."""

    fields: Paragraph
    """Its paragraph."""
    archive: str
    """Whose pool has it."""

    @property
    def name(self) -> str:
        """Field Package."""
        return self.fields["Package"]

    @property
    def version(self) -> str:
        """Field Version."""
        return self.fields["Version"]

    def relations(self, *names: str) -> list[tuple[Relation, ...]]:
        """The clauses of these fields, in their order."""
        return [clause for name in names for clause in parse_relations(self.fields.get(name, ""))]

    def locked(self) -> LockedDeb:
        """The package as it stands in a lock. Raises LockError when its paragraph lacks something."""
        try:
            return LockedDeb(
                name=self.name,
                version=self.version,
                architecture=self.fields["Architecture"],
                archive=self.archive,
                pool=self.fields["Filename"].removeprefix("./"),
                sha256=Digest(self.fields["SHA256"]),
                size=int(self.fields["Size"]),
            )
        except (KeyError, ValueError) as error:
            raise LockError(
                "an index's paragraph is incomplete", where=self.name, found=f"{error!r}"
            ) from error


class Provider(NamedTuple):
    """A package that stands for a virtual one."""

    package: Package
    """The real one."""
    version: str | None
    """Version of the virtual package, where it gives one."""


class Universe:
    """The packages of all suites."""

    def __init__(self, suites: Sequence[SuiteIndex]) -> None:
        self._texts: dict[str, list[tuple[str, str]]] = {}
        self._all: list[tuple[str, str]] = []
        for suite in suites:
            for text in suite.texts:
                self._add(text, suite.locked.archive)

    def _add(self, text: str, archive: str) -> None:
        for paragraph in split_paragraphs(text):
            if match := _PACKAGE.search(paragraph):
                self._texts.setdefault(match[1], []).append((paragraph, archive))
                self._all.append((paragraph, archive))

    @functools.cache  # noqa: B019 - a universe lives as long as one lock is made
    def versions(self, name: str) -> tuple[Package, ...]:
        """All versions of a package, latest first; empty when there is none."""
        found = [Package(parse_paragraph(text), archive) for text, archive in self._texts.get(name, ())]
        return tuple(sorted(found, key=functools.cmp_to_key(_later_first)))

    def providers(self, name: str) -> list[Provider]:
        """The latest versions of packages that provide a virtual package, best first: by priority, then name."""
        packages = [self.versions(real)[0] for real in self._providing.get(name, ())]
        found = [
            Provider(package, clause[0].version)
            for package in packages
            for clause in package.relations("Provides")
            if clause[0].name == name
        ]
        return sorted(found, key=lambda provider: (_priority(provider.package), provider.package.name))

    @functools.cached_property
    def _providing(self) -> dict[str, list[str]]:
        """Virtual package -> names of packages of which some version provides it."""
        found: dict[str, dict[str, None]] = {}
        for paragraph, _ in self._all:
            if match := _PROVIDES.search(paragraph):
                name = _PACKAGE.search(paragraph)
                for clause in parse_relations(match[1]):
                    found.setdefault(clause[0].name, {})[name[1] if name else ""] = None
        return {virtual: list(names) for virtual, names in found.items()}

    def essential(self) -> list[str]:
        """Names of the packages that every system has, sorted."""
        return sorted(
            {
                match[1]
                for paragraph, _ in self._all
                if "\nEssential: yes" in paragraph and (match := _PACKAGE.search(paragraph))
            }
        )

    def near(self, name: str) -> str | None:
        """A package whose name is much like this one, for a hint."""
        import difflib

        same_start = [known for known in self._texts if known[:1] == name[:1]]
        return next(iter(difflib.get_close_matches(name, same_start, n=1, cutoff=_NEAR)), None)


_NEAR = 0.8
"""How much of two names is the same where one may be meant for the other; by less, anything is like anything."""
_PACKAGE = re.compile(r"^Package: *(\S+)", re.MULTILINE)
_PROVIDES = re.compile(r"^Provides: *(.+(?:\n[ \t].*)*)", re.MULTILINE)
_PRIORITIES = ("required", "important", "standard", "optional", "extra")


def _later_first(left: Package, right: Package) -> int:
    return compare_versions(right.version, left.version)


def _priority(package: Package) -> int:
    value = package.fields.get("Priority", "optional")
    return _PRIORITIES.index(value) if value in _PRIORITIES else len(_PRIORITIES)
