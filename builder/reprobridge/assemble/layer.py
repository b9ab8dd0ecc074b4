"""Making layers: fragments in a row, closed by the archive's end, hashed while they are written.

A layer of one fragment is written straight away. A layer of several is made of the stored fragments:
their compressed bytes are copied, and inflated once more for the diff_id unless they are at hand, never
compressed again.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import BinaryIO, cast

from reprobridge.assemble.fragment import LayerSink
from reprobridge.assemble.index import IndexEntry, parents, tar_entry
from reprobridge.assemble.model import Layer
from reprobridge.digest import CHUNK, Digest, Hasher
from reprobridge.frozen import frozen
from reprobridge.oci import members
from reprobridge.oci.tar import END, EntryKind, TarEntry, directory, header
from reprobridge.store.store import BlobWriter, Store


class LayerBlob(LayerSink):
    """A sink that makes a whole layer."""

    def __init__(self, blob: BlobWriter) -> None:
        self._blob = blob
        self._tar = Hasher()

    def tar(self, data: bytes) -> None:
        """The next uncompressed bytes."""
        self._tar.write(data)

    def gzip(self, data: bytes) -> None:
        """The next compressed bytes."""
        self._blob.write(data)

    def finish(self) -> Layer:
        """Close the archive and keep the layer."""
        self.plain(END, members.THOROUGH)
        return Layer(
            size=self._blob.size,
            blob=self._blob.commit(),
            diff_id=self._tar.digest(),
            tar_size=self._tar.size,
        )


class FragmentBlob(LayerSink):
    """A sink that keeps the compressed bytes, for layers to come, and the others where they are few."""

    def __init__(self, blob: BlobWriter, room: int) -> None:
        """`room`: most uncompressed bytes that are held."""
        self._blob = blob
        self._room = room
        self._held: list[bytes] = []

    @property
    def inflated(self) -> bytes | None:
        """The uncompressed bytes; None when there were more than `room`."""
        return None if self._room < 0 else b"".join(self._held)

    def tar(self, data: bytes) -> None:
        """Hold them, for the layer's diff_id; a fragment has no digest of its own over the tar stream."""
        self._room -= len(data)
        if self._room >= 0:
            self._held.append(bytes(data))
        else:
            self._held.clear()

    def gzip(self, data: bytes) -> None:
        """The next compressed bytes."""
        self._blob.write(data)


@frozen
class Link:
    """A stored fragment as part of a chain."""

    gzip: Digest
    """Its gzip members, without directories."""
    entries: Sequence[IndexEntry]
    """Its index."""
    inflated: bytes | None = None
    """What its members hold, where that is at hand since it was just made."""


def chain(store: Store, links: Sequence[Link]) -> Layer:
    """The layer of several stored fragments, in this order; each directory stands once, before its content."""
    modes = _directory_modes(links)
    written: set[str] = set()
    with store.writer() as blob:
        layer = LayerBlob(blob)
        for link in links:
            needed = sorted(_directories(link.entries) - written, key=os.fsencode)
            written.update(needed)
            _write_plain(layer, b"".join(header(modes[path]) for path in needed))
            _copy(store, link, layer)
        return layer.finish()


def _directories(entries: Iterable[IndexEntry]) -> set[str]:
    """Every directory that these paths need or are."""
    found = {row.path for row in entries if row.kind == EntryKind.DIRECTORY.value}
    for folder in {row.path.rpartition("/")[0] for row in entries} | found:
        if folder:
            found.update((folder, *parents(folder)))
    return found


def _directory_modes(links: Iterable[Link]) -> dict[str, TarEntry]:
    """The entry of every directory of the chain: its own where a fragment has one, else 0755."""
    entries: dict[str, TarEntry] = {}
    for link in links:
        entries.update({path: directory(path) for path in _directories(link.entries) if path not in entries})
        own = [row for row in link.entries if row.kind == EntryKind.DIRECTORY.value]
        entries.update({row.path: tar_entry(row) for row in own})
    return entries


def _copy(store: Store, link: Link, layer: LayerBlob) -> None:
    """Raises StoreError for bytes that were damaged since they were stored."""
    if link.inflated is not None:  # made by this process, a moment ago
        with store.open(link.gzip) as compressed:
            _pour(compressed, layer.gzip)
        layer.tar(link.inflated)
        return
    for block in store.blocks(link.gzip):
        layer.gzip(block)
    from isal import igzip

    with igzip.open(store.path(link.gzip), "rb") as inflated:  # type: ignore[no-untyped-call]  # isal's stub leaves it out
        _pour(cast(BinaryIO, inflated), layer.tar)


def _write_plain(layer: LayerBlob, data: bytes) -> None:
    for start in range(0, len(data), members.PIECE):
        piece = data[start : start + members.PIECE]
        layer.plain(piece, members.THOROUGH)


def _pour(stream: BinaryIO, sink: Callable[[bytes], object]) -> None:
    while block := stream.read(CHUNK):
        sink(block)
