"""What a reviewer may require of an image: kinds of signed statements, by short names."""

from collections.abc import Mapping, Sequence

from reprobridge.errors import UsageError
from reprobridge.publish.statements.statement import PredicateType

KINDS: Mapping[str, str] = {
    "signature": PredicateType.IMAGE_SIGNATURE,
    "provenance": PredicateType.PROVENANCE,
    "sbom": PredicateType.SPDX,
    "validation": PredicateType.VALIDATION,
    "cyclonedx": PredicateType.CYCLONEDX,
    "measurements": PredicateType.MEASUREMENTS,
}
"""Predicate types by their short names."""
DEFAULT = ("signature", "provenance", "sbom", "validation")
"""What is required unless something else is asked for."""


def required(names: Sequence[str]) -> dict[str, str]:
    """Predicate types by the names that a user gave: short names, or types in full. Raises UsageError."""
    found: dict[str, str] = {}
    for name in names or DEFAULT:
        if name not in KINDS and ":" not in name:
            raise UsageError(
                "no kind of attestation",
                where="--require",
                expected=f"one of {', '.join(KINDS)}, or a predicate type in full",
                found=name,
            )
        found[name] = str(KINDS.get(name, name))
    return found
