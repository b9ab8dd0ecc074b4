"""Speaking HTTP to a server: the door that the registry client uses.

One exchange is one request and one answer. Nothing is followed, repeated, stored or decided here: redirects,
cookies, credentials and second tries are whoever's who asks. Bodies stream in both directions, so that memory
does not grow with them.
"""

import contextlib
import re
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager
from types import ModuleType
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from reprobridge.digest import CHUNK
from reprobridge.errors import NetworkError
from reprobridge.frozen import field, frozen

if TYPE_CHECKING:
    import httpx

_LOOPBACK = re.compile(r"localhost|127(?:\.[0-9]{1,3}){3}|::1")


@frozen
class Body:
    """What a request sends."""

    size: int
    """Bytes that `blocks` yields in all; sent as Content-Length."""
    blocks: Callable[[], Iterator[bytes]]
    """Starts the body from its beginning. What it raises ends the exchange and rises as it is."""

    @classmethod
    def of(cls, data: bytes) -> "Body":
        """A body that lies in memory."""
        return cls(len(data), lambda: iter((data,) if data else ()))


@frozen(kw_only=True)
class Request:
    """One request."""

    method: str
    """In capitals."""
    url: str
    """Absolute: http or https."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Besides Host, Content-Length and the like."""
    body: Body | None = None
    """None: nothing is sent; a method that usually sends something says Content-Length: 0."""
    asks: bool = False
    """It asks for what the server knows, or does at once: a server that says nothing for long hangs."""

    def __repr__(self) -> str:
        """Without headers and query, which may hold secrets."""
        return f"<{self.method} {without_query(self.url)}>"


class Answer(Protocol):
    """What a server answers; valid inside the `with` of its exchange."""

    @property
    def status(self) -> int:
        """For example 200."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Names in lower case; a header that comes several times is joined by `, `."""

    def blocks(self) -> Iterator[bytes]:
        """The body as sent, once, in pieces of at most 1 MiB. Raises NoAnswerError when it breaks off."""


class NoAnswerError(NetworkError):
    """No whole answer came: no connection, one that broke, or a time-out. The server may have acted on it."""

    unknown_host: bool = False
    """The server's name means no address."""
    timed_out: bool = False
    """The connection stands, and nothing came in time."""


class Http(Protocol):
    """The door to HTTP servers; may be used from several threads at once."""

    def exchange(self, request: Request) -> AbstractContextManager[Answer]:
        """Send a request and give its answer, whatever its status. Raises NoAnswerError."""


class OfflineHttp:
    """No servers at all: `--offline`."""

    def exchange(self, request: Request) -> AbstractContextManager[Answer]:
        """Always raises NetworkError."""
        raise NetworkError(
            f"cannot ask {urlsplit(request.url).netloc}",
            expected="a network",
            found="offline mode",
            hint="drop --offline",
        )


class RealHttp:
    """Servers in the network; honours the usual proxy and certificate variables."""

    def __init__(
        self, *, connect_timeout: float = 30, read_timeout: float = 300, asking_timeout: float = 30
    ) -> None:
        """Seconds: until a connection stands, and without a word of the server; `asking_timeout` where it only asks."""
        # A registry hashes a layer of gigabytes before it answers the request that finished it.
        self._connect_timeout, self._read_timeout = connect_timeout, read_timeout
        self._asking_timeout = min(asking_timeout, read_timeout)
        self._clients: dict[bool, httpx.Client] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def exchange(self, request: Request) -> Iterator[Answer]:
        """Send a request and give its answer, whatever its status. Raises NoAnswerError."""
        body = None if request.body is None else request.body.blocks()
        try:
            with _as_no_answer(request):
                response = self._client(request.url).send(self._prepared(request, body), stream=True)
            try:
                yield _RealAnswer(request, response)
            finally:
                response.close()
        finally:
            if isinstance(body, Generator):
                body.close()  # its file too, also where nobody asked for the rest

    def close(self) -> None:
        """Hang up on all servers; the next exchange calls them again."""
        with self._lock:
            for client in self._clients.values():
                client.close()
            self._clients.clear()

    def _prepared(self, request: Request, body: Iterator[bytes] | None) -> "httpx.Request":
        headers = {"Accept-Encoding": "identity", "User-Agent": "reprobridge", **request.headers}
        if request.body is not None:
            headers["Content-Length"] = str(request.body.size)
        connect, read = self._connect_timeout, self._asking_timeout if request.asks else self._read_timeout
        times = {"connect": connect, "read": read, "write": connect, "pool": None}
        lighten_httpx()
        import httpx

        return httpx.Request(
            request.method, request.url, headers=headers, content=body, extensions={"timeout": times}
        )

    def _client(self, url: str) -> "httpx.Client":
        """Certificates are loaded, and proxies looked for, only where they matter: it takes 0.04 s."""
        parts = urlsplit(url)
        near = parts.scheme == "http" and is_loopback(parts.hostname or "")
        with self._lock:
            if near not in self._clients:
                self._clients[near] = _new_client(near=near)
            return self._clients[near]


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is this machine's own."""
    return _LOOPBACK.fullmatch(host.lower()) is not None


def without_query(url: str) -> str:
    """An address fit to be shown: user names, passwords, signatures and states are cut off."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


class _RealAnswer:
    """An answer that httpx received."""

    def __init__(self, request: Request, response: "httpx.Response") -> None:
        self._request = request
        self._response = response
        self.status = response.status_code
        self.headers: Mapping[str, str] = dict(response.headers)

    def blocks(self) -> Iterator[bytes]:
        with _as_no_answer(self._request):
            yield from self._response.iter_raw(CHUNK)


def _new_client(*, near: bool) -> "httpx.Client":
    import ssl
    from http.cookiejar import CookieJar, DefaultCookiePolicy

    lighten_httpx()
    import httpx

    # Registries need no cookies, and what is not kept cannot go to the wrong host.
    jar = CookieJar(DefaultCookiePolicy(allowed_domains=()))
    if near:
        # No TLS here: a context that trusts nobody is made in no time.
        return httpx.Client(cookies=jar, trust_env=False, verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    direct = {f"all://{host}": None for host in ("localhost", "127.0.0.1", "[::1]")}
    return httpx.Client(cookies=jar, mounts=direct)


def lighten_httpx() -> None:
    """Keep httpx, when it is imported next, from loading its command line with rich and click: 0.1 s of 0.25."""
    if "httpx" not in sys.modules:
        sys.modules.setdefault("httpx._main", ModuleType("httpx._main"))  # `main` is missing: it does without


@contextlib.contextmanager
def _as_no_answer(request: Request) -> Iterator[None]:
    lighten_httpx()
    import httpx

    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        no_answer = NoAnswerError(
            f"no answer from {urlsplit(request.url).netloc.rpartition('@')[2]}",
            where=repr(request),
            expected="an HTTP answer",
            found=_reason(error),
        )
        no_answer.unknown_host = _names_nobody(error)
        no_answer.timed_out = isinstance(error, httpx.ReadTimeout)
        raise no_answer from error


def _names_nobody(error: BaseException | None) -> bool:
    """Whether looking the server's name up is what failed."""
    import socket

    while error is not None and not isinstance(error, socket.gaierror):
        error = error.__cause__ or error.__context__
    return error is not None


def _reason(error: Exception) -> str:
    """What happened. The text of a protocol error may quote a header that holds a secret."""
    name = type(error).__name__
    return name if "Protocol" in name or not str(error) else f"{error} ({name})"
