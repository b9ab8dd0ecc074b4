"""One request and one reply of the fake registry, and the step of the protocol that a request is."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from urllib.parse import parse_qs, unquote, urlsplit


class Phase(Enum):
    """Steps of the protocol: where a fault can strike."""

    BASE = "GET /v2/"
    TOKEN = "token request"
    BLOB_HEAD = "HEAD blob"
    BLOB_GET = "GET blob"
    BLOB_DELETE = "DELETE blob"
    MOUNT = "POST mount"
    UPLOAD_START = "POST upload"
    UPLOAD_STATUS = "GET upload"
    UPLOAD_CHUNK = "PATCH chunk"
    UPLOAD_END = "PUT blob"
    UPLOAD_CANCEL = "DELETE upload"
    MANIFEST_HEAD = "HEAD manifest"
    MANIFEST_GET = "GET manifest"
    MANIFEST_PUT = "PUT manifest"
    MANIFEST_DELETE = "DELETE manifest"
    TAGS = "GET tags"
    REFERRERS = "GET referrers"
    UNKNOWN = "anything else"


_NAME = r"/v2/(?P<name>.+)"
_ROUTES: tuple[tuple[str, re.Pattern[str], Phase], ...] = tuple(
    (method, re.compile(pattern), phase)
    for method, pattern, phase in (
        ("GET", r"/v2/?", Phase.BASE),
        ("GET", r"/token", Phase.TOKEN),
        ("POST", r"/token", Phase.TOKEN),
        ("POST", rf"{_NAME}/blobs/uploads/?", Phase.UPLOAD_START),
        ("GET", rf"{_NAME}/blobs/uploads/(?P<reference>[^/]+)", Phase.UPLOAD_STATUS),
        ("PATCH", rf"{_NAME}/blobs/uploads/(?P<reference>[^/]+)", Phase.UPLOAD_CHUNK),
        ("PUT", rf"{_NAME}/blobs/uploads/(?P<reference>[^/]+)", Phase.UPLOAD_END),
        ("DELETE", rf"{_NAME}/blobs/uploads/(?P<reference>[^/]+)", Phase.UPLOAD_CANCEL),
        ("HEAD", rf"{_NAME}/blobs/(?P<reference>[^/]+)", Phase.BLOB_HEAD),
        ("GET", rf"{_NAME}/blobs/(?P<reference>[^/]+)", Phase.BLOB_GET),
        ("DELETE", rf"{_NAME}/blobs/(?P<reference>[^/]+)", Phase.BLOB_DELETE),
        ("HEAD", rf"{_NAME}/manifests/(?P<reference>[^/]+)", Phase.MANIFEST_HEAD),
        ("GET", rf"{_NAME}/manifests/(?P<reference>[^/]+)", Phase.MANIFEST_GET),
        ("PUT", rf"{_NAME}/manifests/(?P<reference>[^/]+)", Phase.MANIFEST_PUT),
        ("DELETE", rf"{_NAME}/manifests/(?P<reference>[^/]+)", Phase.MANIFEST_DELETE),
        ("GET", rf"{_NAME}/tags/list", Phase.TAGS),
        ("GET", rf"{_NAME}/referrers/(?P<reference>[^/]+)", Phase.REFERRERS),
    )
)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request's head as it came in."""

    method: str
    path: str
    """Decoded, without the query."""
    query: Mapping[str, tuple[str, ...]]
    headers: Mapping[str, str]
    """Names in lower case."""
    phase: Phase
    """The step of the protocol."""
    name: str = ""
    """The repository, when the path has one."""
    reference: str = ""
    """Tag, digest or session at the path's end."""

    @classmethod
    def parse(cls, method: str, target: str, headers: Mapping[str, str]) -> "Request":
        """Read a request line's method and target."""
        parts = urlsplit(target)
        path = unquote(parts.path)
        values = parse_qs(parts.query, keep_blank_values=True)
        query = {name: tuple(value) for name, value in values.items()}
        phase, found = _route(method, path)
        if phase is Phase.UPLOAD_START and "mount" in query:
            phase = Phase.MOUNT
        return cls(method=method, path=path, query=query, headers=headers, phase=phase, **found)

    def parameter(self, name: str) -> str | None:
        """The last value of a query parameter."""
        return self.query[name][-1] if name in self.query else None


def _route(method: str, path: str) -> tuple[Phase, dict[str, str]]:
    for known, pattern, phase in _ROUTES:
        if known == method and (found := pattern.fullmatch(path)):
            return phase, found.groupdict()
    return Phase.UNKNOWN, {}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer, which may be made to lie about its length or to end too early."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """Without Content-Length."""
    body: bytes = b""
    """For HEAD: what GET would send; only its length goes out."""
    declared: int | None = None
    """Content-Length in the head; None: the body's."""
    keep: int | None = None
    """Bytes of the body that go out before the connection ends; None: all, and the connection stays."""
    reset: bool = False
    """Whether such a connection ends by a reset instead of an orderly close."""

    def with_headers(self, **headers: str | None) -> "Reply":
        """With headers set, or removed by None; underscores in the names stand for dashes."""
        changed: dict[str, str | None] = {**self.headers}
        changed |= {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={name: value for name, value in changed.items() if value is not None})


@dataclass
class Exchange:
    """A line of the log: a request, and what became of it."""

    request: Request
    received: int = 0
    """Bytes of its body that were read."""
    status: int | None = None
    """Status of the answer; None as long as there is none."""


def json_reply(status: int, value: object, **headers: str) -> Reply:
    """An answer with a JSON body."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(
        status=status, headers={"Content-Type": "application/json"} | named, body=json.dumps(value).encode()
    )


def error(status: int, code: str, message: str = "", detail: object = None) -> Reply:
    """An error in the specification's form."""
    return json_reply(status, {"errors": [{"code": code, "message": message, "detail": detail}]})
