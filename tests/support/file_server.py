"""A small HTTP server for mirrors and indexes, with a log of requests and with faults on demand.

    server.put("/pool/a.deb", data)                   # returns its URL
    server.fail("/pool/a.deb", status(500, times=2))  # twice, then the file
    server.paths()                                    # what was asked for, in order

It listens on a port of its own at 127.0.0.1 and answers GET and HEAD; where nothing was put is 404.
"""

import mimetypes
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request as it came in."""

    method: str
    path: str
    """Decoded, with its leading slash and without the query."""
    headers: Mapping[str, str]
    """Names in lower case."""


@dataclass(frozen=True, kw_only=True)
class Fault:
    """How the answer for a path differs from the file that was put there."""

    status: int = 200
    """Anything but 200 is answered without the file."""
    headers: tuple[tuple[str, str], ...] = ()
    flipped: int | None = None
    """Index of a byte that arrives with its lowest bit turned over."""
    keep: int | None = None
    """The connection ends after this many bytes of the body; the length in the header is the whole file's."""
    length: int | None = None
    """What the header says instead of the file's length."""
    endless: bool = False
    """The body comes again and again, without a length, until the client hangs up (or has got a gigabyte)."""
    times: int | None = None
    """Requests that meet the fault before the path is sound again; None: all."""


def wrong_bytes(*, index: int = 0, times: int | None = None) -> Fault:
    """The right length with one wrong byte."""
    return Fault(flipped=index, times=times)


def truncated(keep: int, *, times: int | None = None) -> Fault:
    """The connection breaks after `keep` bytes."""
    return Fault(keep=keep, times=times)


def said_length(length: int) -> Fault:
    """The header gives another length than the body has."""
    return Fault(length=length)


def endless() -> Fault:
    """A body without an end."""
    return Fault(endless=True)


def status(code: int, *, times: int | None = None) -> Fault:
    """An error status, such as 404, 429 or 500, without a body."""
    return Fault(status=code, times=times)


def redirect(location: str, *, code: int = 302) -> Fault:
    """An answer that sends the client to another address."""
    return Fault(status=code, headers=(("Location", location),))


@dataclass(frozen=True)
class _File:
    body: bytes
    content_type: str


class FileServer:
    """What is served, what was asked and which paths are broken. Used through the `file_server` fixture."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        """Every request, in the order of arrival."""
        self._files: dict[str, _File] = {}
        self._faults: dict[str, list[Fault]] = {}
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.files = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def url(self) -> str:
        """The server's address without a slash at its end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def put(self, path: str, body: bytes, *, content_type: str | None = None) -> str:
        """Serve bytes at a path such as `/pool/a.deb` and return the URL; the type is guessed from the name."""
        guessed = mimetypes.guess_type(path)[0] or "application/octet-stream"
        self._files[path] = _File(body, content_type or guessed)
        return self.url + path

    def put_folder(self, folder: Path, *, at: str = "") -> str:
        """Serve every file of a folder below a path, as it is now, and return that path's URL."""
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                self.put(f"{at}/{file.relative_to(folder).as_posix()}", file.read_bytes())
        return self.url + at

    def remove(self, path: str) -> None:
        """Answer 404 for a path from now on."""
        del self._files[path]

    def fail(self, path: str, *faults: Fault) -> None:
        """Meet the next requests for a path with these faults, each its `times`, one after the other."""
        self._faults[path] = list(faults)

    def paths(self) -> list[str]:
        """The paths of all requests, in order."""
        return [request.path for request in self.requests]

    def forget_requests(self) -> None:
        """Start the log anew."""
        self.requests.clear()

    def stop(self) -> None:
        """Close the port; clients are refused from now on. May be called more than once."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def take(self, request: Request) -> tuple[_File | None, Fault]:
        """For the handler: log a request; the file at its path and the fault that it meets."""
        with self._lock:
            self.requests.append(request)
            return self._files.get(request.path), self._next_fault(request.path)

    def _next_fault(self, path: str) -> Fault:
        faults = self._faults.get(path, [])
        if not faults:
            return Fault()
        fault = faults[0]
        if fault.times is not None:
            left = fault.times - 1
            faults[:1] = [replace(fault, times=left)] if left else []
        return fault


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # server_close waits for the answers that are being written
    files: FileServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that hangs up is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 60

    def do_GET(self) -> None:
        request = Request(
            method=self.command,
            path=unquote(urlsplit(self.path).path),
            headers={name.lower(): value for name, value in self.headers.items()},
        )
        file, fault = self.server.files.take(request)
        code = 404 if fault.status == 200 and file is None else fault.status
        body = b"" if code != 200 or file is None else file.body
        self.send_response(code)
        for name, value in fault.headers:
            self.send_header(name, value)
        if file is not None:
            self.send_header("Content-Type", file.content_type)
        if not fault.endless:
            self.send_header("Content-Length", str(len(body) if fault.length is None else fault.length))
        self.end_headers()
        if self.command == "GET":
            for _ in range((1 << 30) // max(1, len(body)) if fault.endless else 1):
                self.wfile.write(_damaged(body, fault))

    do_HEAD = do_GET  # noqa: N815 - http.server finds handlers by this name

    def log_message(self, *_arguments: Any) -> None:
        """Keep stderr for the tests: the log is `FileServer.requests`."""


def _damaged(body: bytes, fault: Fault) -> bytes:
    """The bytes that really go out. Each answer ends its connection (HTTP/1.0), so a short one is final."""
    if fault.flipped is not None and body:
        damaged = bytearray(body)
        damaged[fault.flipped] ^= 1
        return bytes(damaged)
    return body[: fault.keep]


@pytest.fixture
def file_server() -> Iterator[FileServer]:
    """A server of the test's own."""
    server = FileServer()
    try:
        yield server
    finally:
        server.stop()
