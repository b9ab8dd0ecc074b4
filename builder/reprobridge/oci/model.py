"""Descriptors, manifests and configurations of the OCI image specification 1.1, and their exact bytes.

Only what we write is modelled; what we received from elsewhere is kept as bytes.
"""

from collections.abc import Mapping
from enum import StrEnum

from reprobridge.digest import Digest, Json, canonical_json
from reprobridge.frozen import field, frozen


class MediaType(StrEnum):
    """Media types of the parts of an image."""

    INDEX = "application/vnd.oci.image.index.v1+json"
    MANIFEST = "application/vnd.oci.image.manifest.v1+json"
    CONFIG = "application/vnd.oci.image.config.v1+json"
    LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


@frozen
class Platform:
    """Operating system and processor that an image is for."""

    os: str
    """Always `linux` here."""
    architecture: str
    """Go's name: `amd64`, `arm64`."""

    @classmethod
    def parse(cls, text: str) -> "Platform":
        """Read `linux/amd64`. Raises ValueError."""
        system, slash, architecture = text.partition("/")
        if not slash or not system or not architecture or "/" in architecture:
            raise ValueError(f"expected os/architecture, found {text!r}")
        return cls(system, architecture)

    def __str__(self) -> str:
        return f"{self.os}/{self.architecture}"


@frozen
class Descriptor:
    """Names a blob: what it is, its digest, its length."""

    media_type: str
    """What the blob is."""
    digest: Digest
    """Of its bytes."""
    size: int
    """Its length in bytes."""

    @classmethod
    def of(cls, media_type: str, data: bytes) -> "Descriptor":
        """Names these bytes."""
        return cls(media_type, Digest.of(data), len(data))

    def to_json(self) -> dict[str, Json]:
        """The descriptor as in the specification."""
        return {"mediaType": str(self.media_type), "digest": str(self.digest), "size": self.size}


@frozen(kw_only=True)
class ImageConfig:
    """What a container gets, and the chain of uncompressed layers."""

    platform: Platform
    """Operating system and processor."""
    created: str
    """RFC 3339 time from the lock, never a clock's."""
    entrypoint: tuple[str, ...]
    """Program that a container starts."""
    environment: Mapping[str, str]
    """Variables of every process."""
    working_directory: str
    """Where it starts."""
    labels: Mapping[str, str]
    """The same as the manifest's annotations; `docker inspect` shows labels only."""
    diff_ids: tuple[Digest, ...]
    """Digest of each layer's tar stream, lowest first."""
    history: tuple[str, ...]
    """One readable line for each layer."""

    def to_bytes(self) -> bytes:
        """The exact bytes of the configuration blob."""
        config: dict[str, Json] = {
            "Entrypoint": list(self.entrypoint),
            "Env": [f"{name}={value}" for name, value in sorted(self.environment.items())],
            "WorkingDir": self.working_directory,
            "Labels": dict(self.labels),
        }
        history: list[Json] = [{"created": self.created, "created_by": line} for line in self.history]
        return canonical_json(
            {
                "created": self.created,
                "architecture": self.platform.architecture,
                "os": self.platform.os,
                "config": config,
                "rootfs": {"type": "layers", "diff_ids": [str(digest) for digest in self.diff_ids]},
                "history": history,
            }
        )


@frozen(kw_only=True)
class Manifest:
    """An image of one platform."""

    config: Descriptor
    """Its configuration blob."""
    layers: tuple[Descriptor, ...]
    """Its layers, lowest first."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """`org.opencontainers.image.*` and our own keys."""

    def to_bytes(self) -> bytes:
        """The exact bytes of the manifest, whose digest is the image's digest of record."""
        return canonical_json(
            {
                "schemaVersion": 2,
                "mediaType": MediaType.MANIFEST.value,
                "config": self.config.to_json(),
                "layers": [layer.to_json() for layer in self.layers],
                "annotations": dict(self.annotations),
            }
        )
