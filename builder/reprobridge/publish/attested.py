"""What was said about a manifest, as far as a policy trusts who signed it."""

from collections.abc import Iterable

from reprobridge.digest import Digest
from reprobridge.errors import TrustError
from reprobridge.frozen import frozen
from reprobridge.publish.signing.check import CheckedStatement, check_bundle
from reprobridge.publish.signing.policy import Policy


@frozen
class Unread:
    """A bundle that is attached, but could not be had: what it would have said is open."""

    reason: str
    """Why, in one line."""


Offered = bytes | Unread
"""A bundle's bytes, trusted by nobody yet."""


@frozen(kw_only=True)
class Said:
    """Bundles that are offered about one manifest; nothing in them is known to be true."""

    bundles: tuple[Offered, ...]
    """Their bytes."""
    subject: Digest
    """The manifest."""
    where: str
    """For people: where they are offered."""


def attested(said: Said, policy: Policy, kind: str) -> tuple[CheckedStatement, ...]:
    """The statements of one kind that the policy trusts; at least one.

    Raises TrustError, with what is wrong with each, when there is none. `kind` is a predicate's type.
    """
    trusted: list[CheckedStatement] = []
    problems: list[str] = []
    for bundle in said.bundles:
        if isinstance(bundle, Unread):
            problems.append(bundle.reason)
            continue
        try:
            trusted.append(check_bundle(bundle, policy, subject=said.subject, predicate_type=kind))
        except TrustError as error:
            problems.append(error.in_one_line())
    if not trusted:
        raise TrustError(
            "nobody whom we trust says this",
            where=f"{said.where}@{said.subject}",
            expected=f"{kind}, signed by {policy}",
            found="; ".join(_once(problems)) or "no such attestation",
        )
    return tuple(trusted)


def _once(lines: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(lines))
