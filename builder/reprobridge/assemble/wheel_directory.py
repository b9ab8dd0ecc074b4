"""The zip directory of a wheel, read strictly: what is in the archive and where.

The central directory says what there is; local headers only say where a member's bytes begin.
Whatever readers are known to disagree about is refused: encrypted members, methods other than stored and
deflate, duplicate names, names that could leave the prefix or mean something to a layer (`.wh.*`), members
that overlap, bytes behind the archive, a second name in an extra field. Bytes before the archive and ZIP64
are fine, as for pip. The standard library's reader is not used: it cuts names at NUL, and what it makes of
names and extra fields differs between the Pythons that we run on.
Source: APPNOTE.TXT 6.3.10.
"""

import mmap
import re
import stat
import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

from reprobridge.errors import ArtifactError

_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_EXTRA = struct.Struct("<2H")
_MOST_COMMENT = 0xFFFF
_ELSEWHERE = 0xFFFFFFFF
"""A 32-bit field whose value stands in the ZIP64 extra field."""
_UTF8 = 0x0800
_ENCRYPTED = 0x2041
"""Flag bits 0, 6 and 13: encrypted, strongly encrypted, masked headers."""
_ZIP64, _UNICODE_PATH = 0x0001, 0x7075
_STORED, _DEFLATED = 0, 8
_BAD_NAME = re.compile(r"(?:^|/)(?:\.{0,2}(?:/|$)|\.wh\.)|[\x00-\x1f\x7f\\]")
_LONGEST_PART = 255
"""Bytes of one part of a path that Linux file systems take."""


class Member(NamedTuple):
    """One file of the archive."""

    name: str
    """Its path in the archive, safe below any folder."""
    mode: int
    """Unix mode with file type, 0 where the archive was made without."""
    crc: int
    """CRC-32 of its bytes."""
    size: int
    """Of its bytes."""
    packed_size: int
    """Of what the archive holds."""
    deflated: bool
    """Whether it is compressed; else it is stored."""
    start: int
    """Where its data begin in the file."""


def broken(wheel: str, member: str | None, expected: str, found: str) -> ArtifactError:
    """The error for a wheel, or a member of it, that is not as it must be."""
    where = wheel if member is None else f"{wheel}: {member!a}"
    return ArtifactError("the wheel is broken", where=where, expected=expected, found=found)


class _Extent(NamedTuple):
    """The part of the file that the directory takes up."""

    start: int
    end: int
    entries: int
    shift: int
    """Bytes before the archive, which its offsets do not count."""


def read_directory(wheel: str, data: mmap.mmap) -> Iterator[Member]:
    """The archive's files in the order of its directory, folders left out. Raises ArtifactError."""
    extent = _find_directory(wheel, data)
    position, names, places = extent.start, set(), []
    for _ in range(extent.entries):
        if position + _CENTRAL.size > extent.end:
            raise broken(wheel, None, f"a directory of {extent.entries} entries", "fewer")
        row = _Row.read(wheel, data, position)
        position = row.end
        place = _place(wheel, data, row, extent)
        places.append((row.offset + extent.shift, place + row.packed_size, row.name))
        if row.name in names:
            raise broken(wheel, row.name, "one member of this name", "two")
        names.add(row.name)
        if not row.name.endswith("/"):
            yield Member(row.name, row.mode, row.crc, row.size, row.packed_size, row.deflated, place)
    if position != extent.end:
        raise broken(wheel, None, f"a directory of {extent.entries} entries", "more bytes")
    _refuse_overlaps(wheel, sorted(places), extent.start)


def _find_directory(wheel: str, data: mmap.mmap) -> _Extent:
    """Read the end record, which must be the last thing in the file, and its ZIP64 companion."""
    end = data.rfind(b"PK\5\6", max(0, len(data) - _END.size - _MOST_COMMENT))
    if end < 0 or end + _END.size > len(data):
        raise broken(wheel, None, "a zip archive", "no end record")
    _, disk, first_disk, here, count, size, offset, comment = _END.unpack_from(data, end)
    if end + _END.size + comment != len(data):
        raise broken(wheel, None, "the end of the file behind the zip archive", "other bytes")
    locator = end - _END64_LOCATOR.size
    if locator >= 0 and data[locator : locator + 4] == b"PK\6\7":
        end = locator - _END64.size
        if end < 0 or data[end : end + 4] != b"PK\6\6":
            raise broken(wheel, None, "a ZIP64 end record before its locator", "none")
        _, _, _, _, disk, first_disk, here, count, size, offset = _END64.unpack_from(data, end)
    if disk or first_disk or here != count:
        raise broken(wheel, None, "an archive in one part", "one of several")
    shift = end - size - offset
    if shift < 0:
        raise broken(wheel, None, "a directory inside the file", f"one of {size} bytes at {offset}")
    return _Extent(end - size, end, count, shift)


class _Row(NamedTuple):
    """An entry of the central directory."""

    raw_name: bytes
    name: str
    mode: int
    crc: int
    size: int
    packed_size: int
    deflated: bool
    offset: int
    """Of its local header, from the archive's beginning."""
    end: int
    """Where the next entry begins."""

    @classmethod
    def read(cls, wheel: str, data: mmap.mmap, position: int) -> "_Row":
        """Parse and check the entry at a position."""
        fields = _CENTRAL.unpack_from(data, position)
        signature, _, _, flags, method, _, _, crc, packed_size, size = fields[:10]
        name_size, extra_size, comment_size, _, _, attributes, offset = fields[10:]
        start = position + _CENTRAL.size
        raw_name = data[start : start + name_size]
        if signature != b"PK\1\2":
            raise broken(wheel, None, "an entry of the zip directory", repr(signature))
        name = _name(wheel, raw_name, flags)
        if flags & _ENCRYPTED:
            raise broken(wheel, name, "a readable member", "an encrypted one")
        if method not in (_STORED, _DEFLATED):
            raise broken(wheel, name, "a member that is stored or deflated", f"compression method {method}")
        kind = stat.S_IFMT(attributes >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFLNK) and not name.endswith("/"):
            raise broken(wheel, name, "a file", f"mode {attributes >> 16:o}")
        if extra_size or _ELSEWHERE in (size, packed_size, offset):
            start += name_size
            extra = _Extra.read(wheel, name, data[start : start + extra_size])
            size, packed_size, offset = extra.replace(size, packed_size, offset)
        if method == _STORED and size != packed_size:
            raise broken(wheel, name, f"{size} stored bytes", f"{packed_size}")
        end = position + _CENTRAL.size + name_size + extra_size + comment_size
        deflated = method == _DEFLATED
        return cls(raw_name, name, attributes >> 16, crc, size, packed_size, deflated, offset, end)


class _Extra(NamedTuple):
    """What an entry's extra fields say that matters."""

    wheel: str
    name: str
    zip64: bytes

    @classmethod
    def read(cls, wheel: str, name: str, data: bytes) -> "_Extra":
        """Walk the extra fields."""
        zip64, position = b"", 0
        while position + _EXTRA.size <= len(data):
            kind, length = _EXTRA.unpack_from(data, position)
            position += _EXTRA.size
            if kind == _UNICODE_PATH:
                raise broken(wheel, name, "one name for a member", "a second one in an extra field")
            if kind == _ZIP64:
                zip64 = data[position : position + length]
            position += length
        return cls(wheel, name, zip64)

    def replace(self, *fields: int) -> list[int]:
        """The fields, each that is too large for 32 bits replaced by its ZIP64 value, in this order."""
        position, replaced = 0, []
        for field in fields:
            if field != _ELSEWHERE:
                replaced.append(field)
                continue
            if position + 8 > len(self.zip64):
                raise broken(self.wheel, self.name, "a ZIP64 extra field", "none that is long enough")
            replaced.append(int.from_bytes(self.zip64[position : position + 8], "little"))
            position += 8
        return replaced


def _name(wheel: str, raw: bytes, flags: int) -> str:
    try:
        name = raw.decode("utf-8" if flags & _UTF8 else "cp437")
    except UnicodeDecodeError as error:
        raise broken(wheel, repr(raw), "a name in UTF-8", str(error)) from error
    body = name.removesuffix("/")
    if _BAD_NAME.search(body):
        raise broken(
            wheel, name, "a relative path without `.`, `..`, `.wh.*`, backslash or control", "another"
        )
    if len(raw) > _LONGEST_PART and any(len(part.encode()) > _LONGEST_PART for part in body.split("/")):
        raise broken(wheel, name, f"names of at most {_LONGEST_PART} bytes", "a longer one")
    return name


def _place(wheel: str, data: mmap.mmap, row: _Row, extent: _Extent) -> int:
    """Where a member's data begin; its local header must agree on the name."""
    header = row.offset + extent.shift
    if header + _LOCAL.size > extent.start:
        raise broken(wheel, row.name, "a member before the directory", f"one at {header}")
    fields: tuple[Any, ...] = _LOCAL.unpack_from(data, header)
    signature, name_size, extra_size = fields[0], int(fields[9]), int(fields[10])
    start = header + _LOCAL.size
    if signature != b"PK\3\4" or data[start : start + name_size] != row.raw_name:
        raise broken(wheel, row.name, "a local header of the same name", "another")
    return start + name_size + extra_size


def _refuse_overlaps(wheel: str, places: list[tuple[int, int, str]], limit: int) -> None:
    free = 0
    for start, end, name in places:
        if start < free:
            raise broken(wheel, name, "members that do not overlap", f"one at {start} inside another")
        free = end
    if free > limit:
        raise broken(wheel, places[-1][2], "a member that ends before the directory", "a longer one")
