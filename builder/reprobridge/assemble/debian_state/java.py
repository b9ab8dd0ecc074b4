"""The certificates for Java: what ca-certificates-java makes of those in /usr/share/ca-certificates.

A key store of Java's own format (JKS, sun.security.provider.JavaKeyStore): big-endian, each certificate with
a name and a time, and at the end a digest with the password that Debian has for it.
"""

import hashlib
import struct
from collections.abc import Mapping

from reprobridge.assemble.debian_state.tree import StateTree

_PASSWORD = "changeit"  # noqa: S105 - Java's own, which every program knows
_WHITENER = b"Mighty Aphrodite"
"""What the format hashes along."""
_CERTIFICATE = 2
"""Tag of a trusted certificate."""


def add_java_certificates(tree: StateTree, certificates: Mapping[str, bytes]) -> None:
    """The key store of these certificates (name of the link to each -> DER)."""
    named = {f"debian:{name.lower()}": der for name, der in certificates.items()}
    tree.put("etc/ssl/certs/java/cacerts", key_store(named))


def key_store(certificates: Mapping[str, bytes]) -> bytes:
    """A store of trusted certificates by name, sorted; all of the same time, since none is known."""
    body = struct.pack(">III", 0xFEEDFEED, 2, len(certificates))
    for name, der in sorted(certificates.items()):
        body += struct.pack(">I", _CERTIFICATE) + _text(name) + bytes(8)
        body += _text("X.509") + struct.pack(">I", len(der)) + der
    digest = hashlib.sha1(_PASSWORD.encode("utf-16-be") + _WHITENER + body, usedforsecurity=False)
    return body + digest.digest()


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack(">H", len(data)) + data
