"""Checking a received bundle: signature first, then what was signed.

The payload is parsed only after its signature holds, and what is parsed are the bytes that were signed, as they
were received; nothing is ever serialised again to be checked.
"""

from collections.abc import Mapping
from typing import Any

from reprobridge.digest import Digest, strict_json
from reprobridge.errors import TrustError
from reprobridge.frozen import frozen
from reprobridge.publish.signing.bundle import Bundle, open_bundle, signed_bytes
from reprobridge.publish.signing.policy import IdentityPolicy, KeyPolicy, Policy
from reprobridge.publish.statements.statement import STATEMENT


@frozen(kw_only=True)
class CheckedStatement:
    """What somebody whom the policy trusts said about the image."""

    predicate_type: str
    """What kind of claim."""
    predicate: Mapping[str, Any]
    """The claim, as parsed JSON."""
    payload: bytes
    """The whole statement: exactly the bytes that were signed."""
    signer: str
    """Who said it, for people."""


def check_bundle(
    bundle: bytes, policy: Policy, *, subject: Digest, predicate_type: str | None = None
) -> CheckedStatement:
    """What the bundle says about `subject`. Raises TrustError unless every part of it holds.

    `predicate_type` is the kind of claim that is expected; None: any.
    """
    opened = open_bundle(bundle)
    match policy:
        case KeyPolicy():
            payload = _check_key(opened, policy)
        case IdentityPolicy():
            from reprobridge.publish.signing.keyless import check_keyless

            _require_certificate(opened, policy)
            payload = check_keyless(bundle, policy)
    return _statement_about(subject, payload, predicate_type, str(policy))


def _check_key(bundle: Bundle, policy: KeyPolicy) -> bytes:
    if bundle.key_hint is None:
        raise TrustError(
            "the signature was made without a key",
            expected=f"signed with {policy}",
            hint="ask for the signer's identity and issuer instead",
        )
    if not policy.key.verifies(bundle.signature, signed_bytes(bundle.payload)):
        other = bundle.key_hint and bundle.key_hint != policy.key.hint
        found = "a signature of another key" if other else "one that is not of these bytes"
        raise TrustError("the signature does not hold", expected=f"signed with {policy}", found=found)
    return bundle.payload


def _require_certificate(bundle: Bundle, policy: IdentityPolicy) -> None:
    if bundle.key_hint is not None:
        raise TrustError(
            "the signature was made with a key",
            expected=f"signed by {policy}",
            hint="check it with the signer's public key instead",
        )


def _statement_about(
    subject: Digest, payload: bytes, predicate_type: str | None, signer: str
) -> CheckedStatement:
    """Parse what was signed; its signature holds."""
    try:
        document = strict_json(payload)
    except (ValueError, RecursionError) as error:
        raise TrustError("the signed statement is no JSON", found=str(error)) from error
    match document:
        case {
            "_type": str(kind),
            "subject": list(subjects),
            "predicateType": str(found),
            "predicate": dict(predicate),
        } if kind == STATEMENT:
            pass
        case _:
            raise TrustError("what was signed is no statement", expected=f"one of type {STATEMENT}")
    if predicate_type not in (None, found):
        raise TrustError("the statement is of another kind", expected=predicate_type, found=found)
    digests = [_sha256(item) for item in subjects]
    if subject.hex not in digests:
        others = ", ".join(f"sha256:{digest}" for digest in digests) or "nothing"
        raise TrustError("the statement is about something else", expected=str(subject), found=others)
    return CheckedStatement(predicate_type=found, predicate=predicate, payload=payload, signer=signer)


def _sha256(subject: object) -> str | None:
    match subject:
        case {"digest": {"sha256": str(digest)}}:
            return digest
    return None
