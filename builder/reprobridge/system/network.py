"""Fetching bytes: the only door to the network.

`httpx` is imported at the first fetch, so that an offline command never pays for it.
Names drop out for seconds and servers answer 5xx now and then, so a fetch is tried again a few times;
a definite answer (404, a missing login, more bytes than there may be) is not. Logins stand in an address, or else
in the user's netrc; they go to no other host, and errors don't show them.
"""

import os
import stat
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import unquote, urlsplit

from reprobridge.digest import CHUNK
from reprobridge.errors import NetworkError
from reprobridge.frozen import frozen
from reprobridge.wording import complaint, without_passwords

if TYPE_CHECKING:
    import httpx

ATTEMPTS = 4
"""How often a fetch is tried when the network or the server stumbles."""

SMALL = 16 << 20
"""Most bytes of what is read whole; Debian's largest InRelease has 0.3 MB."""

Sink = Callable[[bytes], object]
"""Takes the next bytes of a body."""


class NotThere(NetworkError):
    """The server answers, and says that it does not have this, or not for us (404, 410, 403, 401)."""


class TooLong(NetworkError):
    """The answer goes on where the longest that is right would have ended."""


class Network(Protocol):
    """The door to the network."""

    def fetch(self, url: str, open_sink: Callable[[], Sink]) -> None:
        """Stream a body into a sink; each attempt opens a fresh one. Raises NotThere or NetworkError."""


@frozen
class Offline:
    """A network that is not there: `--offline`, and tests that must not fetch. What lies on this machine can be had."""

    def fetch(self, url: str, open_sink: Callable[[], Sink]) -> None:
        """Stream a local file into a sink. Raises NetworkError for every other address, NotThere as ever."""
        if is_local(url):
            _read_local(url, open_sink())
            return
        raise NetworkError(
            _cannot_fetch(url), expected="a network", found="offline mode", hint="drop --offline"
        )


class RealNetwork:
    """http, https and file addresses; honours the usual proxy and certificate variables, and netrc."""

    def __init__(self, *, pause: Callable[[float], None] = time.sleep) -> None:
        self._pause = pause
        self._client: httpx.Client | None = None
        self._logins: httpx.Auth | None = None
        self._lock = threading.Lock()  # downloads run side by side

    def fetch(self, url: str, open_sink: Callable[[], Sink]) -> None:
        """Stream the body of `url` into a sink, in pieces of at most 1 MiB."""
        if is_local(url):
            _read_local(url, open_sink())
            return
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._stream(url, open_sink())
            except (NotThere, TooLong):
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
        from httpx import USE_CLIENT_DEFAULT

        try:
            client = self._http()
            # None would drop the login that stands in the address.
            auth = self._logins if self._logins and "@" not in urlsplit(url).netloc else USE_CLIENT_DEFAULT
            with client.stream("GET", url, auth=auth) as response:
                _require_ok(url, response.status_code)
                for block in response.iter_raw(CHUNK):
                    sink(block)
        except httpx.InvalidURL as error:
            raise NotThere(_cannot_fetch(url), found=without_passwords(str(error))) from error
        except httpx.HTTPError as error:
            found = without_passwords(str(error)) or type(error).__name__
            raise NetworkError(_cannot_fetch(url), expected="an answer", found=found) from error

    def _http(self) -> "httpx.Client":
        import httpx

        with self._lock:
            if self._client is None:
                headers = {"Accept-Encoding": "identity"}
                self._logins = _logins()
                self._client = httpx.Client(follow_redirects=True, timeout=60, headers=headers)
            return self._client


def is_local(url: str) -> bool:
    """Whether an address is that of a file of this machine, for which no network is needed."""
    return url[:5].lower() == "file:"


def read_url(network: Network, url: str) -> bytes:
    """The whole body of a small resource (a signed release file). Raises TooLong for one of more than `SMALL` bytes."""
    bodies: list[bytearray] = []

    def open_sink() -> Sink:
        bodies[:] = [bytearray()]
        return bodies[0].extend

    fetch_at_most(network, url, SMALL, open_sink)
    return bytes(bodies[0])


def fetch_at_most(network: Network, url: str, limit: int, open_sink: Callable[[], Sink]) -> None:
    """Stream a body of at most `limit` bytes into a sink. Raises TooLong for a longer one, NotThere or NetworkError."""

    def open_limited() -> Sink:
        sink, size = open_sink(), 0

        def take(block: bytes) -> None:
            nonlocal size
            size += len(block)
            if size > limit:
                hint = "check the address, and which mirror or proxy answers for it"
                expected, found = f"at most {limit} bytes", "more"
                raise TooLong(_cannot_fetch(url), expected=expected, found=found, hint=hint)
            sink(block)

        return take

    network.fetch(url, open_limited)


def _require_ok(url: str, status: int) -> None:
    if status == 200:
        return
    kind = NotThere if status in (401, 403, 404, 407, 410) else NetworkError
    hint = "logins come from ~/.netrc, or the file that NETRC names" if status == 401 else None
    raise kind(_cannot_fetch(url), expected="status 200", found=f"status {status}", hint=hint)


def _cannot_fetch(url: str) -> str:
    return f"cannot fetch {without_passwords(url)}"


def _logins() -> "httpx.Auth | None":
    """The user's netrc, if there is one that can be read: whom it concerns is told by a status 401."""
    import netrc

    import httpx

    try:
        path = Path(os.environ.get("NETRC") or "~/.netrc").expanduser()
        return httpx.NetRCAuth(str(path)) if path.is_file() else None
    except (netrc.NetrcParseError, OSError, UnicodeDecodeError, RuntimeError):  # the last: no home
        return None


def _read_local(url: str, sink: Sink) -> None:
    path = unquote(urlsplit(url).path)
    try:
        # Opening a pipe that nobody writes to would wait for ever.
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as stream:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NotThere(f"cannot read {path}", expected="a regular file", found="something else")
            while block := stream.read(CHUNK):
                sink(block)
    except (OSError, ValueError) as error:
        raise NotThere(f"cannot read {path}", expected="a readable file", found=complaint(error)) from error
