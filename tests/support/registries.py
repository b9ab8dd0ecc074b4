"""Clients of registries for tests: they know a login or none, and never really wait."""

import contextlib
import io
import json
from collections.abc import Iterator

import pytest

from reprobridge.digest import Digest
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.registry.client import Registry
from reprobridge.registry.credentials import Anonymous, Login, OneLogin
from reprobridge.registry.model import Blob
from reprobridge.registry.options import Options, Patience, Quirks
from reprobridge.system.http import Http, RealHttp

EMPTY_TYPE = "application/vnd.oci.empty.v1+json"


class Waiting:
    """A pause that does not wait, and a clock that it moves on."""

    def __init__(self) -> None:
        self.waited: list[float] = []
        """Seconds of every pause."""
        self.now = 1_000_000.0
        """What the clock shows."""

    def pause(self, seconds: float) -> None:
        """Let so many seconds pass at once."""
        self.waited.append(seconds)
        self.now += seconds

    def patience(self) -> Patience:
        """The usual patience, with this time."""
        return Patience(pause=self.pause, clock=lambda: self.now)


def client(
    host: str,
    http: Http,
    *,
    login: Login | None = None,
    waiting: Waiting | None = None,
    quirks: Quirks | None = None,
) -> Registry:
    """A registry with this login, or with none."""
    credentials = Anonymous() if login is None else OneLogin(login)
    options = Options(patience=(waiting or Waiting()).patience(), quirks=quirks)
    return Registry(host, http, credentials, options)


def blob_of(data: bytes, *, mount_from: tuple[str, ...] = ()) -> Blob:
    """These bytes as a blob."""
    descriptor = Descriptor("application/octet-stream", Digest.of(data), len(data))
    return Blob(descriptor, lambda: io.BytesIO(data), mount_from)


def image_manifest(config: bytes = b"{}", *layers: bytes) -> bytes:
    """A manifest of these blobs."""
    return json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": MediaType.MANIFEST,
            "config": {**blob_of(config).descriptor.to_json(), "mediaType": MediaType.CONFIG},
            "layers": [
                {**blob_of(layer).descriptor.to_json(), "mediaType": MediaType.LAYER} for layer in layers
            ],
        }
    ).encode()


def referring_manifest(subject: Descriptor, artifact_type: str, payload: bytes = b"{}") -> bytes:
    """A manifest without configuration that refers to `subject`; its blobs are `{}` and the payload."""
    return json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": MediaType.MANIFEST,
            "artifactType": artifact_type,
            "config": {**blob_of(b"{}").descriptor.to_json(), "mediaType": EMPTY_TYPE},
            "layers": [blob_of(payload).descriptor.to_json()],
            "subject": subject.to_json(),
            "annotations": {"about": artifact_type},
        }
    ).encode()


def described(manifest: bytes) -> Descriptor:
    """A manifest's descriptor."""
    return Descriptor(MediaType.MANIFEST, Digest.of(manifest), len(manifest))


@pytest.fixture
def real_http() -> Iterator[RealHttp]:
    """The door to real servers, shut at the end of the test."""
    with contextlib.closing(RealHttp()) as http:
        yield http
