"""A signed Debian archive on a FileServer: InRelease, Packages.xz (also by hash) and the pool.

    archive = DebianArchive.create(file_server)
    archive.publish("bookworm", [deb, other])
    archive.url, archive.keyring    # for a sources list, and to verify with

The keys are made for the session and sign nothing else.
"""

import hashlib
import lzma
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import pysequoia

from support.debs import Deb
from support.file_server import FileServer

RELEASED = "Wed, 01 Jan 2025 00:00:00 UTC"
"""Date of every release unless a test says otherwise."""


@dataclass(frozen=True)
class SigningKey:
    """A key pair of OpenPGP."""

    secret: pysequoia.Tsk

    @property
    def certificate(self) -> bytes:
        """The public part, as a binary keyring holds it."""
        return bytes(self.secret.extract_certificate())

    @property
    def fingerprint(self) -> str:
        """Of the primary key, in lower case hexadecimal digits."""
        return str(self.secret.extract_certificate().fingerprint)

    def sign(self, text: str) -> bytes:
        """The text with a cleartext signature around it, as InRelease has it."""
        mode = pysequoia.SignatureMode.CLEAR
        return bytes(pysequoia.sign(self.secret.signer(), text.encode(), mode=mode))


@cache
def signing_key(owner: str = "Test archive <archive@example.org>") -> SigningKey:
    """A key of one's own for each owner, made once a session."""
    return SigningKey(pysequoia.Tsk.generate(owner))


@dataclass(frozen=True, kw_only=True)
class DebianArchive:
    """An archive below a path of a server."""

    server: FileServer
    at: str = "/debian"
    key: SigningKey
    """What InRelease is signed with."""

    @classmethod
    def create(cls, server: FileServer, *, at: str = "/debian") -> "DebianArchive":
        """An empty archive signed by the session's key."""
        return cls(server=server, at=at, key=signing_key())

    @property
    def url(self) -> str:
        """What stands in a sources list, without a slash at its end."""
        return self.server.url + self.at

    @property
    def keyring(self) -> bytes:
        """Certificates that a client should trust."""
        return self.key.certificate

    def publish(self, suite: str, debs: Sequence[Deb], *, date: str = RELEASED, extra: str = "") -> None:
        """Serve a suite whose component main holds these packages; `extra` are more lines of Release."""
        for deb in debs:
            self.server.put(f"{self.at}/{deb.pool_path}", deb.data)
        packages = packages_index(debs).encode()
        folder = "main/binary-amd64"
        files = {f"{folder}/Packages": packages, f"{folder}/Packages.xz": lzma.compress(packages)}
        for path, data in files.items():
            digest = hashlib.sha256(data).hexdigest()
            self.server.put(f"{self.at}/dists/{suite}/{path}", data)
            self.server.put(f"{self.at}/dists/{suite}/{folder}/by-hash/SHA256/{digest}", data)
        release = _release(suite, date, files, extra)
        self.server.put(f"{self.at}/dists/{suite}/Release", release.encode())
        self.server.put(f"{self.at}/dists/{suite}/InRelease", self.key.sign(release))


def packages_index(debs: Iterable[Deb]) -> str:
    """A Packages file: a paragraph for each package with its pool path, size and digest."""
    return "\n".join(
        f"{deb.control}Filename: {deb.pool_path}\nSize: {len(deb.data)}\nSHA256: {deb.sha256}\n"
        for deb in debs
    )


def _release(suite: str, date: str, files: dict[str, bytes], extra: str) -> str:
    lines = [
        "Origin: Debian",
        "Label: Debian",
        f"Suite: {suite}",
        f"Codename: {suite}",
        f"Date: {date}",
        "Acquire-By-Hash: yes",
        "Architectures: amd64",
        "Components: main",
        *extra.splitlines(),
        "SHA256:",
        *(f" {hashlib.sha256(data).hexdigest()} {len(data)} {path}" for path, data in files.items()),
    ]
    return "\n".join(lines) + "\n"
