"""What is published, where, and what of it is lacking there: the words of `publication.py`."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from reprobridge.digest import Digest
from reprobridge.frozen import frozen
from reprobridge.oci.model import Descriptor
from reprobridge.publish.gate import Passed
from reprobridge.publish.tags import Tags
from reprobridge.registry.model import Blob, Progress
from reprobridge.registry.transfer import Moved


@frozen(kw_only=True)
class Attachment:
    """A referrer: a manifest that names the image as its subject."""

    title: str
    """For people: what it says about the image."""
    manifest: bytes
    """Its exact bytes."""
    blobs: tuple[bytes, ...]
    """The bytes of everything that the manifest names."""

    @property
    def digest(self) -> Digest:
        """Of its manifest."""
        return Digest.of(self.manifest)


@frozen(kw_only=True)
class Publication:
    """What shall stand at the target in the end."""

    passed: Passed
    """The image."""
    tags: Tags
    """Its tags."""
    attachments: tuple[Attachment, ...] = ()
    """What is attached to it."""

    @property
    def digest(self) -> Digest:
        """The image's digest of record."""
        return self.passed.image.manifest.digest


class Target(Protocol):
    """A repository of a registry, or an OCI image layout."""

    name: str
    """For people and for references: `REGISTRY/REPOSITORY` or `oci:FOLDER`."""
    proves_blobs: bool
    """Whether a manifest that is there is taken to prove that its blobs are; else each is looked for."""

    def manifest(self, reference: str) -> bytes | None:
        """The manifest with this tag or digest, or None."""

    def holds(self, blob: Descriptor) -> bool:
        """Whether the blob is there: one look."""

    def push(self, blobs: Sequence[Blob], progress: Progress) -> Moved:
        """Bring blobs, unless they are there."""

    def put_manifest(self, reference: str, data: bytes) -> None:
        """Let a tag or digest mean this manifest, whose blobs are there."""

    def attached(self, subject: Descriptor) -> frozenset[Digest]:
        """Digests of everything that is attached to a manifest."""

    def attach(self, subject: Descriptor, manifests: Sequence[bytes]) -> None:
        """Attach manifests, whose blobs are there, to their subject, which is there."""


@frozen(kw_only=True)
class Survey:
    """What a look at the target showed."""

    standing: Mapping[str, Digest | None]
    """What each tag of the publication means there."""
    complete: bool
    """Whether the image's own manifest is there."""
    proven: frozenset[Digest]
    """Blobs of the image, and maybe others, that are there: manifests there prove it, or a look at each."""
    attached: frozenset[Digest]
    """What is attached to the image there, with its blobs."""


@frozen(kw_only=True)
class Difference:
    """What the target lacks."""

    blobs: tuple[Descriptor, ...]
    """Layers, lowest first, then the configuration; each once. Where nothing was proven they may be there."""
    proven: tuple[Descriptor, ...]
    """Blobs of the image that are there."""
    manifest: bool
    """Whether the image's manifest is lacking."""
    attachments: tuple[Attachment, ...]
    """What is not attached yet."""
    tags: tuple[str, ...]
    """Tags that mean nothing or something else, in the order in which they are set."""

    @property
    def nothing(self) -> bool:
        """Whether everything is there."""
        return not (self.blobs or self.manifest or self.attachments or self.tags)


@frozen(kw_only=True)
class Beside:
    """What is lacking of what a publication brings besides the image."""

    known: int = 0
    """Layers that become known in the repository."""
    blobs: tuple[Descriptor, ...] = ()
    """What the target lacks of what is said about them."""
    tags: tuple[str, ...] = ()
    """Tags that are set for it: `known-layers`, cosign's."""
