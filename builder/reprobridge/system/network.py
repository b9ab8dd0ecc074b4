"""Fetching bytes: the only door to the network.

`httpx` is imported at the first fetch, so that an offline command never pays for it.
Names drop out for seconds and servers answer 5xx now and then, so a fetch is tried again a few times;
a definite answer (404, a wrong certificate) is not.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from reprobridge.digest import CHUNK
from reprobridge.errors import NetworkError
from reprobridge.frozen import frozen

if TYPE_CHECKING:
    import httpx

ATTEMPTS = 4
"""How often a fetch is tried when the network or the server stumbles."""

Sink = Callable[[bytes], object]
"""Takes the next bytes of a body."""


class NotThere(NetworkError):
    """The server answers, and says that it does not have this (404, 410, 403)."""


class Network(Protocol):
    """The door to the network."""

    def fetch(self, url: str, open_sink: Callable[[], Sink]) -> None:
        """Stream a body into a sink; each attempt opens a fresh one. Raises NotThere or NetworkError."""


@frozen
class Offline:
    """A network that is not there: `--offline`, and tests that must not fetch."""

    def fetch(self, url: str, open_sink: Callable[[], Sink]) -> None:
        """Always raises NetworkError."""
        del open_sink
        raise NetworkError(
            f"cannot fetch {url}", expected="a network", found="offline mode", hint="drop --offline"
        )


class RealNetwork:
    """http, https and file addresses; honours the usual proxy and certificate variables."""

    def __init__(self, *, pause: Callable[[float], None] = time.sleep) -> None:
        self._pause = pause
        self._client: httpx.Client | None = None
        self._lock = threading.Lock()  # downloads run side by side

    def fetch(self, url: str, open_sink: Callable[[], Sink]) -> None:
        """Stream the body of `url` into a sink, in pieces of at most 1 MiB."""
        if urlsplit(url).scheme == "file":
            _read_local(url, open_sink())
            return
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._stream(url, open_sink())
            except NotThere:
                raise
            except NetworkError:
                if attempt == ATTEMPTS:
                    raise
                self._pause(2.0 ** (attempt - 2))
            else:
                return

    def close(self) -> None:
        """Hang up on all servers; the next fetch calls them again."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _stream(self, url: str, sink: Sink) -> None:
        import httpx

        try:
            with self._http().stream("GET", url) as response:
                _require_ok(url, response.status_code)
                for block in response.iter_raw(CHUNK):
                    sink(block)
        except httpx.InvalidURL as error:
            raise NotThere(f"cannot fetch {url}", found=str(error)) from error
        except httpx.HTTPError as error:
            found = str(error) or type(error).__name__
            raise NetworkError(f"cannot fetch {url}", expected="an answer", found=found) from error

    def _http(self) -> "httpx.Client":
        import httpx

        with self._lock:
            if self._client is None:
                headers = {"Accept-Encoding": "identity"}
                self._client = httpx.Client(follow_redirects=True, timeout=60, headers=headers)
            return self._client


def read_url(network: Network, url: str) -> bytes:
    """The whole body of a small resource (an index page, a signed release file)."""
    bodies: list[bytearray] = []

    def open_sink() -> Sink:
        bodies.append(bytearray())
        return bodies[-1].extend

    network.fetch(url, open_sink)
    return bytes(bodies[-1])


def _require_ok(url: str, status: int) -> None:
    if status in (403, 404, 410):
        raise NotThere(f"cannot fetch {url}", expected="status 200", found=f"status {status}")
    if status != 200:
        raise NetworkError(f"cannot fetch {url}", expected="status 200", found=f"status {status}")


def _read_local(url: str, sink: Sink) -> None:
    path = Path(unquote(urlsplit(url).path))
    try:
        with path.open("rb") as stream:
            while block := stream.read(CHUNK):
                sink(block)
    except OSError as error:
        raise NotThere(
            f"cannot read {path}", expected="a readable file", found=error.strerror or ""
        ) from error
