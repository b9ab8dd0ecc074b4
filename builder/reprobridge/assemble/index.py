"""A fragment's or layer's index: each path with its kind, mode and content, in order of the path's bytes.

An index is what we know about bytes without reading them again: conflicts, the image's inventory and the
list of files of a package come from it. Its own bytes are canonical JSON, so an index has a digest.
Directories stand in it only where their mode or owner matters; the others are implied.
"""

import json
from collections.abc import Iterable
from typing import NamedTuple

from reprobridge.digest import canonical_json
from reprobridge.oci.tar import EntryKind, TarEntry


class IndexEntry(NamedTuple):
    """One path."""

    path: str
    """Relative to the root."""
    kind: str
    """A value of `EntryKind`."""
    mode: int
    """Permission bits."""
    size: int
    """Bytes of a file, else 0."""
    content: str
    """SHA-256 (hex) of a file's bytes, or the target of a link."""
    uid: int = 0
    """Owner."""
    gid: int = 0
    """Group."""


def index_entry(entry: TarEntry, content: str) -> IndexEntry:
    """The index's row of a tar entry; `content` is a file's SHA-256 or a link's target."""
    path, kind, mode, size, _, gid, uid = entry
    return IndexEntry(path, str(kind), mode, size, content, uid, gid)


def tar_entry(entry: IndexEntry) -> TarEntry:
    """The tar entry of an index's row."""
    kind = EntryKind(entry.kind)
    link = entry.content if kind in (EntryKind.SYMLINK, EntryKind.HARDLINK) else ""
    return TarEntry(entry.path, kind, entry.mode, entry.size, link, entry.gid, entry.uid)


def in_order(entries: Iterable[IndexEntry]) -> list[IndexEntry]:
    """The entries as an index has them: by the bytes of their paths."""
    return sorted(entries, key=_by_bytes)


def write_index(index: list[IndexEntry]) -> bytes:
    """The bytes of an index that is in order."""
    return canonical_json([list(entry) for entry in index])


def read_index(data: bytes) -> list[IndexEntry]:
    """The index's rows, sorted."""
    return [IndexEntry._make(row) for row in json.loads(data)]


def parents(path: str) -> Iterable[str]:
    """The folders above a path, nearest first, without the root."""
    while (slash := path.rfind("/")) > 0:
        path = path[:slash]
        yield path


def _by_bytes(entry: IndexEntry) -> bytes:
    return entry.path.encode("utf-8", "surrogateescape")
