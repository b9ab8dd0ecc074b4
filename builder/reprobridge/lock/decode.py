"""Reading JSON into our frozen types by their annotations: strict, with the place of whatever is wrong.

Understands what the lock's model is made of: text, numbers, booleans, digests, optional values, tuples,
mappings by text, and frozen types (`frozen.py`) of these. Keys must be exactly the fields, but for those that a
type lists in `LATER`, which may be missing.
"""

import functools
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from reprobridge.digest import Digest
from reprobridge.frozen import field_names, is_frozen

T = TypeVar("T")
_Reader = Callable[[object], Any]


class Undecodable(ValueError):
    """A value that does not fit its type."""

    def __init__(self, expected: str, found: object, place: str = "") -> None:
        super().__init__(expected, found)
        self.expected, self.found = expected, short(found)
        self._place = place

    @property
    def place(self) -> str:
        """Where it stands, such as `python.wheels[3].sha256`."""
        return self._place or "the whole"

    def below(self, outer: str) -> "Undecodable":
        """The same, seen from the value around it, in which it stands at `outer`."""
        # Places grow as the error rises, so that reading what is right builds none.
        inner = self._place
        self._place = outer + (f".{inner}" if inner and not inner.startswith("[") else inner)
        return self

    def __str__(self) -> str:
        return f"{self.place}: expected {self.expected}, found {self.found}"


def decode(kind: type[T], value: object) -> T:
    """Read a JSON value as a frozen type. Raises Undecodable."""
    return _reader(typing.cast(Any, kind))(value)  # type: ignore[no-any-return]


@functools.cache
def _reader(kind: Any) -> _Reader:
    """The function that reads values of this type."""
    if kind in (str, int, bool):
        return functools.partial(_scalar, kind)
    if kind is Digest:
        return _digest
    if is_frozen(kind):
        return _frozen_reader(typing.cast(type[object], kind))
    arguments = typing.get_args(kind)
    if isinstance(kind, types.UnionType):
        inner = _reader(arguments[0])
        return lambda value: None if value is None else inner(value)
    if typing.get_origin(kind) is tuple:
        return functools.partial(_tuple, _reader(arguments[0]))
    return functools.partial(_mapping, _reader(arguments[1]))


def _scalar(kind: type, value: object) -> object:
    if type(value) is not kind:
        raise Undecodable({str: "text", int: "a whole number", bool: "true or false"}[kind], value)
    if kind is str and not str(value).isascii() and any("\ud800" <= one <= "\udfff" for one in str(value)):
        raise Undecodable("text that can be written in UTF-8", value)
    return value


def _digest(value: object) -> Digest:
    try:
        return Digest.parse(str(value))
    except ValueError:
        raise Undecodable("sha256:<64 hexadecimal digits>", value) from None


def _tuple(item: _Reader, value: object) -> tuple[object, ...]:
    if not isinstance(value, list):
        raise Undecodable("a list", value)
    return tuple(_below(item, element, f"[{number}]") for number, element in enumerate(value))


def _mapping(item: _Reader, value: object) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise Undecodable("an object", value)
    return {str(key): _below(item, element, str(key)) for key, element in value.items()}


def _below(reader: _Reader, value: object, key: str) -> Any:
    try:
        return reader(value)
    except Undecodable as error:
        raise error.below(key) from None


def _frozen_reader(kind: type[object]) -> _Reader:
    hints = typing.get_type_hints(kind)
    names = field_names(kind)
    readers = {name: _reader(hints[name]) for name in names}
    required = [name for name in names if name not in getattr(kind, "LATER", ())]

    def read(value: object) -> object:
        if not isinstance(value, Mapping):
            raise Undecodable("an object", value)
        for key in value:
            if key not in readers:
                raise Undecodable(f"one of the keys {', '.join(sorted(readers))}", key, str(key))
        for key in required:
            if key not in value:
                raise Undecodable("a value", "nothing", key)
        fields = {key: _below(reader, value[key], key) for key, reader in readers.items() if key in value}
        try:
            return kind(**fields)
        except ValueError as error:
            raise Undecodable(str(error), value) from error

    return read


def short(value: object) -> str:
    """A value for the "found" of a message."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
