"""Who signs: anything that makes a bundle of a statement."""

from typing import Protocol

from reprobridge.publish.signing.bundle import sign_with_key
from reprobridge.publish.signing.keys import PrivateKey
from reprobridge.publish.statements.statement import Statement


class Signer(Protocol):
    """Signs statements."""

    @property
    def name(self) -> str:
        """Who signs, for people."""

    def sign(self, statement: Statement) -> bytes:
        """The bundle's bytes."""


class KeySigner:
    """Signs with a private key."""

    def __init__(self, key: PrivateKey) -> None:
        self._key = key

    @property
    def name(self) -> str:
        """The key's fingerprint."""
        return f"key {self._key.public_key.fingerprint}"

    def sign(self, statement: Statement) -> bytes:
        """The bundle's bytes; the same again for the same statement."""
        return sign_with_key(statement.to_bytes(), self._key)
