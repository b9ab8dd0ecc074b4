"""The format of /rra/references.json: what independent reproductions of each task measured.

Schema `reprobridge.references/1`:

    {"schema": ..., "tasks": {"lda": {"observations": [98.88, [98.8, 99.0]], "where": "...",
                                      "interval": {"confidence": 0.95, "floor": 0.01, "floor_basis": "reference_mean",
                                                   "lower": 0, "upper": 100}}}}

An observation that is a pair is a reported range and counts as its midpoint; the pair is kept.
The file may be absent: agents under evaluation must not see it.
"""

import os

from reprobridge_launcher import fields, interval
from reprobridge_launcher.record import Record

SCHEMA = "reprobridge.references/1"
"""Value of `schema`."""


class Reference(Record):
    """Observations of one task."""

    observations: "tuple[float, ...]"
    """In the measurement's unit; the midpoint of a reported range."""
    ranges: "tuple[tuple[float, float] | None, ...]"
    """The reported range of each observation, None where one number was reported."""
    policy: "interval.Policy"
    """How the interval is derived from them."""
    where: "str"
    """Who measured them, where and how."""


def load(path: str) -> "dict[str, Reference]":
    """Read the references file by task id; a missing file is no references."""
    return parse(fields.document(path)) if os.path.exists(path) else {}


def parse(value: object) -> "dict[str, Reference]":
    """Read references from their JSON value; FormatError says what is wrong and where."""
    rest = fields.without_schema(value, SCHEMA)
    tasks = fields.mapping(rest.pop("tasks", None), "tasks")
    for key in rest:
        raise fields.FormatError(key, "one of the keys schema, tasks", fields.shown(rest[key]))
    return {task: _reference(tasks[task], "tasks." + task) for task in sorted(tasks)}


def _reference(value: object, place: str) -> Reference:
    given = fields.mapping(value, place)
    observed = [
        _observation(*item)
        for item in fields.listed(given.pop("observations", None), place + ".observations")
    ]
    if not observed:
        raise fields.FormatError(place + ".observations", "at least one observation", "none")
    made = Reference(
        observations=tuple(midpoint for midpoint, _range in observed),
        ranges=tuple(reported for _midpoint, reported in observed),
        policy=fields.read(interval.Policy, given.pop("interval", {}), place + ".interval", {}),
        where=fields.text(given.pop("where", None), place + ".where"),
    )
    for key in given:
        raise fields.FormatError(place + "." + key, "one of the keys observations, interval, where", "it")
    try:
        interval.derive(made.observations, made.policy)
    except ValueError as error:
        raise fields.FormatError(place + ".interval", "how an interval is derived", str(error)) from None
    return made


def _observation(value: object, place: str) -> "tuple[float, tuple[float, float] | None]":
    if not isinstance(value, list):
        return fields.finite(value, place), None
    ends = [fields.finite(item, at) for item, at in fields.listed(value, place)]
    if len(ends) != 2 or ends[0] > ends[1]:
        raise fields.FormatError(place, "a number or a pair of lower and upper end", fields.shown(value))
    return (ends[0] + ends[1]) / 2, (ends[0], ends[1])
