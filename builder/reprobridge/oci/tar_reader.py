"""Reading back the archives that `tar.py` makes, and no others.

Each header has to be the one that `tar.header` gives for the entry that it says, so that nothing of an archive that
was damaged or made elsewhere passes. `tarfile` reads everything, and importing it takes 5 ms.
"""

from collections.abc import Iterator, Mapping
from typing import BinaryIO, cast

from reprobridge.errors import ArtifactError
from reprobridge.oci.tar import BLOCK, EntryKind, TarEntry, header

_NOTHING = bytes(BLOCK)
_EXTENDED = b"x"
_MOST_EXTENDED = 1 << 16
"""Bytes of an extended header: a path, the target of a link and a size, of 4 KiB at most each, are far less."""


class _Content:
    """The bytes of one file of an archive."""

    def __init__(self, archive: BinaryIO, size: int) -> None:
        self._archive = archive
        self._left = size

    def read(self, size: int = -1) -> bytes:
        """At most so many of the next bytes, all where it is negative. Raises ArtifactError when there are less."""
        wanted = self._left if size < 0 else min(size, self._left)
        data = self._archive.read(wanted)
        if len(data) < wanted:
            raise _damaged(self._archive, "its end within a file")
        self._left -= wanted
        return data


def read_entries(archive: BinaryIO) -> Iterator[tuple[TarEntry, BinaryIO]]:
    """The entries of an archive that can be sought in, each with its bytes: only `read`, before the next is asked for.

    Raises ArtifactError where it is damaged.
    """
    while (block := archive.read(BLOCK)) != _NOTHING:
        try:
            entry = _entry(archive, block)
        except ValueError as error:
            raise _damaged(archive, f"a header that is none ({error})") from error
        start = archive.tell()
        yield entry, cast("BinaryIO", _Content(archive, entry.size))
        archive.seek(start + entry.size + -entry.size % BLOCK)


def _damaged(archive: BinaryIO, found: str) -> ArtifactError:
    return ArtifactError(
        "an archive of ours is damaged",
        where=str(getattr(archive, "name", "")) or None,
        expected="headers and files as they were written",
        found=found,
        hint="delete that file, and run again",
    )


def _entry(archive: BinaryIO, block: bytes) -> TarEntry:
    head, records = block, {}
    if block[156:157] == _EXTENDED:
        size = _number(block[124:136])
        if not 0 < size <= _MOST_EXTENDED:
            raise ValueError(f"an extended header of {size} bytes")
        extended = archive.read(size + -size % BLOCK)
        records = _records(extended[:size])
        block = archive.read(BLOCK)
        head += extended + block
    entry = _parsed(block, records)
    if header(entry) != head:
        raise ValueError("it is written in another way")
    return entry


def _parsed(block: bytes, records: Mapping[bytes, bytes]) -> TarEntry:
    kind = EntryKind(block[156:157].decode())
    name = _text(records.get(b"path", block[:100].rstrip(b"\0")))
    return TarEntry(
        path=name.removesuffix("/") if kind is EntryKind.DIRECTORY else name,
        kind=kind,
        mode=_number(block[100:108]),
        size=int(records[b"size"]) if b"size" in records else _number(block[124:136]),
        link=_text(records.get(b"linkpath", block[157:257].rstrip(b"\0"))),
        gid=_number(block[116:124]),
        uid=_number(block[108:116]),
    )


def _records(data: bytes) -> dict[bytes, bytes]:
    """PAX records: `LENGTH KEY=VALUE` and a new line each, the length that of all of it."""
    records = {}
    while data:
        digits, _, _ = data.partition(b" ")
        length = int(digits)
        if not len(digits) + 2 < length <= len(data):
            raise ValueError(f"a record of {length} bytes")
        key, _, value = data[len(digits) + 1 : length - 1].partition(b"=")
        records[key] = value
        data = data[length:]
    return records


def _number(field: bytes) -> int:
    return int(field.rstrip(b"\0"), 8)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
