"""HTTP servers that a test writes as one function, behind the door `Http`, without sockets.

def servers(request: Sent) -> Canned | NoAnswerError: ...
http = ScriptedHttp(servers)
http.sent   # every request with its body, in order
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from reprobridge.system.http import Answer, NoAnswerError, Request


@dataclass(frozen=True)
class Sent:
    """A request as it arrived."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes
    asks: bool = False
    """Whether the answer is waited for as for one to a question only."""

    @property
    def path(self) -> str:
        """Address without scheme, host and query."""
        return "/" + self.url.split("/", 3)[3].partition("?")[0]


@dataclass(frozen=True)
class Canned:
    """An answer."""

    status: int = 200
    data: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    breaks: bool = False
    """Whether the connection breaks behind the data."""

    def blocks(self) -> Iterator[bytes]:
        """The data in pieces of 1 MiB."""
        for start in range(0, len(self.data), 1 << 20):
            yield self.data[start : start + (1 << 20)]
        if self.breaks:
            raise NoAnswerError("no answer", found="a broken connection")


class ScriptedHttp:
    """Answers as the test says, and keeps what was asked."""

    def __init__(self, servers: Callable[[Sent], Canned | NoAnswerError]) -> None:
        self._servers = servers
        self.sent: list[Sent] = []

    @contextlib.contextmanager
    def exchange(self, request: Request) -> Iterator[Answer]:
        """Take a request with its whole body, and answer as the test says."""
        body = b"" if request.body is None else b"".join(request.body.blocks())
        if request.body is not None and len(body) != request.body.size:
            raise NoAnswerError("no answer", found="a body of another length")
        sent = Sent(request.method, request.url, dict(request.headers), body, request.asks)
        self.sent.append(sent)
        answer = self._servers(sent)
        if isinstance(answer, NoAnswerError):
            raise answer
        yield answer

    def asked(self) -> list[str]:
        """Method and path of every request."""
        return [f"{sent.method} {sent.path}" for sent in self.sent]


def broken_connection() -> NoAnswerError:
    """What the door raises when no answer comes."""
    return NoAnswerError("no answer", found="a broken connection")
