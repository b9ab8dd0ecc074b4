"""A client for the fake's own tests: one plain request, nothing followed, nothing repeated."""

import contextlib
import http.client
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from fakes.registry.content import MANIFEST, sha256
from fakes.registry.server import FakeRegistry


@dataclass(frozen=True)
class Heard:
    """An answer."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    def json(self) -> Any:
        """The body's value."""
        return json.loads(self.body)

    def codes(self) -> list[str]:
        """The codes of an error in the specification's form."""
        return [one["code"] for one in self.json()["errors"]]


def ask(
    registry: FakeRegistry,
    method: str,
    target: str,
    body: bytes | Iterable[bytes] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Heard:
    """Send one request over a connection of its own; an iterable goes out with chunked encoding."""
    connection = http.client.HTTPConnection(registry.host, timeout=10)
    try:
        connection.connect()
        with contextlib.suppress(ConnectionError):  # an answer may come before all is sent
            connection.request(method, target, body=body, headers=dict(headers or {}))
        with connection.getresponse() as answer:
            named = {name.lower(): value for name, value in answer.getheaders()}
            return Heard(answer.status, named, answer.read())
    finally:
        connection.close()


def begin(registry: FakeRegistry, name: str, query: str = "") -> Heard:
    """Begin an upload."""
    return ask(registry, "POST", f"/v2/{name}/blobs/uploads/{query}", headers={"Content-Length": "0"})


def closing(location: str, digest: str) -> str:
    """The target of the PUT that ends a session."""
    parts = urlsplit(location)
    return f"{parts.path}?{parts.query}{'&' if parts.query else ''}digest={digest}"


def push(registry: FakeRegistry, name: str, data: bytes) -> str:
    """Put a blob there in the usual two requests; its digest."""
    digest = sha256(data)
    ended = ask(registry, "PUT", closing(begin(registry, name).headers["location"], digest), data)
    if ended.status != 201:
        raise AssertionError(f"{ended.status} {ended.body!r}")
    return digest


def put(
    registry: FakeRegistry, name: str, reference: str, manifest: object, media_type: str = MANIFEST
) -> Heard:
    """PUT a manifest, given as its value or as its bytes."""
    data = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
    return ask(registry, "PUT", f"/v2/{name}/manifests/{reference}", data, {"Content-Type": media_type})
