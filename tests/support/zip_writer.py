"""Writes zip archives byte by byte, so that tests get both deterministic wheels and lying ones.

`zipfile` compresses with the machine's zlib, whose bytes differ between machines, and refuses to write
most of what a reader must refuse to read.
"""

import bz2
import lzma
import stat
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

import deflate

_DOS_DATE = 0x0021
"""1980-01-01, the first day that a zip can name; with time 0."""


class Method(IntEnum):
    """Compression methods of APPNOTE.TXT 4.4.5."""

    STORED = 0
    DEFLATED = 8
    BZIP2 = 12
    LZMA = 14


@dataclass(frozen=True, kw_only=True)
class ZipMember:
    """One member, with the lies that it tells."""

    name: str | bytes
    data: bytes = b""
    mode: int | None = stat.S_IFREG | 0o644
    """Unix mode with its file type; None: written on a system without modes."""
    method: Method = Method.DEFLATED
    streamed: bool = False
    """The local header has no sizes or CRC; they follow the data (flag bit 3)."""
    encrypted: bool = False
    """Flag bit 0 is set; the data are not encrypted in truth."""
    crc: int | None = None
    """Claimed CRC-32, when it is not the data's."""
    size: int | None = None
    """Claimed uncompressed size, when it is not the data's."""
    packed: bytes | None = None
    """Compressed bytes, when they are not the data's."""
    local_name: str | bytes | None = None
    """Name in the local header, when it is not the central directory's."""


def write_zip(members: Iterable[ZipMember]) -> bytes:
    """An archive with the members in their order."""
    body = b""
    directory = b""
    count = 0
    for member in members:
        fields = _Fields.of(member)
        directory += fields.central(offset=len(body))
        body += fields.local()
        count += 1
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(directory), len(body), 0)
    return body + directory + end


@dataclass(frozen=True, kw_only=True)
class _Fields:
    """What both headers of a member say."""

    name: bytes
    local_name: bytes
    flags: int
    method: Method
    crc: int
    size: int
    packed: bytes
    system: int
    attributes: int

    @classmethod
    def of(cls, member: ZipMember) -> "_Fields":
        packed = _pack(member.data, member.method) if member.packed is None else member.packed
        local_name = member.name if member.local_name is None else member.local_name
        return cls(
            name=_encode(member.name),
            local_name=_encode(local_name),
            flags=(0x0001 if member.encrypted else 0) | (0x0008 if member.streamed else 0) | 0x0800,
            method=member.method,
            crc=zlib.crc32(member.data) if member.crc is None else member.crc,
            size=len(member.data) if member.size is None else member.size,
            packed=packed,
            system=0 if member.mode is None else 3,  # 3: Unix
            attributes=0 if member.mode is None else member.mode << 16,
        )

    @property
    def sizes(self) -> bytes:
        return struct.pack("<3L", self.crc, len(self.packed), self.size)

    def local(self) -> bytes:
        """Local header, data and, for a streamed member, the descriptor."""
        streamed = bool(self.flags & 0x0008)
        sizes = bytes(12) if streamed else self.sizes
        start = struct.pack("<4s5H", b"PK\x03\x04", 20, self.flags, self.method, 0, _DOS_DATE)
        lengths = struct.pack("<2H", len(self.local_name), 0)
        descriptor = b"PK\x07\x08" + self.sizes if streamed else b""
        return start + sizes + lengths + self.local_name + self.packed + descriptor

    def central(self, *, offset: int) -> bytes:
        """The member's entry of the central directory."""
        version = (self.system << 8) | 20
        start = struct.pack("<4s6H", b"PK\x01\x02", version, 20, self.flags, self.method, 0, _DOS_DATE)
        rest = struct.pack("<5H2L", len(self.name), 0, 0, 0, 0, self.attributes, offset)
        return start + self.sizes + rest + self.name


def _encode(name: str | bytes) -> bytes:
    return name.encode("utf-8", "surrogateescape") if isinstance(name, str) else name


def _pack(data: bytes, method: Method) -> bytes:
    match method:
        case Method.STORED:
            return data
        case Method.DEFLATED:
            return bytes(deflate.deflate_compress(data, 6))
        case Method.BZIP2:
            return bz2.compress(data)
        case Method.LZMA:
            return lzma.compress(data, format=lzma.FORMAT_ALONE)
