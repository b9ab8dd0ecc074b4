"""An image as a reviewer sees it: manifest, configuration, and its layers with their titles.

The blobs may lie in the store, in a layout or in a registry: `ImageParts.path` brings them, and here only the
small ones are asked for. What is brought is compared with its digest before anything is read from it.
"""

import functools
from collections.abc import Mapping
from typing import Any

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError
from reprobridge.frozen import frozen
from reprobridge.oci.layout import ImageParts, read_blob
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.sandbox.model import Layer
from reprobridge.store.store import Store
from reprobridge.validate.subject import Subject, open_subject, part_missing

_CONFIGURATIONS = (MediaType.CONFIG.value, "application/vnd.docker.container.image.v1+json")


@frozen(kw_only=True)
class SeenLayer:
    """A layer as the image names it."""

    descriptor: Descriptor
    """Of its compressed bytes."""
    diff_id: Digest
    """Of its tar stream, as the configuration states it."""
    title: str
    """The image's history line for it, or its number where the history has none."""


@frozen
class SeenImage:
    """An image whose manifest and configuration were read and hold their digests."""

    subject: Subject
    """The same for the checks of `validate/`."""

    @property
    def parts(self) -> ImageParts:
        """Descriptors, and where the blobs lie."""
        return self.subject.parts

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The manifest's JSON."""
        return self.subject.manifest

    @property
    def config(self) -> Mapping[str, Any]:
        """The configuration's JSON."""
        return self.subject.config

    @property
    def digest(self) -> Digest:
        """The digest of record."""
        return self.subject.digest

    @functools.cached_property
    def layers(self) -> tuple[SeenLayer, ...]:
        """The layers, lowest first. Raises ArtifactError when manifest and configuration contradict."""
        titles = _titles(self.config)
        if len(titles) != len(self.parts.layers):
            titles = [f"layer {number}" for number in range(len(self.parts.layers))]
        return tuple(
            SeenLayer(descriptor=part, diff_id=diff_id, title=title)
            for part, diff_id, title in zip(self.parts.layers, self.subject.diff_ids, titles, strict=True)
        )

    @property
    def platform(self) -> str:
        """What it runs on, for example `linux/amd64`."""
        return f"{self.config.get('os')}/{self.config.get('architecture')}"

    def titled(self, title: str) -> SeenLayer | None:
        """The topmost layer with this title."""
        return next((layer for layer in reversed(self.layers) if layer.title == title), None)

    def brought(self, layer: SeenLayer) -> Layer:
        """The layer for reading, its compressed bytes compared with their digest.

        Raises ArtifactError for other bytes, StoreError when an image of the store lacks the layer.
        """
        _compare(self.parts, layer.descriptor)
        digest = layer.descriptor.digest
        return Layer(layer.diff_id, digest, self.parts.path(digest))


def see(parts: ImageParts, store: Store) -> SeenImage:
    """Read an image's manifest and configuration. Raises ArtifactError when one of them is not its digest's."""
    subject = open_subject(parts, store)
    require_image(parts, subject.manifest)
    return SeenImage(subject)


def require_image(parts: ImageParts, manifest: Mapping[str, Any]) -> None:
    """Refuse a manifest of something that only lies in a registry like an image. Raises ArtifactError."""
    if parts.config.media_type not in _CONFIGURATIONS:
        raise ArtifactError(
            "this is no image",
            where=parts.name,
            expected=f"a configuration of type {MediaType.CONFIG.value}",
            found=f"something of type {manifest.get('artifactType') or parts.config.media_type}",
        )


def _compare(parts: ImageParts, blob: Descriptor) -> None:
    """Read a blob to its end; what it is compared with is its digest."""
    try:
        for _ in read_blob(parts, blob):
            pass
    except FileNotFoundError as error:
        raise part_missing(blob) from error


def _titles(config: Mapping[str, Any]) -> list[str]:
    history = config.get("history")
    lines = history if isinstance(history, list) else []
    return [
        str(line.get("created_by", ""))
        for line in lines
        if isinstance(line, dict) and not line.get("empty_layer")
    ]
