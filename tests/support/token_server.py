"""A token server for docker-registry: RS256 tokens under a certificate that the registry trusts.

    with TokenServer(folder) as server, serve_registry(folder / "registry", auth=server.auth()) as registry: ...
    server.users["ann"] = User("secret", {"lab/*": {"pull", "push"}})

It speaks the distribution project's token specification: GET with repeated `scope`, and POST with a refresh
token. What it was asked stands in `asked`.
"""

import base64
import fnmatch
import hashlib
import json
import threading
import time
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID

SERVICE = "test-registry"
ISSUER = "test-issuer"


@dataclass(frozen=True)
class User:
    """Who may do what."""

    password: str
    rights: Mapping[str, AbstractSet[str]]
    """Pattern of repositories -> actions."""
    identity_token: str | None = None
    """Refresh token that stands for the password."""


@dataclass(frozen=True)
class Asked:
    """One request for a token."""

    method: str
    user: str | None
    """None: anonymous."""
    scopes: tuple[str, ...]


class TokenServer:
    """Listens at a port of its own at 127.0.0.1 until its `with` ends."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.users: dict[str, User] = {}
        self.public: dict[str, AbstractSet[str]] = {}
        """What everybody may do: pattern of repositories -> actions."""
        self.asked: list[Asked] = []
        """Every request for a token, in order."""
        self.lifetime = 300
        """Seconds that a token is said to live."""
        self.valid_for = 300
        """Seconds that it really lives; the registry forgives another 60."""
        self.knows_post = True
        """False: POST is answered with 404."""
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self._certificate = folder / "root.pem"
        self._certificate.write_bytes(self._self_signed())
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.tokens = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def realm(self) -> str:
        """Where tokens are given."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/token"

    def auth(self) -> Mapping[str, Mapping[str, str]]:
        """The `auth` part of a registry's configuration."""
        fields = {
            "realm": self.realm,
            "service": SERVICE,
            "issuer": ISSUER,
            "rootcertbundle": str(self._certificate),
        }
        return {"token": fields}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the port."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def token(self, user: User | None, scopes: tuple[str, ...]) -> str:
        """A token with those of the asked rights that this user has."""
        rights = {**self.public, **(user.rights if user else {})}
        now = int(time.time())
        claims = {
            "iss": ISSUER,
            "sub": "",
            "aud": SERVICE,
            "nbf": now - 120,
            "iat": now,
            "exp": now + self.valid_for,
            "jti": str(len(self.asked)),
            "access": [granted for scope in scopes if (granted := _granted(scope, rights))],
        }
        header = {"typ": "JWT", "alg": "RS256", "kid": self._key_id()}
        signed = f"{_part(header)}.{_part(claims)}"
        signature = self._key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        return f"{signed}.{_base64(signature)}"

    def _key_id(self) -> str:
        """libtrust's: the first 240 bits of the key's SHA-256 in base32, in groups of four."""
        encoded = self._key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        text = base64.b32encode(hashlib.sha256(encoded).digest()[:30]).decode()
        return ":".join(text[start : start + 4] for start in range(0, len(text), 4))

    def _self_signed(self) -> bytes:
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, ISSUER)])
        now = datetime.now(UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        return certificate.public_bytes(serialization.Encoding.PEM)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    tokens: TokenServer


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        user, known = self._by_password()
        self._give(user, known, parse_qsl(urlsplit(self.path).query))

    def do_POST(self) -> None:
        form = parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if not self.server.tokens.knows_post:
            self._answer(404, {})
            return
        token = dict(form).get("refresh_token", "")
        names = [name for name, user in self.server.tokens.users.items() if user.identity_token == token]
        fields = [(name, scope) for name, text in form if name == "scope" for scope in text.split()]
        self._give(names[0] if names else None, bool(names), fields)

    def _by_password(self) -> tuple[str | None, bool]:
        header = self.headers.get("Authorization")
        if header is None:
            return None, True
        name, _, secret = base64.b64decode(header.removeprefix("Basic ")).decode().partition(":")
        users = self.server.tokens.users
        if not name:  # a client that knows an identity token and no POST
            name = next((one for one, user in users.items() if user.identity_token == secret), "")
            return name, bool(name)
        return name, name in users and users[name].password == secret

    def _give(self, name: str | None, known: bool, fields: list[tuple[str, str]]) -> None:
        tokens = self.server.tokens
        scopes = tuple(text for field, text in fields if field == "scope")
        tokens.asked.append(Asked(self.command, name, scopes))
        if not known:
            self._answer(401, {"errors": [{"code": "UNAUTHORIZED", "message": "who is that?"}]})
            return
        token = tokens.token(None if name is None else tokens.users[name], scopes)
        kind = "token" if self.command == "GET" else "access_token"
        self._answer(200, {kind: token, "expires_in": tokens.lifetime})

    def _answer(self, status: int, body: Mapping[str, object]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_arguments: Any) -> None:
        """Keep stderr for the tests."""


def _granted(scope: str, rights: Mapping[str, AbstractSet[str]]) -> Mapping[str, object] | None:
    kind, _, rest = scope.partition(":")
    name, _, actions = rest.rpartition(":")
    allowed = {
        action for pattern, may in rights.items() if fnmatch.fnmatchcase(name, pattern) for action in may
    }
    granted = sorted(allowed.intersection(actions.split(",")))
    return {"type": kind, "name": name, "actions": granted} if granted else None


def _part(value: Mapping[str, object]) -> str:
    return _base64(json.dumps(value).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
