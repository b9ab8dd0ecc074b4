"""Reading JSON into our frozen types by their annotations: strict, with the place of whatever is wrong.

Understands what the lock's model is made of: text, numbers, booleans, digests, optional values, tuples,
mappings by text, and frozen types (`frozen.py`) of these. Keys must be exactly the fields, but for those that a
type lists in `LATER`, which may be missing.
"""

import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from reprobridge.digest import Digest
from reprobridge.frozen import field_names, is_frozen

T = TypeVar("T")
_Reader = Callable[[object, str], Any]


class Undecodable(ValueError):
    """A value that does not fit its type."""

    def __init__(self, place: str, expected: str, found: object) -> None:
        super().__init__(f"{place}: expected {expected}, found {found!r}")
        self.place, self.expected, self.found = place, expected, _short(found)


def decode(kind: type[T], value: object, place: str = "") -> T:
    """Read a JSON value as a frozen type. Raises Undecodable."""
    return _reader(typing.cast(Any, kind))(value, place)  # type: ignore[no-any-return]


@cache
def _reader(kind: Any) -> _Reader:
    """The function that reads values of this type."""
    if kind in (str, int, bool):
        return lambda value, place: _scalar(kind, value, place)
    if kind is Digest:
        return _digest
    if is_frozen(kind):
        return _frozen_reader(typing.cast(type[object], kind))
    arguments = typing.get_args(kind)
    if isinstance(kind, types.UnionType):
        inner = _reader(arguments[0])
        return lambda value, place: None if value is None else inner(value, place)
    if typing.get_origin(kind) is tuple:
        item = _reader(arguments[0])
        return lambda value, place: _tuple(item, value, place)
    item = _reader(arguments[1])
    return lambda value, place: _mapping(item, value, place)


def _scalar(kind: type, value: object, place: str) -> object:
    if type(value) is not kind:
        raise Undecodable(place, {str: "text", int: "a whole number", bool: "true or false"}[kind], value)
    return value


def _digest(value: object, place: str) -> Digest:
    try:
        return Digest.parse(str(value))
    except ValueError:
        raise Undecodable(place, "sha256:<64 hexadecimal digits>", value) from None


def _tuple(item: _Reader, value: object, place: str) -> tuple[object, ...]:
    if not isinstance(value, list):
        raise Undecodable(place, "a list", value)
    return tuple(item(element, f"{place}[{number}]") for number, element in enumerate(value))


def _mapping(item: _Reader, value: object, place: str) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise Undecodable(place, "an object", value)
    return {str(key): item(element, f"{place}.{key}".lstrip(".")) for key, element in value.items()}


def _frozen_reader(kind: type[object]) -> _Reader:
    hints = typing.get_type_hints(kind)
    names = field_names(kind)
    readers = {name: _reader(hints[name]) for name in names}
    required = [name for name in names if name not in getattr(kind, "LATER", ())]

    def read(value: object, place: str) -> object:
        if not isinstance(value, Mapping):
            raise Undecodable(place or "the whole", "an object", value)
        for key in value:
            if key not in readers:
                raise Undecodable(_below(place, key), f"one of the keys {', '.join(sorted(readers))}", key)
        for key in required:
            if key not in value:
                raise Undecodable(_below(place, key), "a value", "nothing")
        fields = {
            key: reader(value[key], _below(place, key)) for key, reader in readers.items() if key in value
        }
        try:
            return kind(**fields)
        except ValueError as error:
            raise Undecodable(place or "the whole", str(error), value) from error

    return read


def _below(place: str, key: object) -> str:
    return f"{place}.{key}" if place else str(key)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
