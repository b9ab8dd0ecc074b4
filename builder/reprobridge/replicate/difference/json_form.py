"""The tree of differences as JSON (schema `reprobridge.difference/1`): every value with its kind and its fields."""

from collections.abc import Mapping
from typing import cast

from reprobridge.digest import Digest, Json
from reprobridge.frozen import field_names, is_frozen
from reprobridge.replicate.difference.model import ImageDifference
from reprobridge.replicate.difference.text import counts
from reprobridge.replicate.seen import SeenLayer

SCHEMA = "reprobridge.difference/1"
"""Value of the key `schema`."""


def difference_json(difference: ImageDifference) -> dict[str, Json]:
    """The whole tree."""
    fields = cast(dict[str, Json], _json(difference))
    return {**fields, "schema": SCHEMA, "equal": difference.equal, "counts": counts(difference)}


def _json(value: object) -> Json:
    match value:
        case None | bool() | int() | str():
            return value
        case Digest():
            return str(value)
        case SeenLayer():
            part = value.descriptor
            return {
                "title": value.title,
                "digest": str(part.digest),
                "size": part.size,
                "diff_id": str(value.diff_id),
            }
        case Mapping():
            return {str(key): _json(item) for key, item in value.items()}
        case list() | tuple():
            return [_json(item) for item in value]
        case _ if is_frozen(value):
            fields = {name: _json(getattr(value, name)) for name in field_names(value)}
            return {"is": type(value).__name__, **fields}
    raise TypeError(f"no JSON for {value!r}")
