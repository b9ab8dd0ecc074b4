"""What a value may look like: each shape reads a node into a typed value and says the same as JSON Schema.

So the parser, the schema for editors and the reference page come from one table (`document.py`).
A shape never raises for what an author wrote: it reports a problem and returns INVALID.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final, Generic, Literal, TypeVar

from reprobridge.frozen import frozen
from reprobridge.spec.letters import with_odd_character
from reprobridge.spec.nodes import Entries, Node, Scalar, Sequence, below, describe, is_null, shown
from reprobridge.spec.reading import Reading

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

Schema = dict[str, object]
"""A JSON Schema (2020-12)."""


class Invalid(Enum):
    """The type of INVALID."""

    INVALID = "invalid"


_GUESSES = 100  # nobody reads more hints, and a hostile file must not cost minutes

_LONGEST_WORD = 40  # the comparison's time grows with the square of the length
INVALID: Final = Invalid.INVALID
"""Stands for a value whose problems were reported."""


class Shape(Generic[T_co]):
    """Base of all shapes."""

    wanted: str = "a value"
    """What belongs there, as a message says it."""

    def read(self, node: Node, reading: Reading) -> T_co | Literal[Invalid.INVALID]:
        """The value at a node, or INVALID after a report."""
        raise NotImplementedError

    def schema(self) -> Schema:
        """The JSON Schema of what `read` accepts, as far as JSON Schema can say it."""
        raise NotImplementedError

    def refuse(
        self, node: Node, reading: Reading, hint: str | None = None, found: str | None = None
    ) -> Literal[Invalid.INVALID]:
        """Report that something else stands there."""
        reading.report(node, self.wanted, found or describe(node), hint)
        return INVALID


class ListOf(Shape[tuple[T, ...]]):
    """A list whose items have one shape."""

    def __init__(self, item: Shape[T], *, least: int = 0, distinct: bool = False) -> None:
        self.item = item
        """The shape of each item."""
        self._least, self._distinct = least, distinct
        self.wanted = f"a list with {item.wanted} each"

    def read(self, node: Node, reading: Reading) -> tuple[T, ...] | Literal[Invalid.INVALID]:
        """All items; one that is wrong makes the list INVALID after all were read."""
        if not isinstance(node, Sequence):
            written = isinstance(node, Scalar) and not is_null(node)
            hint = f"write it as a list: [{describe(node)}]" if written else None
            return self.refuse(node, reading, hint)
        if len(node.items) < self._least:
            reading.report(node, f"at least {self._least}: {self.wanted}", describe(node))
            return INVALID
        read = [self.item.read(item, reading) for item in node.items]
        values = tuple(value for value in read if not isinstance(value, Invalid))
        if len(values) < len(read):
            return INVALID
        seen: set[T] = set()
        for item, value in zip(node.items, values if self._distinct else (), strict=False):
            if value in seen:
                return self.refuse(item, reading, "each item once is enough", f"{describe(item)} again")
            seen.add(value)
        return values

    def schema(self) -> Schema:
        """An array."""
        schema: Schema = {"type": "array", "items": self.item.schema()}
        schema |= {"minItems": self._least} if self._least else {}
        return schema | ({"uniqueItems": True} if self._distinct else {})


class MapOf(Shape[dict[str, T]]):
    """A mapping from words of the author's own to values of one shape."""

    def __init__(self, key: Shape[str], value: Shape[T], *, least: int = 0) -> None:
        self._key, self._value, self._least = key, value, least
        self.wanted = f"a mapping from {key.wanted} to {value.wanted}"

    def read(self, node: Node, reading: Reading) -> dict[str, T] | Literal[Invalid.INVALID]:
        """All entries, sorted by key: their order has no meaning."""
        if not isinstance(node, Entries) or len(node.items) < self._least:
            return self.refuse(node, reading)
        read: dict[str, T] = {}
        for name, item in sorted(node.items.items()):
            key = self._key.read(Scalar(item.place, item.line, name, plain=False), reading)
            value = self._value.read(item, reading)
            if not isinstance(key, Invalid) and not isinstance(value, Invalid):
                read[key] = value
        return read if len(read) == len(node.items) else INVALID

    def schema(self) -> Schema:
        """An object with any keys of the right form."""
        schema: Schema = {"type": "object", "propertyNames": self._key.schema()}
        schema |= {"minProperties": self._least} if self._least else {}
        return schema | {"additionalProperties": self._value.schema()}


REQUIRED: Final = Invalid.INVALID
"""Default of a key that must be written."""


@frozen(kw_only=True)
class Key:
    """A key of a record."""

    shape: Shape[object]
    """What its value looks like."""
    doc: str
    """What it means, in a sentence; goes into schema and reference."""
    default: object = REQUIRED
    """Value where the key is missing or null."""
    attribute: str | None = None
    """Name of the argument that takes the value, where it is not the key itself."""

    @property
    def required(self) -> bool:
        """Whether the key must be written."""
        return self.default is REQUIRED


class Record(Shape[T_co]):
    """A mapping with fixed keys."""

    wanted = "a mapping"

    def __init__(
        self,
        make: Callable[..., T_co],
        keys: Mapping[str, Key],
        *,
        check: Callable[[T_co, Entries, Reading], None] | None = None,
        unsupported: Mapping[str, str] | None = None,
    ) -> None:
        self._make, self._check = make, check
        self.keys = dict(keys)
        """The keys by name, in the order of the reference."""
        self.unsupported = dict(unsupported or {})
        """Keys that the format has but this release can't honour -> what they stand for."""

    def read(self, node: Node, reading: Reading) -> T_co | Literal[Invalid.INVALID]:
        """The value made of all keys, if each of them and the record's own check is right."""
        if not isinstance(node, Entries):
            return self.refuse(node, reading, f"its keys are {', '.join(self.keys)}")
        misspelt = self._refuse_unknown(node, reading)
        values = {
            key.attribute or name: self._value(node, name, reading)
            for name, key in self.keys.items()
            if name not in misspelt
        }
        if misspelt or set(node.items) - set(self.keys) or INVALID in values.values():
            return INVALID
        before = reading.count
        made = self._make(**values)
        if self._check:
            self._check(made, node, reading)
        return made if reading.count == before else INVALID

    def schema(self) -> Schema:
        """An object with exactly these keys."""
        properties = {name: key.shape.schema() | {"description": key.doc} for name, key in self.keys.items()}
        for name, key in self.keys.items():
            if not key.required:
                properties[name] = _or_null(properties[name])
        required = [name for name, key in self.keys.items() if key.required]
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    def _value(self, node: Entries, name: str, reading: Reading) -> object:
        key, item = self.keys[name], node.items.get(name)
        if item is not None and not (is_null(item) and not key.required):
            return key.shape.read(item, reading)
        if key.required:
            missing = Scalar(below(node.place, name), node.line, "", plain=True)
            reading.report(missing, key.shape.wanted, "nothing (the key is missing)")
        return key.default

    def _refuse_unknown(self, node: Entries, reading: Reading) -> set[str]:
        """Report keys that don't belong here; returns those of ours that they were probably meant to be."""
        meant: set[str] = set()
        for name, item in node.items.items():
            if name in self.keys:
                continue
            if name in self.unsupported:
                expected = f"no key {name}: {self.unsupported[name]} not supported by this release"
                reading.report(item, expected, describe(item), "leave it out, or use a release that has it")
                continue
            free = [key for key in self.keys if key not in node.items]
            guess = reading.guess(name, free)
            known = f"did you mean {guess}?" if guess else f"keys here are {', '.join(self.keys)}"
            hint = with_odd_character(known, name)
            reading.report(item, "a key of the format", f"the unknown key {shown(name)}", hint)
            meant |= {guess} if guess else set()
        return meant


class Variants(Shape[T_co]):
    """A record that is one of several, told apart by the one key of `records` that it has."""

    def __init__(self, records: Mapping[str, Record[T_co]]) -> None:
        self.records = dict(records)
        """Records by the key that stands for them."""
        self.wanted = f"a mapping with exactly one of {', '.join(records)}"

    def read(self, node: Node, reading: Reading) -> T_co | Literal[Invalid.INVALID]:
        """The value of the one record whose key is there."""
        if not isinstance(node, Entries):
            return self.refuse(node, reading)
        present = [name for name in self.records if name in node.items]
        if len(present) == 1:
            return self.records[present[0]].read(node, reading)
        if present:
            return self.refuse(node, reading, found=" and ".join(present))
        guesses = (reading.guess(name, list(self.records)) for name in list(node.items)[:10])
        guess = next(filter(None, guesses), None)
        return self.refuse(node, reading, f"did you mean {guess}?" if guess else None)

    def schema(self) -> Schema:
        """Exactly one of the records."""
        return {"oneOf": [record.schema() for record in self.records.values()]}


def _or_null(schema: Schema) -> Schema:
    """The schema, or null: what an optional key may hold."""
    kind = schema.get("type")
    if "enum" in schema:
        return schema | {"enum": [*_texts(schema["enum"]), None]}
    if kind is None:
        return {"anyOf": [schema, {"type": "null"}], "description": schema["description"]}
    return schema | {"type": [*_texts(kind), "null"]}


def _texts(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
