"""Comparing JSON documents field by field.

A list whose items are mappings with distinct ids is compared by id, so that one inserted task is one
difference; every other list is a value.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from reprobridge.digest import Json
from reprobridge.replicate.difference.model import FieldChange

IDS = ("id", "name", "suite")
"""Keys that tell the items of a list apart, the first that all items have."""


def field_changes(before: Json, after: Json, where: str = "") -> Iterator[FieldChange]:
    """Every difference between two values, sorted by key."""
    match before, after:
        case Mapping(), Mapping():
            for key in sorted({*before, *after}):
                place = f"{where}.{key}" if where else key
                yield from field_changes(before.get(key), after.get(key), place)
        case [_, *_], [_, *_] if (id_key := _id_of(before, after)) is not None:
            old, new = _by_id(before, id_key), _by_id(after, id_key)
            for name in dict.fromkeys([*old, *new]):
                yield from field_changes(old.get(name), new.get(name), f"{where}[{name}]")
            if list(old) != list(new) and sorted(old) == sorted(new):
                yield FieldChange(f"{where}: order", list(old), list(new))
        case _ if _written(before) != _written(after):
            yield FieldChange(where, before, after)


def _written(value: Json) -> str:
    """A value so that equal ones are equal: Python takes False for 0."""
    return json.dumps(value, sort_keys=True)


def _id_of(*lists: Sequence[Json]) -> str | None:
    for key in IDS:
        if all(_tells_apart(items, key) for items in lists):
            return key
    return None


def _tells_apart(items: Sequence[Json], key: str) -> bool:
    names = [item.get(key) if isinstance(item, Mapping) else None for item in items]
    return all(isinstance(name, str) for name in names) and len(set(map(str, names))) == len(names)


def _by_id(items: Sequence[Json], key: str) -> dict[str, Json]:
    return {str(item[key]): item for item in items if isinstance(item, Mapping)}
