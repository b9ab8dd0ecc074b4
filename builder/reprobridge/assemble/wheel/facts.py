"""The facts of a wheel's fragment: what other recipes and the build's notes need without opening it again."""

import json
from typing import Any

from reprobridge.digest import canonical_json
from reprobridge.frozen import field_names, frozen


@frozen(kw_only=True)
class WheelFacts:
    """What is known of an installed wheel."""

    folder: str
    """`NAME-VERSION.dist-info`, as the wheel spells it."""
    license_expression: str | None
    """SPDX expression (PEP 639)."""
    license: str | None
    """The older free text, where there is no expression."""
    classifiers: tuple[str, ...]
    """Its `License ::` classifiers."""
    warnings: tuple[str, ...]
    """What is odd about it."""
    record_warnings: tuple[str, ...]
    """Where its own RECORD is wrong."""


def write_facts(facts: WheelFacts) -> bytes:
    """Canonical JSON of the facts."""
    return canonical_json({name: getattr(facts, name) for name in field_names(facts)})


def read_facts(data: bytes) -> WheelFacts:
    """The facts that `write_facts` wrote."""
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in json.loads(data).items()
    }
    return WheelFacts(**fields)
