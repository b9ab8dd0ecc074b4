"""Sigstore bundles, version 0.3, around a DSSE envelope: a signed statement in one JSON file.

https://github.com/sigstore/protobuf-specs (sigstore_bundle.proto), https://github.com/secure-systems-lab/dsse
What is signed is not the payload but its pre-authentication encoding, which binds the payload's type.
Parsing here opens the envelope and decides nothing: the payload stays bytes until a signature holds (`check.py`).
"""

import base64
import binascii
from typing import Any

from reprobridge.digest import canonical_json, strict_json
from reprobridge.errors import TrustError
from reprobridge.frozen import frozen
from reprobridge.publish.signing.keys import PrivateKey

BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"
"""Media type of a bundle."""
IN_TOTO = "application/vnd.in-toto+json"
"""Type of the payload: an in-toto statement."""


def signed_bytes(payload: bytes, payload_type: str = IN_TOTO) -> bytes:
    """DSSE's pre-authentication encoding: the bytes that the signature is of."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def sign_with_key(payload: bytes, key: PrivateKey) -> bytes:
    """The bundle of a statement's bytes, signed with a key: no certificate, no log, works without network."""
    signature = key.sign(signed_bytes(payload))
    return canonical_json(
        {
            "mediaType": BUNDLE,
            "verificationMaterial": {"publicKey": {"hint": key.public_key.hint}, "tlogEntries": []},
            "dsseEnvelope": {
                "payload": base64.b64encode(payload).decode(),
                "payloadType": IN_TOTO,
                "signatures": [{"sig": base64.b64encode(signature).decode()}],
            },
        }
    )


@frozen(kw_only=True)
class Bundle:
    """An opened bundle. Nothing in it is known to be true."""

    payload: bytes
    """The statement, they say: exactly the bytes that were received."""
    signature: bytes
    """The one signature."""
    key_hint: str | None
    """Which key signed; None: a certificate names who signed."""


def open_bundle(data: bytes) -> Bundle:
    """Read a bundle's JSON. Raises TrustError unless it is of version 0.3 with one statement, signature and signer."""
    try:
        document = strict_json(data)
    except (ValueError, RecursionError) as error:
        raise TrustError("the bundle is no JSON", found=str(error)) from error
    match document:
        case {
            "mediaType": str(kind),
            "verificationMaterial": dict(material),
            "dsseEnvelope": {
                "payload": str(payload),
                "payloadType": str(payload_type),
                "signatures": list(signatures),
            },
        }:
            _require_kind(kind)
            require_statement(payload_type)
            return Bundle(
                payload=_decoded(payload, "payload"),
                signature=_only_signature(signatures),
                key_hint=_key_hint(material),
            )
        case {"mediaType": str(kind)}:
            _require_kind(kind)
    raise TrustError(
        "this is no bundle of a signed statement", expected="verificationMaterial and dsseEnvelope"
    )


def _require_kind(kind: str) -> None:
    if kind != BUNDLE:
        raise TrustError("the bundle is of another version", expected=BUNDLE, found=kind)


def require_statement(payload_type: str) -> None:
    """Raises TrustError for a payload of another type."""
    if payload_type != IN_TOTO:
        raise TrustError("what was signed is no statement", expected=IN_TOTO, found=payload_type)


def _only_signature(signatures: list[Any]) -> bytes:
    match signatures:
        case [{"sig": str(signature)}]:
            return _decoded(signature, "sig")
    raise TrustError("the bundle is not signed once", expected="one signature", found=f"{len(signatures)}")


def _key_hint(material: dict[str, Any]) -> str | None:
    """The signer's key, or None for a certificate; never both."""
    named = [kind for kind in ("publicKey", "certificate", "x509CertificateChain") if kind in material]
    match named, material.get("publicKey"):
        case ["publicKey"], {**key}:
            return str(key.get("hint", ""))
        case ["certificate"], None:
            return None
    expected = "one of publicKey and certificate"
    raise TrustError(
        "the bundle does not say who signed", expected=expected, found=", ".join(named) or "none"
    )


def _decoded(text: str, name: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise TrustError(f"the bundle's {name} is not base64", found=str(error)) from error
