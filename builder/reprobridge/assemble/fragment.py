"""Writing a fragment: the files of one locked thing as tar entries in gzip members.

A fragment that is a layer alone has every parent directory before its content. One that is kept to be chained
with others has none: `layer.py` writes each directory of the chain once, since Docker refuses a layer with a
path that occurs twice (tar-split, measured with 20.10). So small packages share a layer without being
compressed again. Bytes flow once, through every sink at the same time; nothing is held but a piece.
"""

import functools
import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, NamedTuple, Protocol

from reprobridge.assemble.index import IndexEntry, index_entry, parents
from reprobridge.errors import ArtifactError
from reprobridge.oci import members
from reprobridge.oci.tar import EntryKind, TarEntry, directory, header, padding

LONG = 256 << 10
"""Bytes of a file from which a helper is worth asking to look at it."""


class LayerSink(Protocol):
    """Takes the two streams of a layer side by side."""

    def tar(self, data: bytes) -> None:
        """The next uncompressed bytes."""

    def gzip(self, data: bytes) -> None:
        """The next compressed bytes."""

    def plain(self, data: bytes, level: int) -> None:
        """The next bytes of both: uncompressed, for a member of ours (at most `members.PIECE`)."""
        self.tar(data)
        self.gzip(members.member(data, level))


class Helper(Protocol):
    """Calls functions in another thread (`aside.py`)."""

    def do(self, task: Callable[[bytes], object], data: bytes) -> None:
        """Call `task` with these bytes, behind everything that was handed over before."""

    def settle(self) -> None:
        """Return when everything is done that was handed over."""


class DeflatedFile(NamedTuple):
    """A file whose bytes come as a raw DEFLATE stream."""

    entry: TarEntry
    """Its place in the layer."""
    crc: int
    """CRC-32 of the inflated bytes, as its archive says."""
    packed_size: int
    """Bytes of the stream."""
    blocks: Iterable[bytes]
    """The stream, in pieces of at most `members.WINDOW` bytes."""
    source: str
    """Archive and member, for errors."""


class Packed(NamedTuple):
    """Bytes that we have compressed before."""

    members: bytes
    """As gzip members of ours."""
    data: bytes
    """What they inflate to."""


class FragmentWriter:
    """Writes entries in the order in which they come, which must follow from the recipe, and keeps their index."""

    def __init__(self, sink: LayerSink, *, folders: bool = True, helper: Helper | None = None) -> None:
        """`folders`: whether directories are written, not only indexed; `helper` works beside us."""
        from isal.isal_zlib import crc32

        self._crc32 = crc32
        self._sink = sink
        self._with_folders = folders
        self._helper = helper
        self._pending = bytearray()
        self._folders: set[str] = set()
        self.level = members.THOROUGH
        """How hard our members are compressed; a converter may set it before it writes."""
        self.entries: list[IndexEntry] = []
        """Index of everything written so far, but for long files that a helper still looks at (`settled`)."""

    def link(self, entry: TarEntry) -> None:
        """A symbolic or hard link."""
        self._plain(self._head(entry))
        self.entries.append(index_entry(entry, entry.link))

    def folder(self, entry: TarEntry) -> None:
        """A directory whose mode or owner matters; the others appear by themselves."""
        self._folders.add(entry.path)
        if self._with_folders:
            self._plain(self._head(entry))
        self.entries.append(index_entry(entry, ""))

    def file(self, entry: TarEntry, data: bytes) -> str:
        """A small file, compressed by us; gives its SHA-256 in hex."""
        self._plain(b"".join((self._head(entry), data, padding(len(data)))))
        digest = hashlib.sha256(data).hexdigest()
        self.entries.append(index_entry(entry, digest))
        return digest

    def stream(self, entry: TarEntry, source: BinaryIO) -> str:
        """A file of any size, compressed by us; gives its SHA-256 in hex."""
        return self.blocks(entry, _read(source, entry.size))

    def blocks(self, entry: TarEntry, blocks: Iterable[bytes]) -> str:
        """A file of any size that comes in blocks, compressed by us; gives its SHA-256 in hex."""
        self._plain(self._head(entry))
        sha256 = hashlib.sha256()
        size = 0
        for block in blocks:
            sha256.update(block)
            self._plain(block)
            size += len(block)
        if size != entry.size:
            raise ArtifactError(
                "a file has another length than its archive says",
                where=entry.path,
                expected=f"{entry.size} bytes",
                found=f"{size} bytes",
            )
        self._plain(padding(entry.size))
        self.entries.append(index_entry(entry, sha256.hexdigest()))
        return sha256.hexdigest()

    def deflated(self, file: DeflatedFile) -> None:
        """A file that comes compressed, checked while it is hashed, at the latest by the time all is `settled`.

        Its stream is passed on as a member of its own, unless it is so short that a member of ours around
        it and its neighbours is smaller.
        """
        try:
            if file.packed_size <= members.PASSED_ON and file.entry.size <= members.SMALL:
                self._packed_together(file)
            else:
                self._passed_on(file)
        except members.BrokenStreamError as error:
            raise _broken(file, f"a DEFLATE stream of {file.entry.size} bytes", str(error)) from error

    def packed(self, entry: TarEntry, parts: Iterable[Packed]) -> str:
        """A file whose bytes were compressed before, in parts; gives its SHA-256 in hex."""
        self._plain(self._head(entry))
        self._flush()
        sha256 = hashlib.sha256()
        for part in parts:
            sha256.update(part.data)
            self._sink.tar(part.data)
            self._sink.gzip(part.members)
        self._plain(padding(entry.size))
        self.entries.append(index_entry(entry, sha256.hexdigest()))
        return sha256.hexdigest()

    def settled(self) -> list[IndexEntry]:
        """Index of everything written so far, when the helper has looked at all of it."""
        if self._helper:
            self._helper.settle()
        return self.entries

    def close(self) -> None:
        """Write what is pending; the fragment is complete, its index as soon as all is `settled`."""
        self._flush()

    def _packed_together(self, file: DeflatedFile) -> None:
        data = members.inflate_small(b"".join(file.blocks), file.entry.size)
        if (crc := self._crc32(data)) != file.crc:
            raise _broken(file, f"CRC-32 {file.crc:08x}", f"{crc:08x}")
        self.file(file.entry, data)

    def _passed_on(self, file: DeflatedFile) -> None:
        self._plain(self._head(file.entry))
        self._flush()
        self._sink.gzip(members.HEAD)
        look = _Look(file, self._crc32, self.entries)
        helper = self._helper if file.entry.size >= LONG else None
        take = functools.partial(helper.do, look.take) if helper else look.take
        for data in members.inflate(self._forwarded(file.blocks), file.entry.size):
            take(data)
            self._sink.tar(data)
        self._sink.gzip(members.tail(file.crc, file.entry.size))
        self._plain(padding(file.entry.size))
        if helper:
            helper.do(look.end, b"")
        else:
            look.end()

    def _forwarded(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        for block in blocks:
            self._sink.gzip(block)
            yield block

    def _head(self, entry: TarEntry) -> bytes:
        """The entry's header, behind those of parent directories that the fragment has not had yet."""
        folder = entry.path.rpartition("/")[0]
        if folder in self._folders or not folder or not self._with_folders:
            return header(entry)
        new = [path for path in (folder, *parents(folder)) if path not in self._folders]
        self._folders.update(new)
        return b"".join([*(header(directory(path)) for path in reversed(new)), header(entry)])

    def _plain(self, data: bytes) -> None:
        pending = self._pending
        pending += data
        if len(pending) < members.PIECE:
            return
        whole = len(pending) - len(pending) % members.PIECE
        for start in range(0, whole, members.PIECE):
            self._sink.plain(bytes(memoryview(pending)[start : start + members.PIECE]), self.level)
        del pending[:whole]

    def _flush(self) -> None:
        if self._pending:
            self._sink.plain(bytes(self._pending), self.level)
            self._pending.clear()


class _Look:
    """A look at the bytes of a file that is passed on: checks its CRC-32, and enters it in the index."""

    def __init__(
        self, file: DeflatedFile, crc32: Callable[[bytes, int], int], entries: list[IndexEntry]
    ) -> None:
        self._file = file
        self._crc32 = crc32
        self._entries = entries
        self._sha256 = hashlib.sha256()
        self._crc = 0

    def take(self, data: bytes) -> None:
        """The next bytes."""
        self._sha256.update(data)
        self._crc = self._crc32(data, self._crc)

    def end(self, _: bytes = b"") -> None:
        """All bytes have been taken. Raises ArtifactError when they are not what the archive says."""
        file = self._file
        if self._crc != file.crc:
            raise _broken(file, f"CRC-32 {file.crc:08x}", f"{self._crc:08x}")
        self._entries.append(index_entry(file.entry, self._sha256.hexdigest()))


def sorted_entries(entries: Iterable[TarEntry]) -> list[TarEntry]:
    """In the order of their paths' bytes, hard links after everything else, so that targets come first."""
    return sorted(
        entries, key=lambda e: (e.kind is EntryKind.HARDLINK, e.path.encode("utf-8", "surrogateescape"))
    )


def _read(source: BinaryIO, size: int) -> Iterator[bytes]:
    while size and (block := source.read(min(size, members.PIECE))):
        size -= len(block)
        yield block


def _broken(file: DeflatedFile, expected: str, found: str) -> ArtifactError:
    return ArtifactError("a compressed member is broken", where=file.source, expected=expected, found=found)
