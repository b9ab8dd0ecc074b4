"""Debian's control format (deb822): paragraphs of fields, and relations between packages.

Only what a lock needs: fields by name, continuation lines kept, no comments (Policy §5.1, §7.1).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from reprobridge.lock.debian.version import version_fits

Paragraph = dict[str, str]
"""Field name as written -> value; lines of a folded field are joined by newlines."""

_RELATION = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9+.-]*)(?::[a-z0-9-]+)?\s*(?:\(\s*(?P<operator><<|<=|=|>=|>>)\s*(?P<version>[^\s)]+)\s*\))?"
)


def parse_paragraph(text: str) -> Paragraph:
    """The fields of one paragraph. Raises ValueError for a line that is no field."""
    fields: Paragraph = {}
    name = ""
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] in " \t":
            if not name:
                raise ValueError(f"a continuation before any field: {line!r}")
            fields[name] += "\n" + line.rstrip()
            continue
        name, colon, value = line.partition(":")
        if not colon:
            raise ValueError(f"expected 'Field: value', found {line!r}")
        fields[name] = value.strip()
    return fields


def split_paragraphs(text: str) -> Iterator[str]:
    """The paragraphs of a file as texts, without blank lines between them."""
    return (part for part in re.split(r"\n(?:[ \t]*\n)+", text.strip("\n")) if part.strip())


class Relation(NamedTuple):
    """A package, perhaps with a bound on its version; architecture qualifiers are ignored (one architecture)."""

    name: str
    """Package or virtual package."""
    operator: str | None = None
    """`<<`, `<=`, `=`, `>=` or `>>`."""
    version: str | None = None
    """Bound."""

    def accepts(self, version: str | None) -> bool:
        """Whether this version will do; None: a virtual package without a version."""
        if self.operator is None or self.version is None:
            return True
        return version is not None and version_fits(version, self.operator, self.version)

    def __str__(self) -> str:
        return f"{self.name} ({self.operator} {self.version})" if self.operator else self.name


def parse_relations(value: str) -> list[tuple[Relation, ...]]:
    """`a (>= 1) | b, c` as clauses of alternatives. Raises ValueError."""
    return [
        tuple(_relation(part.strip()) for part in clause.split("|"))
        for clause in value.replace("\n", " ").split(",")
        if clause.strip()
    ]


def _relation(text: str) -> Relation:
    match = _RELATION.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a package relation such as 'libc6 (>= 2.36)', found {text!r}")
    return Relation(match["name"], match["operator"], match["version"])
