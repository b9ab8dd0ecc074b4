"""What a reviewer may require of an image: whose signatures count, and which kinds of statements, by short names."""

from collections.abc import Mapping, Sequence

from reprobridge.errors import UsageError
from reprobridge.frozen import frozen
from reprobridge.publish.signing.policy import Policy
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


@frozen(kw_only=True)
class Demand:
    """What a reviewer asks for."""

    policy: Policy
    """Whose signatures count."""
    required: Mapping[str, str]
    """Kinds of statements that must be there: predicate types by short names."""
    every_layer: bool = False
    """Whether all layers are brought and compared with their digests."""
    accept_not_run: bool = False
    """Whether checks count that the publisher declared as not run."""


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
