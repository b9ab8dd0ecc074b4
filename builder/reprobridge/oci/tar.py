"""Canonical tar: the one way in which we write a path into a layer.

Every entry is POSIX ustar with owner 0:0, no names, a constant time, and a PAX header only where ustar
cannot hold the path, the link or the size (paths over 100 bytes are common: jedi has 3,539; the prefix
field is not used, so that an entry depends on its path in one way only).
The time is 1980-01-02: 0 and pre-1980 break zip and "built 48 years ago" consumers (jib#606, pack#184).
Source: POSIX.1-2017 pax, image-spec layer.md.
"""

import functools
import zlib
from enum import StrEnum
from typing import NamedTuple

MTIME = 315619200
"""1980-01-02T00:00:00Z, the modification time of every entry."""
BLOCK = 512
"""Bytes of a tar block."""
END = bytes(2 * BLOCK)
"""What closes an archive."""
DIRECTORY_MODE = 0o755
"""Mode of a directory that only exists to hold something; the same in every layer."""

_MTIME = b"%011o\0" % MTIME
_USTAR_SIZE_LIMIT = 8**11
_REST = bytes(BLOCK - 265)
"""What follows the version field: names of owner and group, device numbers and prefix, all empty."""


class EntryKind(StrEnum):
    """What a path is; the value is tar's type flag."""

    FILE = "0"
    HARDLINK = "1"
    SYMLINK = "2"
    DIRECTORY = "5"


class TarEntry(NamedTuple):
    """One path of a layer, without its bytes."""

    path: str
    """Relative to the root, without leading or trailing slash; surrogate escapes stand for non-UTF-8."""
    kind: EntryKind
    """File, directory or link."""
    mode: int
    """Permission bits, 0 to 0o7777."""
    size: int = 0
    """Bytes of a file; 0 for all others."""
    link: str = ""
    """Target of a symbolic link; for a hard link a path in the same layer."""
    gid: int = 0
    """Group, 0 unless the system's package says otherwise (setgid folders)."""
    uid: int = 0
    """Owner, 0 unless the system's package says otherwise."""


def directory(path: str, mode: int = DIRECTORY_MODE) -> TarEntry:
    """A directory's entry."""
    return TarEntry(path, EntryKind.DIRECTORY, mode)


def symlink(path: str, target: str) -> TarEntry:
    """A symbolic link's entry; its mode means nothing and is 0777 everywhere."""
    return TarEntry(path, EntryKind.SYMLINK, 0o777, link=target)


def header(entry: TarEntry) -> bytes:
    """The header blocks of an entry: one block, or three and more where PAX is needed."""
    path, kind, mode, size, link, gid, uid = entry
    raw_name = (path + "/" if kind is EntryKind.DIRECTORY else path).encode("utf-8", "surrogateescape")
    raw_link = link.encode("utf-8", "surrogateescape") if link else b""
    extended = b""
    if len(raw_name) > 100 or not raw_name.isascii():
        extended += _pax_record(b"path", raw_name)
    if len(raw_link) > 100 or not raw_link.isascii():
        extended += _pax_record(b"linkpath", raw_link)
    if size >= _USTAR_SIZE_LIMIT:
        extended += _pax_record(b"size", b"%d" % size)
        size = 0
    block = _block(raw_name, size, _numbers(mode, uid, gid), _closing(kind, raw_link[:100]))
    return (
        b"".join((_pax_header(len(extended)), extended, padding(len(extended)), block)) if extended else block
    )


def padding(size: int) -> bytes:
    """The zero bytes that fill the last block of `size` bytes."""
    return bytes(-size % BLOCK)


def _block(name: bytes, size: int, numbers: bytes, closing: tuple[bytes, int]) -> bytes:
    """A header block: `numbers` are mode and owner, `closing` what follows the checksum, with its bytes' sum."""
    head = b"%b%b%011o\0%b" % (name[:100].ljust(100, b"\0"), numbers, size, _MTIME)
    # Adler-32's lower half is 1 plus the sum of all bytes, modulo 65521, which a header's cannot reach.
    checksum = (zlib.adler32(head) & 0xFFFF) - 1 + 8 * 0x20 + closing[1]
    return b"%b%06o\0 %b" % (head, checksum, closing[0])


@functools.lru_cache(maxsize=1024)
def _closing(flag: str, link: bytes) -> tuple[bytes, int]:
    closing = b"%b%bustar\x0000%b" % (flag.encode(), link.ljust(100, b"\0"), _REST)
    return closing, sum(closing)


@functools.lru_cache(maxsize=1024)
def _numbers(mode: int, uid: int, gid: int) -> bytes:
    return b"%07o\0%07o\0%07o\0" % (mode, uid, gid)


@functools.lru_cache(maxsize=1024)
def _pax_header(size: int) -> bytes:
    """The header of so many bytes of PAX records."""
    return _block(b"pax", size, _numbers(0o644, 0, 0), _closing("x", b""))


def _pax_record(key: bytes, value: bytes) -> bytes:
    length = len(key) + len(value) + 3
    total = length + len(str(length))
    if len(str(total)) != len(str(length)):
        total += 1
    return b"%d %b=%b\n" % (total, key, value)
