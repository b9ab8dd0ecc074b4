"""The parts of a task about its number: `published`, `measurement`, `references`."""

from typing import Literal

from reprobridge.spec.decimals import midpoint
from reprobridge.spec.model import Measurement, Published, References, Spread
from reprobridge.spec.nodes import Entries, Node, Scalar, Sequence, printable, shown
from reprobridge.spec.paths import NamedFile
from reprobridge.spec.reading import Reading
from reprobridge.spec.scalars import NUMBER, TEXT, Choice, Whole
from reprobridge.spec.shapes import INVALID, Invalid, Key, ListOf, Record, Schema, Shape

UNKNOWN_PLACE = "not stated"
"""`where` of references that are a bare list."""


class Range(Shape[tuple[str, str]]):
    """Two numbers in order."""

    wanted = "two numbers, the lower one first: [98.5, 99.1]"

    def read(self, node: Node, reading: Reading) -> tuple[str, str] | Literal[Invalid.INVALID]:
        """Lower and upper bound."""
        if not isinstance(node, Sequence) or len(node.items) != 2:
            return self.refuse(node, reading)
        low, high = (NUMBER.read(item, reading) for item in node.items)
        if isinstance(low, Invalid) or isinstance(high, Invalid):
            return INVALID
        if float(low) > float(high):
            return self.refuse(node, reading, found=f"[{low}, {high}]")
        return low, high

    def schema(self) -> Schema:
        """An array of two."""
        return {"type": "array", "items": NUMBER.schema(), "minItems": 2, "maxItems": 2}


def _published(*, value: str | None, **rest: object) -> Published:
    printed = rest["range"]
    if value is None and isinstance(printed, tuple):
        value = midpoint(*printed)
    return Published(value=value or "", **rest)  # type: ignore[arg-type]  # typed by PUBLISHED


def _check_published(published: Published, node: Entries, reading: Reading) -> None:
    if not published.value:
        reading.report(node, "the key value, or range", "neither")
    elif published.range and published.value != (middle := midpoint(*published.range)):
        expected = f"{middle}, the midpoint of the range (or leave value out)"
        reading.report(node.items["value"], expected, published.value)


SPREAD = Record(
    Spread,
    {
        "value": Key(shape=NUMBER, doc="In the task's unit."),
        "kind": Key(
            shape=Choice("std", "sem", "ci95", "unknown"),
            doc="Standard deviation, standard error, 95 % interval, or not said.",
        ),
    },
)
"""The shape of `published.spread`."""

PUBLISHED = Record(
    _published,
    {
        "location": Key(shape=TEXT, doc="Where in the paper: Table 1, row LDA."),
        "raw": Key(shape=TEXT, doc="As printed."),
        "value": Key(
            shape=NUMBER, doc="In the task's unit; may be left out where a range is printed.", default=None
        ),
        "decimals": Key(shape=Whole(0, 30), doc="Decimals that the paper prints."),
        "range": Key(
            shape=Range(), doc="Bounds, where the paper prints a range: its midpoint counts.", default=None
        ),
        "spread": Key(shape=SPREAD, doc="Spread, where the paper prints one.", default=None),
    },
    check=_check_published,
)
"""The shape of `published`."""


def _check_measurement(measurement: Measurement, node: Entries, reading: Reading) -> None:
    if measurement.statistic != "value" and measurement.over is None:
        expected = f"the key over: what the {measurement.statistic} runs over"
        reading.report(node, expected, "no such key", "seeds, folds or runs")
    low, high = measurement.lower_bound, measurement.upper_bound
    if low is not None and high is not None and float(low) >= float(high):
        reading.report(node.items["upper_bound"], f"a number above the lower bound {low}", high)


MEASUREMENT = Record(
    Measurement,
    {
        "name": Key(shape=TEXT, doc="What is measured, for example accuracy."),
        "unit": Key(shape=TEXT, doc="Its unit, for example percent; never guessed or converted."),
        "direction": Key(shape=Choice("higher", "lower"), doc="Which is better."),
        "statistic": Key(
            shape=Choice("value", "mean", "median", "best", "last"),
            doc="How the parts of one observation become its value.",
            default="value",
        ),
        "over": Key(
            shape=Choice("seeds", "folds", "runs"),
            doc="What the statistic runs over; needed unless it is value.",
            default=None,
        ),
        "repeats": Key(
            shape=Whole(1, 1000),
            doc="How often the command runs for one observation, seeds apart.",
            default=1,
        ),
        "lower_bound": Key(shape=NUMBER, doc="The quantity is never below it.", default=None),
        "upper_bound": Key(shape=NUMBER, doc="The quantity is never above it.", default=None),
    },
    check=_check_measurement,
)
"""The shape of `measurement`."""

_OBSERVATIONS = ListOf(NUMBER, least=1)
_RECORD = Record(
    References,
    {
        "where": Key(shape=TEXT, doc="Where they ran and what they are."),
        "observations": Key(shape=_OBSERVATIONS, doc="Values in the task's unit."),
    },
)


class ReferencesShape(Shape[References]):
    """Observations with where they ran; a bare list; or the path of a YAML file with either."""

    wanted = (
        "observations: a mapping with where and observations, a list of numbers, or a file with one of them"
    )

    def read(self, node: Node, reading: Reading) -> References | Literal[Invalid.INVALID]:
        """The observations."""
        if isinstance(node, Scalar):
            return self._file(node, reading)
        if isinstance(node, Entries):
            return _RECORD.read(node, reading)
        values = _OBSERVATIONS.read(node, reading)
        return values if isinstance(values, Invalid) else References(observations=values, where=UNKNOWN_PLACE)

    def schema(self) -> Schema:
        """Any of the three."""
        return {"anyOf": [_RECORD.schema(), _OBSERVATIONS.schema(), {"type": "string"}]}

    def _file(self, node: Scalar, reading: Reading) -> References | Literal[Invalid.INVALID]:
        from reprobridge.spec.tree import BrokenYamlError
        from reprobridge.spec.yaml_tree import read_tree

        path = NamedFile(lambda *_: None).read(node, reading)
        if isinstance(path, Invalid):
            return INVALID
        try:
            root = read_tree(reading.files[path], printable(str(path)), place=f"{printable(str(path))}: ")
        except BrokenYamlError as error:
            reading.add(error.problem)
            return INVALID
        if isinstance(root, Scalar):
            return self.refuse(node, reading, found=f"{shown(path)} with something else")
        return self.read(root, reading)


REFERENCES = ReferencesShape()
"""The shape of `references`."""
