"""What the layers hold: each layer's tar headers and content digests, read once from its bytes.

A scan is a pure function of a layer's compressed bytes, so it is kept in the store under their digest;
whoever uses it has just compared the bytes with that digest.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from tarfile import TarInfo

from reprobridge.assemble.index import IndexEntry
from reprobridge.digest import Digest, Json
from reprobridge.errors import ArtifactError
from reprobridge.frozen import frozen
from reprobridge.oci.tar import EntryKind
from reprobridge.sandbox.unpack import HashedTar, contents, tar_members
from reprobridge.store.store import Store

RESULT = "layer-scan"
"""Kind of the store's results that hold scans."""


@frozen
class LayerScan:
    """A layer's content without its bytes."""

    diff_id: Digest
    """Of the tar stream, computed from it."""
    entries: tuple[IndexEntry, ...]
    """In the order of the tar; folders included."""


def scan_layer(store: Store, digest: Digest, blob: Path) -> LayerScan:
    """The scan of the layer whose compressed bytes have this digest. Raises ArtifactError for a broken layer."""
    known = _known(store.result(RESULT, digest))
    if known is not None:
        return known
    scan = _scan(blob)
    rows: Json = [list(entry) for entry in scan.entries]
    store.remember(RESULT, digest, {"diff_id": str(scan.diff_id), "entries": rows})
    return scan


def _known(value: object) -> LayerScan | None:
    if not isinstance(value, dict):
        return None
    try:
        entries = tuple(IndexEntry(*row) for row in value["entries"])
        return LayerScan(Digest.parse(value["diff_id"]), entries)
    except (KeyError, TypeError, ValueError):
        return None


def _scan(blob: Path) -> LayerScan:
    with blob.open("rb") as compressed:
        stream = HashedTar(compressed)
        entries = tuple(_entries(stream))
        return LayerScan(stream.finish().digest(), entries)


def _entries(stream: HashedTar) -> Iterator[IndexEntry]:
    seen: dict[str, EntryKind] = {}
    for path, member, archive in tar_members(stream):
        kind = _kind(member)
        content = member.linkname.removeprefix("./" if kind is EntryKind.HARDLINK else "")
        if kind is not EntryKind.DIRECTORY and path in seen:
            raise ArtifactError("a layer holds a path twice", where=path)
        if kind is EntryKind.HARDLINK and seen.get(content) is not EntryKind.FILE:
            raise ArtifactError(
                "a hard link leads nowhere", where=path, expected="an earlier file", found=content
            )
        seen[path] = kind
        if kind is EntryKind.FILE:
            sha256 = hashlib.sha256()
            for block in contents(archive, member):
                sha256.update(block)
            content = sha256.hexdigest()
        size = member.size if kind is EntryKind.FILE else 0
        yield IndexEntry(path, kind.value, member.mode, size, content, member.uid, member.gid)


def _kind(member: TarInfo) -> EntryKind:
    if member.isdir():
        return EntryKind.DIRECTORY
    if member.issym():
        return EntryKind.SYMLINK
    return EntryKind.HARDLINK if member.islnk() else EntryKind.FILE
