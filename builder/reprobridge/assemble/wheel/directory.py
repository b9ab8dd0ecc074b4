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
from typing import NamedTuple

from reprobridge.errors import ArtifactError

_END = struct.Struct("<4s4H2LH")
_END64_LOCATOR = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_CENTRAL = struct.Struct("<4s4x2H4x3L3H4x2L")
_LOCAL = struct.Struct("<4s22x2H")
_EXTRA = struct.Struct("<2H")
_MOST_COMMENT = 0xFFFF
_ELSEWHERE = 0xFFFFFFFF
"""A 32-bit field whose value stands in the ZIP64 extra field."""
_UTF8 = 0x0800
_ENCRYPTED = 0x2041
"""Flag bits 0, 6 and 13: encrypted, strongly encrypted, masked headers."""
_ZIP64, _UNICODE_PATH = 0x0001, 0x7075
_STORED, _DEFLATED = 0, 8
_PLAIN_NAME = re.compile(r"(?:[A-Za-z0-9_][A-Za-z0-9_.+-]*/)*[A-Za-z0-9_][A-Za-z0-9_.+-]*/?")
"""Nearly every name; what it matches need not be searched for what `_BAD_NAME` finds."""
_BAD_NAME = re.compile(r"(?:^|/)(?:\.{0,2}(?:/|$)|\.wh\.)|[\x00-\x1f\x7f\\]")
_LONGEST_PART, _LONGEST_NAME = 255, 3800
"""Bytes of one part of a path that Linux file systems take, and of one that still fits below site-packages."""


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


def read_directory(wheel: str, data: mmap.mmap) -> list[Member]:
    """The archive's files in the order of its directory, folders left out. Raises ArtifactError."""
    extent = _find_directory(wheel, data)
    position, found, places = extent.start, [], []
    for _ in range(extent.entries):
        if position + _CENTRAL.size > extent.end:
            raise broken(wheel, None, f"a directory of {extent.entries} entries", "fewer")
        member, begin, position = _read_entry(wheel, data, position, extent)
        found.append(member)
        places.append((begin, member.start + member.packed_size, member.name))
    if position != extent.end:
        raise broken(wheel, None, f"a directory of {extent.entries} entries", "more bytes")
    _refuse_doubles(wheel, found)
    _refuse_overlaps(wheel, sorted(places), extent.start)
    return [member for member in found if member.name[-1] != "/"]


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


def _read_entry(wheel: str, data: mmap.mmap, position: int, extent: _Extent) -> tuple[Member, int, int]:
    """Parse and check the entry at a position, and its local header, which must agree on the name.

    Gives the member, where its local header begins, and where the next entry does. One function without many
    calls: torch has 12,000 entries.
    """
    head, flags, method, crc, packed_size, size, *lengths, attributes, offset = _CENTRAL.unpack_from(
        data, position
    )
    name_size, extra_size, comment_size = lengths
    if head != b"PK\1\2":
        raise broken(wheel, None, "an entry of the zip directory", repr(head))
    extra = position + _CENTRAL.size + name_size
    raw_name = data[position + _CENTRAL.size : extra]
    name = _name(wheel, raw_name, flags)
    mode = attributes >> 16
    _require_readable(wheel, name, flags, method, mode)
    end = extra + extra_size
    if extra_size or _ELSEWHERE in (size, packed_size, offset):
        size, packed_size, offset = _Extra.read(wheel, name, data[extra:end]).replace(
            size, packed_size, offset
        )
    if method == _STORED and size != packed_size:
        raise broken(wheel, name, f"{size} stored bytes", f"{packed_size}")
    begin = offset + extent.shift
    if begin + _LOCAL.size > extent.start:
        raise broken(wheel, name, "a member before the directory", f"one at {begin}")
    local, local_name_size, local_extra_size = _LOCAL.unpack_from(data, begin)
    behind = begin + _LOCAL.size + local_name_size
    if local != b"PK\3\4" or data[begin + _LOCAL.size : behind] != raw_name:
        raise broken(wheel, name, "a local header of the same name", "another")
    member = Member(name, mode, crc, size, packed_size, method == _DEFLATED, behind + local_extra_size)
    return member, begin, end + comment_size


def _require_readable(wheel: str, name: str, flags: int, method: int, mode: int) -> None:
    if flags & _ENCRYPTED:
        raise broken(wheel, name, "a readable member", "an encrypted one")
    if method not in (_STORED, _DEFLATED):
        raise broken(wheel, name, "a member that is stored or deflated", f"compression method {method}")
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFLNK) and not name.endswith("/"):
        raise broken(wheel, name, "a file", f"mode {mode:o}")


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
        # in code page 437 as in UTF-8, ASCII is itself; decoding it as such is ten times as quick
        name = raw.decode("utf-8" if flags & _UTF8 or raw.isascii() else "cp437")
    except UnicodeDecodeError as error:
        raise broken(wheel, repr(raw), "a name in UTF-8", str(error)) from error
    if not _PLAIN_NAME.fullmatch(name) and _BAD_NAME.search(name.removesuffix("/")):
        raise broken(
            wheel, name, "a relative path without `.`, `..`, `.wh.*`, backslash or control", "another"
        )
    if len(raw) > _LONGEST_PART and any(len(part.encode()) > _LONGEST_PART for part in name.split("/")):
        raise broken(wheel, name, f"names of at most {_LONGEST_PART} bytes", "a longer one")
    if len(raw) > _LONGEST_NAME:
        raise broken(wheel, f"{name[:60]}…", f"a path of at most {_LONGEST_NAME} bytes", f"{len(raw)} bytes")
    return name


def _refuse_doubles(wheel: str, found: list[Member]) -> None:
    if len({member.name for member in found}) == len(found):
        return
    seen: set[str] = set()
    for member in found:
        if member.name in seen:
            raise broken(wheel, member.name, "one member of this name", "two")
        seen.add(member.name)


def _refuse_overlaps(wheel: str, places: list[tuple[int, int, str]], limit: int) -> None:
    free = 0
    for start, end, name in places:
        if start < free:
            raise broken(wheel, name, "members that do not overlap", f"one at {start} inside another")
        free = end
    if free > limit:
        raise broken(wheel, places[-1][2], "a member that ends before the directory", "a longer one")
