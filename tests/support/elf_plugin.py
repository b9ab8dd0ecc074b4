"""A plugin of Graphviz as a linker would write it: the tables of `gvplugin_library_t` in a small ELF file.

data = elf_plugin("core", {0: [("svg", 1)], 3: [("svg:svg", 1)]})

Addresses are offsets: one segment holds the file. Pointers are relocations whose addends are addresses.
"""

import struct
from collections.abc import Mapping, Sequence

_HEADER, _PROGRAM, _DYNAMIC = 64, 56, 16
_RELATIVE = 8


def elf_plugin(name: str, apis: Mapping[int, Sequence[tuple[str, int]]]) -> bytes:
    """A plugin: number of an API -> (type, quality) of what it offers."""
    texts = _Texts(["", f"gvplugin_{name}_LTX_library", name])
    rows = [row for types in apis.values() for row in types]
    for kind, _ in rows:
        texts.add(kind)
    symbols = _HEADER + 2 * _PROGRAM + 5 * _DYNAMIC
    strings = symbols + 2 * 24
    library = strings + -len(texts.data) % 8 + len(texts.data)
    tables = library + 16 + 16 * (len(apis) + 1)
    pointers = {library: strings + texts.at(name), library + 8: library + 16}
    body, place = b"", tables
    heads = b""
    for number, (api, types) in enumerate(apis.items()):
        heads += struct.pack("<iiQ", api, 0, 0)
        pointers[library + 16 + 16 * number + 8] = place
        for kind, quality in types:
            pointers[place + 8] = strings + texts.at(kind)
            body += struct.pack("<iiQiiQQ", 0, 0, 0, quality, 0, 0, 0)
            place += 40
        body += bytes(40)
        place += 40
    relocations = b"".join(struct.pack("<QQq", at, _RELATIVE, to) for at, to in sorted(pointers.items()))
    end = place + len(relocations)
    dynamic = [(5, strings), (6, symbols), (7, place), (8, len(relocations)), (0, 0)]
    parts = [
        b"\x7fELF\x02\x01"
        + bytes(10)
        + struct.pack("<HHIQQQIHHH", 3, 62, 1, 0, _HEADER, 0, 0, 64, _PROGRAM, 2),
        bytes(6),
        struct.pack("<IIQQQQQQ", 1, 4, 0, 0, 0, end, end, 8),
        struct.pack("<IIQQQQQQ", 2, 4, symbols - 5 * _DYNAMIC, symbols - 5 * _DYNAMIC, 0, 5 * _DYNAMIC, 0, 8),
        *(struct.pack("<QQ", *row) for row in dynamic),
        bytes(24),
        struct.pack("<IBBHQQ", texts.at(f"gvplugin_{name}_LTX_library"), 17, 0, 1, library, 16),
        texts.data + bytes(-len(texts.data) % 8),
        bytes(16),
        heads + bytes(16),
        body,
        relocations,
    ]
    return b"".join(parts)


class _Texts:
    """A string table."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.data = b""
        self._places: dict[str, int] = {}
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Put a text in, once."""
        if text not in self._places:
            self._places[text] = len(self.data)
            self.data += text.encode() + b"\0"

    def at(self, text: str) -> int:
        """Where a text starts."""
        return self._places[text]
