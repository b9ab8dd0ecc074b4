"""Signatures of Debian's indexes: an InRelease file is believed when one of the template's keys signed it.

A file carries several signatures, and a keyring rarely holds all their keys: one valid signature is
enough, as for apt. Expired keys and signatures, and weak hashes, are refused by the library's policy.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reprobridge.errors import LockError
from reprobridge.lock.template import Certificate

if TYPE_CHECKING:
    from pysequoia import Cert


def signed_text(data: bytes, keyring: Sequence[Certificate], *, where: str) -> str:
    """The text that a key of the ring has signed, and nothing around it. Raises LockError."""
    import pysequoia

    certificates = [_certificate(certificate) for certificate in keyring]
    try:
        verified = pysequoia.verify(data, store=lambda _: certificates)
    except (RuntimeError, ValueError) as error:
        raise LockError(
            "the index is not signed by a key of the template",
            where=where,
            expected="a valid signature by " + " or ".join(key.fingerprint for key in keyring),
            found=_first_line(error),
            hint="the mirror may be tampered with, or the template's keyring is too old for its signature",
        ) from error
    if not verified.valid_sigs or verified.bytes is None:
        raise LockError("the index is not signed", where=where, expected="a signed text", found="none")
    return verified.bytes.decode("utf-8", "strict")


def _certificate(pinned: Certificate) -> "Cert":
    import pysequoia

    found = pysequoia.Cert.from_bytes(pinned.armored)
    if found.fingerprint.upper() != pinned.fingerprint:
        raise LockError(
            "a key of the template is not the pinned one",
            expected=pinned.fingerprint,
            found=found.fingerprint.upper(),
        )
    return found


def _first_line(error: Exception) -> str:
    """The library appends a stack trace to its messages."""
    return str(error).splitlines()[0]
