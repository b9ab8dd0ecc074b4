"""What the fake registry holds. Digests and names are plain text here: the fake shares no type with our client."""

import hashlib
import json
import threading
from dataclasses import dataclass, field
from typing import Any

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


def sha256(data: bytes) -> str:
    """The digest of bytes, with its algorithm."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def digest_like(digest: str, data: bytes) -> str | None:
    """The digest of bytes by another digest's algorithm; None where that is no digest."""
    algorithm, _, value = digest.partition(":")
    if algorithm not in ("sha256", "sha512"):
        return None
    made = hashlib.new(algorithm, data).hexdigest()
    return f"{algorithm}:{made}" if len(made) == len(value) else None


@dataclass(frozen=True)
class StoredManifest:
    """A manifest or an index, as it was put."""

    media_type: str
    data: bytes

    def parsed(self) -> dict[str, Any]:
        """Its JSON; the registry took nothing else than an object."""
        return dict(json.loads(self.data))


@dataclass
class Repository:
    """What one name holds."""

    blobs: set[str] = field(default_factory=set)
    """Digests of the blobs that are linked here; their bytes lie in `Content.blobs`."""
    manifests: dict[str, StoredManifest] = field(default_factory=dict)
    """By digest."""
    tags: dict[str, str] = field(default_factory=dict)
    """Tag to the manifest's digest."""

    def find(self, reference: str) -> StoredManifest | None:
        """A manifest by its tag or digest."""
        return self.manifests.get(self.tags.get(reference, reference))


@dataclass
class Session:
    """An upload that has begun."""

    name: str
    data: bytearray = field(default_factory=bytearray)
    state: int = 0
    """Counts the requests that it has taken: a Location of an earlier state is stale."""


class Content:
    """All repositories and upload sessions. `lock` is held while one request is answered."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.blobs: dict[str, bytes] = {}
        """Every blob's bytes by digest, whatever repository it is linked to."""
        self.repositories: dict[str, Repository] = {}
        self.sessions: dict[str, Session] = {}
        self._begun = 0

    def repository(self, name: str) -> Repository:
        """The repository of a name; it comes into being when something is put there."""
        return self.repositories.setdefault(name, Repository())

    def find(self, name: str) -> Repository:
        """The repository of a name, or an empty one that is not kept."""
        return self.repositories.get(name, Repository())

    def put_blob(self, name: str, data: bytes) -> str:
        """Store a blob in a repository; its digest."""
        return self.link_blob(name, sha256(data), data)

    def link_blob(self, name: str, digest: str, data: bytes) -> str:
        """Store a blob under a digest that has been verified, possibly of another algorithm."""
        with self.lock:
            self.blobs[digest] = data
            self.repository(name).blobs.add(digest)
        return digest

    def put_manifest(self, name: str, data: bytes, media_type: str = MANIFEST, tag: str | None = None) -> str:
        """Store a manifest, and let a tag name it; its digest."""
        digest = sha256(data)
        with self.lock:
            repository = self.repository(name)
            repository.manifests[digest] = StoredManifest(media_type, data)
            if tag is not None:
                repository.tags[tag] = digest
        return digest

    def begin(self, name: str) -> str:
        """Begin an upload session; its id."""
        with self.lock:
            self._begun += 1
            identity = f"session-{self._begun}"
            self.sessions[identity] = Session(name)
        return identity

    def state(self) -> dict[str, dict[str, object]]:
        """What stands where, for comparisons: repository -> blobs, manifests, tags. Sessions do not count."""
        with self.lock:
            return {
                name: {
                    "blobs": {digest: self.blobs[digest] for digest in sorted(repository.blobs)},
                    "manifests": dict(sorted(repository.manifests.items())),
                    "tags": dict(sorted(repository.tags.items())),
                }
                for name, repository in sorted(self.repositories.items())
            }
