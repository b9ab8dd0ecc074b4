"""The name by which the dynamic linker knows a shared library: its DT_SONAME (ELF gABI, 64-bit little endian)."""

import struct
from typing import IO, NamedTuple

_SHARED_OBJECT = 3
_LOAD, _DYNAMIC = 1, 2
_STRING_TABLE, _SONAME = 5, 14
_DYNAMIC_LIMIT = 1 << 16
_NAME_LIMIT = 256


class SharedObject(NamedTuple):
    """What an ELF file says of itself."""

    machine: int
    """e_machine: 62 x86-64, 183 AArch64."""
    soname: str
    """DT_SONAME; empty when it has none."""


def read_shared_object(stream: IO[bytes]) -> SharedObject | None:
    """Machine and name of a shared library; None for anything else, linker scripts and broken files included."""
    head = stream.read(64)
    if len(head) < 64 or head[:6] != b"\x7fELF\x02\x01":
        return None
    kind, machine = struct.unpack_from("<HH", head, 16)
    (table,) = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    if kind != _SHARED_OBJECT or size != 56:
        return None
    segments = _whole_records("<IIQQQQQQ", _read(stream, table, size * count))
    dynamic = next((segment for segment in segments if segment[0] == _DYNAMIC), None)
    if dynamic is None:
        return None
    section = _read(stream, dynamic[2], min(dynamic[5], _DYNAMIC_LIMIT))
    tags: dict[int, int] = {row[0]: row[1] for row in _whole_records("<QQ", section)}
    if _SONAME not in tags or _STRING_TABLE not in tags:
        return SharedObject(machine, "")
    offset = _file_offset(segments, tags[_STRING_TABLE])
    name = _read(stream, offset + tags[_SONAME], _NAME_LIMIT) if offset is not None else b""
    return SharedObject(machine, name.partition(b"\0")[0].decode("latin-1"))


def _file_offset(segments: list[tuple[int, ...]], address: int) -> int | None:
    for kind, _, offset, start, _, in_file, _, _ in segments:
        if kind == _LOAD and start <= address < start + in_file:
            return offset + address - start
    return None


def _whole_records(form: str, data: bytes) -> list[tuple[int, ...]]:
    """The whole records in these bytes; a damaged file may end within one."""
    size = struct.calcsize(form)
    return list(struct.iter_unpack(form, data[: len(data) // size * size]))


def _read(stream: IO[bytes], offset: int, size: int) -> bytes:
    stream.seek(offset)
    return stream.read(size)
