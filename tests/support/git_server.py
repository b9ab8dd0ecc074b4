"""Git repositories over https: `git http-backend` behind a small server with a certificate of its own.

    with GitServer(tmp_path) as server:
        upstream = GitRepository(server.root / "upstream")
        server.logins["ann"] = "secret"
        ...  # git reads server.url("upstream"), if it trusts server.certificate

It can ask for logins, speak only the protocol in which servers refuse single commits, and break packs off.
"""

import base64
import contextlib
import ipaddress
import os
import ssl
import subprocess
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class GitServer:
    """Listens at a port of its own at 127.0.0.1 until its `with` ends."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "served"
        """Every repository in this folder is served."""
        self.certificate = folder / "server.pem"
        """The server's certificate, which signs itself."""
        self.logins: dict[str, str] = {}
        """User -> password; empty: everybody may read."""
        self.gives_single_commits = True
        """False: it speaks protocol 0, in which only branches and tags can be asked for."""
        self.breaks = 0
        """So many of the next packs break off in their middle."""
        self.asked: list[tuple[str, str | None]] = []
        """Path and user (None: anonymous) of every request."""
        self.root.mkdir(parents=True)
        key = _certify(self.certificate)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._server.git = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def base(self) -> str:
        """The server's address, with a slash at its end."""
        return f"https://127.0.0.1:{self._server.server_address[1]}/"

    def url(self, name: str) -> str:
        """The address of a repository."""
        return f"{self.base}{name}"

    def admits(self, authorization: str | None) -> tuple[bool, str | None]:
        """Whether a request may read, and as whom."""
        kind, _, encoded = (authorization or "").partition(" ")
        if kind != "Basic":
            return not self.logins, None
        user, _, password = base64.b64decode(encoded).decode().partition(":")
        return self.logins.get(user) == password or not self.logins, user


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # server_close waits for the answers that are being written
    git: GitServer

    def shutdown_request(self, request: Any) -> None:
        """Say in TLS too that this is the end."""
        with contextlib.suppress(OSError, ValueError):
            request.unwrap()
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that hangs up is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 60

    def do_GET(self) -> None:
        git = self.server.git
        admitted, user = git.admits(self.headers["Authorization"])
        git.asked.append((urlsplit(self.path).path, user))
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        if admitted:
            self._answer(self._from_backend(body))
        else:
            self._answer(b'Status: 401 Unauthorized\r\nWWW-Authenticate: Basic realm="git"\r\n\r\n')

    do_POST = do_GET  # noqa: N815 - http.server finds handlers by this name

    def _from_backend(self, body: bytes) -> bytes:
        parts = urlsplit(self.path)
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROJECT_ROOT": str(self.server.git.root),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": parts.path,
            "QUERY_STRING": parts.query,
            "CONTENT_TYPE": self.headers["Content-Type"] or "",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers["Content-Encoding"] or "",
        }
        if self.server.git.gives_single_commits:
            environment["GIT_PROTOCOL"] = self.headers["Git-Protocol"] or ""
        argv = ["git", "http-backend"]
        # It fails where git says to the client what is wrong.
        return subprocess.run(argv, input=body, env=environment, capture_output=True, check=False).stdout

    def _answer(self, said: bytes) -> None:
        """Send what a CGI program said."""
        head, _, body = said.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(headers.pop("Status", "200 OK").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if b"PACK" in body and self.server.git.breaks > 0:
            self.server.git.breaks -= 1
            body = body[: len(body) // 2]
        self.wfile.write(body)  # HTTP/1.0: the connection ends here

    def log_message(self, *_arguments: Any) -> None:
        """Keep stderr for the tests: the log is `GitServer.asked`."""


def _certify(path: Path) -> Path:
    """Write a certificate for 127.0.0.1, and its key beside it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_path = path.with_suffix(".key")
    key_path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return key_path
