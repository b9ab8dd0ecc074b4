"""The C halves of standard modules, without their costly Python halves.

Without bytecode `import json` takes 120 ms, `re` 110 ms, `signal` 50 ms (Python 3.11, one 2-core machine),
nearly all of it for `enum`, `functools` and `collections`, which the C code doesn't need.
Each function falls back to the public module where an interpreter has no such C half, so the result is the
same and only the time differs.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    import re
    from typing import Any, Callable, Protocol

    Scanner = Callable[[str, int], tuple[object, int]]
    """Takes a text and where a value begins; gives the value and where it ends."""

    class Hash(Protocol):
        """A running SHA-256."""

        def update(self, data: bytes) -> None:
            """Add bytes."""

        def hexdigest(self) -> str:
            """Digest so far in hexadecimal."""


ONE_PIECE = 1 << 20
"""Bytes that are read at once."""


class _JsonContext:
    """Settings that the C scanner reads: strict strings, plain floats and integers, no duplicate names."""

    strict = True
    object_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float

    @staticmethod
    def object_pairs_hook(pairs: "list[tuple[str, object]]") -> "dict[str, object]":
        """Build an object; a name that occurs twice is an error (RFC 8259 leaves its meaning open)."""
        made = dict(pairs)
        if len(made) != len(pairs):
            names = [name for name, _value in pairs]
            raise ValueError("{} occurs twice".format(next(n for n in names if names.count(n) > 1)))
        return made


def json_scanner() -> "Scanner":
    """Return the function that reads one JSON value of a text.

    For broken text it raises StopIteration or ValueError; with Python 3.10 and 3.11 SystemError instead of the
    latter as long as nobody has imported `json.decoder`, so `read_json` must have found the text whole before.
    """
    try:
        from _json import make_scanner
    except ImportError:
        from json.decoder import JSONDecoder  # Python's own scanner wants more of its context

        decoder = JSONDecoder(object_pairs_hook=_JsonContext.object_pairs_hook, parse_constant=float)
        return decoder.scan_once  # type: ignore[attr-defined,no-any-return]
    return make_scanner(_JsonContext)  # type: ignore[arg-type]


def read_json(text: str) -> object:
    """Parse one JSON document; ValueError says where it is broken."""
    start = skip_space(text, 0)
    try:
        value, end = _scanned(text, start)
    except StopIteration as stop:
        raise ValueError("broken JSON at character {}".format(stop.value)) from None
    if skip_space(text, end) != len(text):
        raise ValueError("text after the JSON document at character {}".format(end))
    return value


def _scanned(text: str, start: int) -> "tuple[object, int]":
    """Scan one value, and again where the scanner lacked the class of the error that it wanted to raise.

    With Python 3.10 and 3.11 it takes the class from `json.decoder` but doesn't import that, and fails without any
    error set.  What the import costs is paid for broken texts only.
    """
    try:
        return json_scanner()(text, start)
    except SystemError:
        __import__("json.decoder")
        return json_scanner()(text, start)


def skip_space(text: str, at: int) -> int:
    """Position of the first character from `at` on that isn't JSON white space."""
    while at < len(text) and text[at] in " \t\n\r":
        at += 1
    return at


def json_text(value: object, indent: str = "") -> str:
    """Write a value as indented JSON, in the order of its keys, ASCII only, ending without a newline."""
    deeper = indent + "  "
    if isinstance(value, dict) and value:
        inner = [quoted(key) + ": " + json_text(value[key], deeper) for key in value]
        return "{\n" + deeper + (",\n" + deeper).join(inner) + "\n" + indent + "}"
    if isinstance(value, (list, tuple)) and value:
        inner = [json_text(item, deeper) for item in value]
        return "[\n" + deeper + (",\n" + deeper).join(inner) + "\n" + indent + "]"
    if isinstance(value, str):
        return quoted(value)
    return _scalar(value)


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value - value != 0.0:
        raise ValueError("JSON has no {!r}".format(value))
    if isinstance(value, (int, float)):
        return repr(value)
    if value == {}:
        return "{}"
    if isinstance(value, (list, tuple)):
        return "[]"
    raise TypeError("no JSON for {}".format(type(value).__name__))


def quoted(text: str) -> str:
    """Quote a string for JSON in ASCII."""
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        from json.encoder import py_encode_basestring_ascii as encode_basestring_ascii
    return str(encode_basestring_ascii(text))


def compile_bytes_pattern(pattern: str) -> "re.Pattern[bytes]":
    """Compile a regular expression that is matched against bytes; ValueError says what is wrong with it."""
    compiler = sys.modules["re"].compile if "re" in sys.modules else _sre_compiler()
    try:
        return compiler(pattern.encode("utf-8"), 0)
    except (OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from None
    except Exception as error:
        # The engine's own error class can't be imported without the cost that this module avoids.
        if type(error).__name__ not in ("error", "PatternError"):
            raise
        raise ValueError(str(error)) from None


def _sre_compiler() -> "Callable[[bytes, int], re.Pattern[bytes]]":
    """Return `compile` of the engine's own package, without what the module `re` adds to it (85 ms).

    Up to Python 3.10 it is the module `sre_compile`.  Later it lies inside of the package `re`, whose
    `__init__` costs the time: a bare package takes its place while the submodules are imported.
    """
    if sys.version_info < (3, 11):
        from sre_compile import compile as old_compile

        return old_compile
    bare = type(sys)("re")
    bare.__path__ = [os.path.join(os.path.dirname(os.__file__), "re")]
    sys.modules["re"] = bare
    try:
        from re._compiler import compile as new_compile  # type: ignore[import-not-found,unused-ignore]

        return new_compile  # type: ignore[no-any-return,unused-ignore]
    except ImportError:
        pass
    finally:
        del sys.modules["re"]
    import re

    return re.compile


def signals() -> "Any":
    """Return the module with `signal` and the SIG... numbers as plain integers."""
    try:
        import _signal  # type: ignore[import-not-found]
    except ImportError:
        import signal

        return signal
    return _signal


def sha256(size: int = 0) -> "Hash":
    """Start a SHA-256 of about so many bytes.

    OpenSSL's takes 8 ms to load and then hashes a few times faster than Python's own, which is built in.
    """
    if size < ONE_PIECE and "_hashlib" not in sys.modules:
        try:
            if sys.version_info >= (3, 12):
                from _sha2 import sha256 as own_sha256  # type: ignore[import-not-found]
            else:
                from _sha256 import sha256 as own_sha256  # type: ignore[import-not-found]
            return own_sha256()  # type: ignore[no-any-return]
        except ImportError:
            pass
    import hashlib

    return hashlib.sha256()


def file_digest(path: str) -> "tuple[str, int]":
    """SHA-256 and size of a file, read in pieces of 1 MiB."""
    digest = sha256(os.path.getsize(path))
    size = 0
    with open(path, "rb", 0) as stream:
        while True:
            piece = stream.read(ONE_PIECE)
            if not piece:
                return digest.hexdigest(), size
            digest.update(piece)
            size += len(piece)
