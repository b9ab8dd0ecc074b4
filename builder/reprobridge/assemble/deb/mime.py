"""A package's list of types of files (shared-mime-info), read into the rules that programs look types up by.

Without what `update-mime-database` makes of all such lists, GLib knows no type of any file, and gdk-pixbuf, which
asks it, opens no image. The lists are XML of some MiB, mostly translations; what stands here is the rest.
Format: the Shared MIME-info Database specification; magic as in its file `magic`.
"""

import re
import struct
from collections.abc import Mapping
from typing import NamedTuple

LIMIT = 16 << 20
"""Most bytes of a list; the largest has 3 MiB."""
LISTS = re.compile(r"usr/share/mime/packages/[^/]+\.xml")
"""Where packages have their lists."""
GLOB, EXACT_GLOB, NO_GLOBS = "glob", "case-sensitive", "glob-deleteall"
"""Kinds of rules: a pattern, one for exactly this case, and that those of less important databases do not count."""
MAGIC, NO_MAGIC = "magic", "magic-deleteall"
"""Likewise for contents."""
_NAMES: Mapping[str, str] = {"alias": "type", "sub-class-of": "type", "icon": "name", "generic-icon": "name"}
"""Kinds of rules that only name something, by the attribute in which they do."""
_NAMESPACE = "http://www.freedesktop.org/standards/shared-mime-info"
_ESCAPE = re.compile(rb"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.|$)", re.DOTALL)
_LETTERS: Mapping[bytes, bytes] = {
    b"n": b"\n",
    b"r": b"\r",
    b"b": b"\b",
    b"t": b"\t",
    b"f": b"\f",
    b"v": b"\v",
}
_SIZES: Mapping[str, int] = {
    "byte": 1,
    **dict.fromkeys(("big16", "little16", "host16"), 2),
    **dict.fromkeys(("big32", "little32", "host32"), 4),
}
"""Kinds of numbers in contents, and their bytes."""


class MimeRule(NamedTuple):
    """One rule about a type."""

    type: str
    """Such as `image/png`."""
    kind: str
    """Name of its element, or one of those above."""
    weight: int
    """Who wins among rules that fit: the highest."""
    text: str
    """Pattern, other type, icon, or the lines of magic as Latin-1 text."""


def mime_rules(data: bytes) -> tuple[MimeRule, ...]:
    """The rules of a list in its order; none for what is no list, as `update-mime-database` has it."""
    from xml.parsers import expat

    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.EntityDeclHandler = _refuse_entities
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError):
        return ()
    return tuple(reader.rules)


def _refuse_entities(*_: object) -> None:
    raise ValueError("entities, which may be of any size")


class _Reader:
    """Gathers rules from the elements of a list. Raises ValueError or LookupError for broken ones."""

    def __init__(self) -> None:
        self.rules: list[MimeRule] = []
        self._type = ""
        self._priority = 0
        self._depth = 0
        self._lines: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the beginning of an element; expat puts its namespace before the name."""
        match _element(name):
            case "mime-type":
                self._type = attributes["type"]
                if not re.fullmatch(r"[^/\s:]+/[^/\s:]+", self._type):
                    raise ValueError("no type")
            case "glob":
                self._add_glob(attributes)
            case "magic":
                self._priority, self._depth, self._lines = _weight(attributes, "priority"), 0, []
            case "match":
                self._lines.append(f"{self._depth or ''}{_magic_line(attributes)}")
                self._depth += 1
            case "glob-deleteall" | "magic-deleteall" as kind:
                self._add(kind, 0, "")
            case kind if kind in _NAMES:
                self._add(kind, 0, _one_line(attributes[_NAMES[kind]]))

    def end(self, name: str) -> None:
        """Take the end of an element."""
        match _element(name):
            case "match":
                self._depth -= 1
            case "magic":
                self._add(MAGIC, self._priority, "".join(self._lines))

    def _add(self, kind: str, weight: int, text: str) -> None:
        self.rules.append(MimeRule(self._type, kind, weight, text))

    def _add_glob(self, attributes: Mapping[str, str]) -> None:
        pattern, exact = _one_line(attributes["pattern"]), attributes.get("case-sensitive") == "true"
        weight = _weight(attributes, "weight")
        self._add(EXACT_GLOB if exact else GLOB, weight, pattern if exact else _lower(pattern))


def _element(name: str) -> str:
    """The name of an element of such lists; empty for others."""
    space, _, own = name.rpartition(" ")
    return own if space == _NAMESPACE else ""


def _lower(text: str) -> str:
    """ASCII letters only."""
    return re.sub(r"[A-Z]+", lambda found: found[0].lower(), text)


def _one_line(text: str) -> str:
    if not text or "\n" in text:
        raise ValueError("a text of one line was expected")
    return text


def _weight(attributes: Mapping[str, str], name: str) -> int:
    weight = int(attributes.get(name, "50"))
    if not 0 <= weight <= 100:
        raise ValueError("a weight of 0 to 100 was expected")
    return weight


# contents


def _magic_line(attributes: Mapping[str, str]) -> str:
    """A line of the file `magic`, without its depth: place, length, bytes, mask, size of a word, range."""
    kind = attributes["type"]
    first, _, last = attributes["offset"].partition(":")
    data = _value(kind, attributes["value"])
    line = f">{int(first)}=".encode() + struct.pack(">H", _require(len(data), 0xFFFF)) + data
    if (mask := attributes.get("mask")) is not None:
        line += b"&" + (_string_mask(mask, len(data)) if kind == "string" else _value(kind, mask))
    if kind.startswith("host"):
        line += f"~{_SIZES[kind]}".encode()
    if last and last != first:
        line += f"+{int(last) - int(first) + 1}".encode()
    return f"{line.decode('latin-1')}\n"


def _value(kind: str, text: str) -> bytes:
    if kind == "string":
        return _ESCAPE.sub(_unescaped, text.encode())
    size = _SIZES[kind]
    number = int(text, 8 if re.fullmatch(r"0[0-7]+", text) else 0)
    return _require(number, (1 << 8 * size) - 1).to_bytes(size, "little" if kind[0] == "l" else "big")


def _unescaped(escape: "re.Match[bytes]") -> bytes:
    """As in C, but that unknown letters stand for themselves."""
    text = escape[1]
    if re.fullmatch(rb"x[0-9a-fA-F]+", text):
        return bytes([int(text[1:], 16)])
    if re.fullmatch(rb"[0-7]+", text):
        return bytes([int(text, 8) & 0xFF])
    return _LETTERS.get(text, text)


def _string_mask(mask: str, size: int) -> bytes:
    if not re.fullmatch(r"0x[0-9a-fA-F]*", mask):
        raise ValueError("a mask in hexadecimal was expected")
    _require(len(mask) - 2, 2 * size)
    return bytes.fromhex(mask[2:].ljust(2 * size, "0"))


def _require(number: int, most: int) -> int:
    if not 0 <= number <= most:
        raise ValueError(f"{number} does not fit")
    return number
