"""What the layers hold: each layer's tar headers and content digests, read once from its bytes.

A scan is a pure function of a layer's compressed bytes, so it is kept in the store under their digest: only
when the bytes that were read have it, since nobody looks at them again.
"""

import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from tarfile import TarInfo
from typing import Any, BinaryIO, cast

from reprobridge.assemble.index import IndexEntry
from reprobridge.digest import CHUNK, Digest, Hasher, Json
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
    """The scan of the layer whose compressed bytes have this digest. Raises ArtifactError for a broken layer or another."""
    known = _known(store.result(RESULT, digest))
    if known is not None:
        return known
    try:
        scan = _scan(digest, blob)
    except ArtifactError as error:
        where = f"layer {digest}" + (f", {error.where}" if error.where else "")
        raise ArtifactError(
            error.message, where=where, expected=error.expected, found=error.found, hint=error.hint
        ) from error
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


class _Passing(io.RawIOBase):
    """A layer's compressed bytes, hashed while they are read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._hasher = Hasher()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size: int = self._stream.readinto(buffer)  # type: ignore[attr-defined]  # files have it
        self._hasher.write(memoryview(buffer)[:size].tobytes())
        return size

    def finish(self) -> Digest:
        """Read to the end; the digest of all."""
        while self.read(CHUNK):
            pass
        return self._hasher.digest()


def _scan(digest: Digest, blob: Path) -> LayerScan:
    with blob.open("rb") as file:
        compressed = _Passing(file)
        stream = HashedTar(cast(BinaryIO, compressed))
        entries = tuple(_entries(stream))
        scan = LayerScan(stream.finish().digest(), entries)
        found = compressed.finish()
    if found != digest:
        raise ArtifactError(
            "a layer is not the one that the image names",
            where=str(blob),
            expected=str(digest),
            found=str(found),
        )
    return scan


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
