"""Reading JSON objects at the border: frozen records from JSON values, with the place in every complaint.

`read` follows a record's quoted annotations, which thus are the format: `str`, `int` (0 or more), `float`
(finite), `bool`, `Literal['a', 'b']`, the name of another record, each of them with `| None` for a key that may
be missing or null, `tuple[X, ...]` for a list that may be missing, and `tuple[tuple[str, str], ...]` for an
object of texts.  A class attribute is the default for a missing key.  Unknown keys are refused.
"""

from reprobridge_launcher import cparts
from reprobridge_launcher.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Any, TypeVar

    R = TypeVar("R", bound=Record)
    Readers = dict[str, Any]
    """Name in an annotation to a record class, or to a function of JSON value and place."""

PAIRS = "tuple[tuple[str, str], ...]"
"""Annotation of an object of texts."""


class FormatError(ValueError):
    """A document doesn't have the form that it must have."""

    def __init__(self, place: str, expected: str, found: str) -> None:
        """Say where in the document, what belongs there, and what stands there."""
        super().__init__("{}: expected {}, found {}".format(place or "document", expected, found))
        self.place = place
        """Path to the value, such as `tasks[2].extract.regex`."""
        self.expected = expected
        """What belongs there."""
        self.found = found
        """What stands there, shortened."""


def shown(value: object) -> str:
    """Show a value in an error message: its JSON-like text, cut at 60 characters."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def document(path: str) -> object:
    """Read a JSON file; FormatError says where it is broken, or that there is none."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            content = stream.read()
    except OSError as error:
        raise FormatError(path, "a file", error.strerror or str(error)) from None
    try:
        return cparts.read_json(content)
    except (ValueError, RecursionError) as error:
        raise FormatError(path, "a JSON document", str(error)) from None


def without_schema(value: object, schema: str) -> "dict[str, object]":
    """Check a document's `schema` and return the rest of it."""
    rest = mapping(value, "")
    found = rest.pop("schema", None)
    if found != schema:
        raise FormatError("schema", schema, shown(found))
    return rest


def mapping(value: object, place: str) -> "dict[str, object]":
    """Return a copy of `value` if it is an object."""
    if not isinstance(value, dict):
        raise FormatError(place, "an object", shown(value))
    return dict(value)


def listed(value: object, place: str) -> "list[tuple[object, str]]":
    """Members of a list with their places."""
    if not isinstance(value, list):
        raise FormatError(place, "a list", shown(value))
    return [(item, "{}[{}]".format(place, i)) for i, item in enumerate(value)]


def read(cls: "type[R]", value: object, place: str, readers: "Readers") -> "R":
    """Read a record; `readers` has the records and functions that annotations name."""
    left = mapping(value, place)
    made = {}
    for name in cls._fields:
        key = name.rstrip("_")
        annotation = cls.__annotations__[name]
        at = "{}.{}".format(place, key) if place else key
        item = left.pop(key, None)
        if item is not None:
            made[name] = _value(annotation.replace(" | None", ""), item, at, readers)
        elif annotation.endswith("| None"):
            made[name] = None
        elif annotation.startswith("tuple["):
            made[name] = ()
        elif not hasattr(cls, name):
            raise FormatError(at, _described(annotation), "nothing")
    for key in sorted(left):
        known = ", ".join(name.rstrip("_") for name in cls._fields)
        raise FormatError(
            "{}.{}".format(place, key) if place else key, "one of the keys " + known, shown(left[key])
        )
    return cls(**made)


def _value(annotation: str, item: object, at: str, readers: "Readers") -> object:
    if annotation == PAIRS:
        return tuple((key, text(part, at + "." + key)) for key, part in sorted(mapping(item, at).items()))
    if annotation.startswith("tuple["):
        inner = annotation[6:].rsplit(",", 1)[0]
        return tuple(_value(inner, part, place, readers) for part, place in listed(item, at))
    if annotation.startswith("Literal["):
        if item not in annotation.split("'")[1::2]:
            raise FormatError(at, _described(annotation), shown(item))
        return item
    if annotation in SIMPLE:
        return SIMPLE[annotation](item, at)
    reader = readers[annotation]
    if isinstance(reader, type) and issubclass(reader, Record):
        return read(reader, item, at, readers)
    return reader(item, at)


def _described(annotation: str) -> str:
    words = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false"}
    if annotation.startswith("Literal["):
        return "one of " + ", ".join(annotation.split("'")[1::2])
    return words.get(annotation, "an object")


def text(value: object, place: str) -> str:
    """Return `value` if it is text."""
    if not isinstance(value, str):
        raise FormatError(place, "text", shown(value))
    return value


def whole(value: object, place: str) -> int:
    """Return `value` if it is a whole number of at least 0."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise FormatError(place, "a whole number of at least 0", shown(value))
    return value


def finite(value: object, place: str) -> float:
    """Return `value` as a float if it is a finite number and no boolean."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise FormatError(place, "a number", shown(value))
    try:
        if value - value == 0:
            return float(value)
    except OverflowError:
        pass
    raise FormatError(place, "a finite number", shown(value))


def truth(value: object, place: str) -> bool:
    """Return `value` if it is true or false."""
    if not isinstance(value, bool):
        raise FormatError(place, "true or false", shown(value))
    return value


SIMPLE = {"str": text, "int": whole, "float": finite, "bool": truth}
"""Readers of the plain types."""


def form(record: Record) -> "dict[str, object]":
    """JSON value of a record, the inverse of `read`; a record with a method `form` gives its own."""
    made = {}
    for name in record._fields:
        made[name.rstrip("_")] = _form(getattr(record, name), record.__annotations__[name])
    return made


def _form(value: object, annotation: str) -> object:
    if annotation == PAIRS:
        return dict(value)  # type: ignore[call-overload]
    if isinstance(value, Record):
        own = getattr(value, "form", None)
        return form(value) if own is None else own()
    if isinstance(value, tuple):
        return [_form(item, "") for item in value]
    return value
