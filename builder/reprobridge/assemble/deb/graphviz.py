"""What a plugin of Graphviz offers, read from its tables without loading it.

`dot` knows its layouts and formats only from a configuration that `dot -c` writes by loading each plugin and
printing its `gvplugin_library_t` (lib/gvc/gvcext.h, lib/gvc/gvconfig.c). The same tables stand in the file:
pointers in them are the addends of its relocations (ELF gABI, 64-bit little endian).
"""

import struct
from functools import cached_property
from typing import IO

_APIS = ("render", "layout", "textlayout", "device", "loadimage")
"""Names of gvplugin_api's values."""
_LIMIT = 16 << 20
"""Most bytes of a plugin; the largest has 600 KiB."""
_LOAD, _DYNAMIC = 1, 2
_STRINGS, _SYMBOLS, _RELOCATIONS, _RELOCATIONS_SIZE = 5, 6, 7, 8
_SYMBOL, _INSTALLED, _API = 24, 40, 16
"""Sizes of Elf64_Sym, gvplugin_installed_t and gvplugin_api_t."""
_MOST_ROWS = 1000
"""Lines of a plugin's paragraph: far more than any has."""
_MOST_ENTRIES = 50_000
"""Symbols, relocations and dynamic tags, each: far more than any plugin has."""
_MOST_SEGMENTS, _LONGEST = 64, 200
"""Segments of a file, and bytes of a text in it."""


def plugin_paragraph(stream: IO[bytes], name: str) -> str | None:
    """The plugin's part of the configuration; `name` is its file's (`libgvplugin_core.so.6`). None: no plugin."""
    try:
        return _paragraph(_Plugin(stream.read(_LIMIT + 1)), name)
    except (struct.error, ValueError, LookupError, OverflowError):
        return None


def _paragraph(plugin: "_Plugin", name: str) -> str:
    library = plugin.symbol(f"{name.partition('.')[0].removeprefix('lib')}_LTX_library")
    lines = [f"{name} {plugin.text(plugin.pointer(library))} {{"]
    api = plugin.pointer(library + 8)
    while types := plugin.pointer(api + 8):
        lines.append(f"\t{_api(plugin.number(api))} {{")
        while kind := plugin.pointer(types + 8):
            lines.append(f"\t\t{plugin.text(kind)} {plugin.number(types + 16)}")
            types += _INSTALLED
            _require(len(lines), _MOST_ROWS)
        lines.append("\t}")
        api += _API
        _require(len(lines), _MOST_ROWS)
    return "\n".join([*lines, "}", ""])


def _api(number: int) -> str:
    if number < 0:
        raise ValueError("no number of an API")
    return _APIS[number]


def _require(number: int, most: int) -> int:
    if number > most:
        raise ValueError(f"{number} are too many")
    return number


class _Plugin:
    """A shared library's bytes, by address. Methods raise what `plugin_paragraph` catches for damaged ones."""

    def __init__(self, data: bytes) -> None:
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("no 64-bit ELF file")
        _require(len(data), _LIMIT)
        self._data = data
        (table,) = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        self._segments = [
            struct.unpack_from("<IIQQQQQQ", data, table + n * size)
            for n in range(_require(count, _MOST_SEGMENTS))
        ]

    @cached_property
    def _dynamic(self) -> dict[int, int]:
        offset, size = next(((row[2], row[5]) for row in self._segments if row[0] == _DYNAMIC), (0, 0))
        size = _require(size // 16, _MOST_ENTRIES) * 16
        rows = struct.iter_unpack("<QQ", self._data[offset : offset + size])
        return {tag: value for tag, value in rows}  # noqa: C416 - pairs of a known length

    @cached_property
    def _relocated(self) -> dict[int, int]:
        """Place -> address that the linker writes there, relative to the library's start."""
        start, size = self._offset(self._tag(_RELOCATIONS)), self._tag(_RELOCATIONS_SIZE)
        size = _require(size // 24, _MOST_ENTRIES) * 24
        rows = struct.iter_unpack("<QQq", self._data[start : start + size])
        return {place: self._symbol_value(info >> 32) + addend for place, info, addend in rows}

    def symbol(self, name: str) -> int:
        """Address of an exported symbol."""
        start, end, wanted = self._tag(_SYMBOLS), self._tag(_STRINGS), name.encode() + b"\0"
        for place in range(start, min(end, start + _MOST_ENTRIES * _SYMBOL), _SYMBOL):
            if self._data.startswith(wanted, self._offset(end + self.number(place))):
                return int(struct.unpack_from("<Q", self._data, self._offset(place) + 8)[0])
        raise ValueError(f"no symbol {name}")

    def pointer(self, place: int) -> int:
        """The address that stands at an address once it is loaded; 0: none."""
        if place in self._relocated:
            return self._relocated[place]
        return int(struct.unpack_from("<Q", self._data, self._offset(place))[0])

    def number(self, place: int) -> int:
        """The C int at an address."""
        return int(struct.unpack_from("<i", self._data, self._offset(place))[0])

    def text(self, place: int) -> str:
        """The C string at an address."""
        start = self._offset(place)
        return self._data[start : self._data.index(b"\0", start, start + _LONGEST)].decode("ascii")

    def _symbol_value(self, number: int) -> int:
        if not number:
            return 0
        place = self._offset(self._tag(_SYMBOLS)) + number * _SYMBOL
        return int(struct.unpack_from("<Q", self._data, place + 8)[0])

    def _tag(self, tag: int) -> int:
        if tag not in self._dynamic:
            raise ValueError(f"no dynamic tag {tag}")
        return self._dynamic[tag]

    def _offset(self, address: int) -> int:
        for kind, _, offset, start, _, in_file, _, _ in self._segments:
            if kind == _LOAD and start <= address < start + in_file:
                return int(offset + address - start)
        raise ValueError(f"no byte at address {address:#x}")
