"""Key pairs for signing: ECDSA on P-256 with SHA-256, in PEM files that openssl and cosign read.

A private key is PKCS 8, encrypted where a password was given; a public key is SubjectPublicKeyInfo.
Signatures are deterministic (RFC 6979): the same statement and key give the same bytes, so that publishing again
finds its attestations there already.
The only module that imports `cryptography` (70 ms): import this one where keys are used.
"""

import base64
from typing import NoReturn

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_public_key,
    load_pem_private_key,
    load_pem_public_key,
)

from reprobridge.digest import Digest
from reprobridge.errors import UsageError
from reprobridge.frozen import frozen

_PRIVATE = "a private key in PEM (PKCS 8), ECDSA on the curve P-256"
_PUBLIC = "a public key in PEM (SubjectPublicKeyInfo), ECDSA on the curve P-256"


@frozen
class PublicKey:
    """What checks a signature."""

    der: bytes
    """SubjectPublicKeyInfo of a point on P-256, encoded in DER."""

    @property
    def fingerprint(self) -> Digest:
        """Digest of the DER bytes."""
        return Digest.of(self.der)

    @property
    def hint(self) -> str:
        """How a sigstore bundle names the key."""
        return base64.b64encode(bytes.fromhex(self.fingerprint.hex)).decode()

    def to_pem(self) -> bytes:
        """The bytes of a `.pub` file."""
        return load_der_public_key(self.der).public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)

    def verifies(self, signature: bytes, data: bytes) -> bool:
        """Whether the key's owner signed these bytes."""
        key = load_der_public_key(self.der)
        if not isinstance(key, ec.EllipticCurvePublicKey):
            return False
        try:
            key.verify(signature, data, ec.ECDSA(hashes.SHA256()))
        except InvalidSignature:
            return False
        return True


class PrivateKey:
    """What signs. Its representation tells nothing but the public key's fingerprint."""

    __slots__ = ("_key", "public_key")

    def __init__(self, key: ec.EllipticCurvePrivateKey) -> None:
        self._key = key
        self.public_key = PublicKey(_der(key.public_key()))
        """The other half."""

    @classmethod
    def generate(cls) -> "PrivateKey":
        """A new key."""
        return cls(ec.generate_private_key(ec.SECP256R1()))

    def __repr__(self) -> str:
        return f"<private key of {self.public_key.fingerprint}>"

    def to_pem(self, password: bytes | None) -> bytes:
        """The bytes of a `.key` file, encrypted when there is a password."""
        encryption = BestAvailableEncryption(password) if password else NoEncryption()
        return self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)

    def sign(self, data: bytes) -> bytes:
        """Signature of these bytes, in DER. Raises UsageError when `cryptography` has too old an OpenSSL."""
        try:
            return self._key.sign(data, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))
        except UnsupportedAlgorithm as error:
            raise UsageError(
                "the installed package `cryptography` cannot sign deterministically",
                expected="one with OpenSSL 3.2 or later, as its wheels have",
                hint="install it from a wheel",
            ) from error


def is_encrypted(data: bytes) -> bool:
    """Whether a private key's file asks for a password."""
    return b"ENCRYPTED" in data


def read_private_key(data: bytes, where: str, password: bytes | None) -> PrivateKey:
    """Read a `.key` file; a password that it doesn't ask for is not used. Raises UsageError."""
    _require_pem(data, where, _PRIVATE)
    if b"BEGIN PUBLIC KEY" in data:
        raise UsageError("this is a public key", where=where, expected=_PRIVATE, hint="name the `.key` file")
    if is_encrypted(data) and not password:
        hint = "set REPROBRIDGE_KEY_PASSWORD, or run the command in a terminal"
        raise UsageError("the private key is encrypted", where=where, expected="its password", hint=hint)
    try:
        key = load_pem_private_key(data, password if is_encrypted(data) else None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        problem = (
            "the key is broken, or its password is another" if is_encrypted(data) else "the key is broken"
        )
        raise UsageError(problem, where=where, expected=_PRIVATE) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        _refuse_kind(key, where, _PRIVATE)
    return PrivateKey(key)


def read_public_key(data: bytes, where: str) -> PublicKey:
    """Read a `.pub` file. Raises UsageError."""
    _require_pem(data, where, _PUBLIC)
    if b"PRIVATE KEY" in data:
        raise UsageError("this is a private key", where=where, expected=_PUBLIC, hint="name the `.pub` file")
    try:
        key = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UsageError("the key is broken", where=where, expected=_PUBLIC) from error
    if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
        _refuse_kind(key, where, _PUBLIC)
    return PublicKey(_der(key))


def _der(key: ec.EllipticCurvePublicKey) -> bytes:
    return key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def _require_pem(data: bytes, where: str, expected: str) -> None:
    if b"-----BEGIN " not in data:
        raise UsageError("this is no PEM file", where=where, expected=expected)
    for tool in (b"SIGSTORE", b"COSIGN"):
        if b"ENCRYPTED " + tool in data:
            hint = "make a pair with `reprobridge keygen`; `cosign import-key-pair` takes it"
            raise UsageError("this key is in cosign's own format", where=where, expected=expected, hint=hint)


def _refuse_kind(key: object, where: str, expected: str) -> NoReturn:
    curve = getattr(getattr(key, "curve", None), "name", None)
    found = f"the curve {curve}" if curve else type(key).__name__.removeprefix("_")
    hint = "make a pair with `reprobridge keygen`"
    raise UsageError("the key is of another kind", where=where, expected=expected, found=found, hint=hint)
