"""Which fragments may have a path in common: found without reading the indexes of all the others.

A fragment's claims are its paths, cut short below `DEPTH` parts, so that a package of ten thousand files has a
few hundred. Two fragments that share no claim, and of which none claims a folder of the other, share no path.
Case does not count in claims, so that paths which differ in nothing else are found as well.
Measured with a set of 16,000 files in the environment: 10 ms instead of 90.
"""

from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Protocol, TypeVar

from reprobridge.assemble.index import IndexEntry, parents
from reprobridge.digest import Json
from reprobridge.frozen import frozen
from reprobridge.oci.tar import EntryKind

DEPTH = 7
"""Parts of a claim at most: `opt/env/lib/python3.11/site-packages/PACKAGE/PART`."""
_RULES = 2
"""Grows when the same index has other claims."""
_FOLDER = EntryKind.DIRECTORY.value

K = TypeVar("K", bound=Hashable)


class Claiming(Protocol):
    """Whoever has claims: a fragment by their paths, or a whole layer by their numbers (`summary.py`)."""

    @property
    def paths(self) -> AbstractSet[Hashable]:
        """What it claims."""

    @property
    def folders(self) -> AbstractSet[Hashable]:
        """The folders above them, and those that are its own."""


@frozen
class Claims:
    """What a fragment claims."""

    paths: frozenset[str]
    """Its paths, cut, without case."""
    folders: frozenset[str]
    """The folders above them, and those that are its own."""

    def to_json(self) -> dict[str, Json]:
        """For the store."""
        return {"paths": sorted(self.paths), "folders": sorted(self.folders), "rules": _RULES}

    @classmethod
    def from_json(cls, value: object) -> "Claims | None":
        """From the store; None for anything else."""
        match value:
            case {"paths": [*paths], "folders": [*folders], "rules": rules} if rules == _RULES:
                return cls(frozenset(paths), frozenset(folders))
        return None


def claims_of(entries: Iterable[IndexEntry]) -> Claims:
    """The claims of a fragment with this index."""
    paths, own = set(), set()
    for row in entries:
        path = row.path.casefold()
        if row.kind == _FOLDER:
            own.add(path)
        else:
            paths.add(_cut(path))
    folders = own.union(*(parents(path) for path in paths | own))
    return Claims(frozenset(paths), frozenset(folders))


def claim(path: str) -> str:
    """What a fragment claims that has this file."""
    return _cut(path.casefold())


def _cut(path: str) -> str:
    return "/".join(path.split("/", DEPTH)[:DEPTH])


def suspects(claimed: Mapping[K, Claiming]) -> list[K]:
    """Those that may share a path with another, in the mapping's order."""
    seen: set[Hashable] = set()
    shared: set[Hashable] = set()
    folders: set[Hashable] = set()
    for claims in claimed.values():
        shared |= seen & claims.paths
        seen |= claims.paths
        folders |= claims.folders
    shared |= seen & folders
    return [
        key
        for key, claims in claimed.items()
        if not (shared.isdisjoint(claims.paths) and shared.isdisjoint(claims.folders))
    ]
