"""A publication: what shall stand at a target in the end, what of it is lacking there, and bringing that there.

`survey` looks at the target, `difference` (pure) says what is lacking, `carry_out` brings it: layers and
configuration, the manifest by its digest, what is attached to it, the tags last. So a reader never sees an image
that is not whole, and a publication that was interrupted goes on where it ended: what arrived is found there.
A manifest that a repository holds proves that it holds the manifest's blobs (distribution-spec 1.1, pushing
manifests), so no request asks for those.
"""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from reprobridge.digest import Digest
from reprobridge.errors import PublishError, RegistryError
from reprobridge.frozen import field_names, frozen, replace
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.gate import Passed
from reprobridge.publish.tags import Tags, require_free
from reprobridge.registry.model import SILENT, Blob, Progress
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


def both(one: Moved, other: Moved) -> Moved:
    """What two transfers did."""
    return Moved(**{name: getattr(one, name) + getattr(other, name) for name in field_names(Moved)})


class Target(Protocol):
    """A repository of a registry, or an OCI image layout."""

    name: str
    """For people and for references: `REGISTRY/REPOSITORY` or `oci:FOLDER`."""

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
    """Blobs that manifests there prove to be there."""
    attached: frozenset[Digest]
    """What is attached to the image there."""


@frozen(kw_only=True)
class Difference:
    """What the target lacks."""

    blobs: tuple[Descriptor, ...]
    """Layers, lowest first, then the configuration; each once. They may be there, but nothing proves it."""
    proven: tuple[Descriptor, ...]
    """Blobs of the image that need no request."""
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


def survey(publication: Publication, target: Target) -> Survey:
    """Look at the target; refuse before anything is moved. Raises PublishError."""
    tags, ours = publication.tags, publication.digest
    found = {tag: target.manifest(tag) for tag in tags.all()}
    standing = {tag: None if data is None else Digest.of(data) for tag, data in found.items()}
    require_free(tags, standing[tags.version], ours, target.name)
    manifests = [data for data in found.values() if data is not None]
    complete = ours in standing.values()
    if not complete:
        own = target.manifest(str(ours))
        complete = own is not None
        manifests += [data for data in (own, *_neighbours(target, tags)) if data is not None]
    proven = frozenset(digest for data in manifests for digest in named_blobs(data))
    subject = publication.passed.image.manifest
    attached = target.attached(subject) if complete and publication.attachments else frozenset()
    return Survey(standing=standing, complete=complete, proven=proven, attached=attached)


NEIGHBOUR = "latest"
"""Tag of another image in the same repository: most often the version before."""


def _neighbours(target: Target, tags: Tags) -> list[bytes | None]:
    return [] if NEIGHBOUR in tags.all() else [target.manifest(NEIGHBOUR)]


def named_blobs(manifest: bytes) -> frozenset[Digest]:
    """The blobs that an image manifest of whatever origin names; none when it is something else."""
    try:
        parsed = json.loads(manifest)
        if parsed.get("mediaType", MediaType.MANIFEST.value) == MediaType.INDEX.value:
            return frozenset()
        parts = [parsed["config"], *parsed["layers"]]
        return frozenset(Digest.parse(part["digest"]) for part in parts)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return frozenset()


def difference(publication: Publication, seen: Survey) -> Difference:
    """What the target lacks, as far as the survey tells."""
    image = publication.passed.image
    every = {blob.digest: blob for blob in (*image.layers, image.config)}
    proven = tuple(blob for blob in every.values() if seen.complete or blob.digest in seen.proven)
    return Difference(
        blobs=tuple(blob for blob in every.values() if blob not in proven),
        proven=proven,
        manifest=not seen.complete,
        attachments=tuple(one for one in publication.attachments if one.digest not in seen.attached),
        tags=tuple(tag for tag in publication.tags.all() if seen.standing[tag] != publication.digest),
    )


def carry_out(
    publication: Publication,
    lacking: Difference,
    target: Target,
    blob_of: Callable[[Descriptor], Blob],
    progress: Progress = SILENT,
) -> Moved:
    """Bring what is lacking, tags last. Raises PublishError, RegistryError; then running again goes on."""
    image, data = publication.passed.image, manifest_bytes(publication.passed)
    moved = target.push([blob_of(blob) for blob in lacking.blobs], progress)
    moved = replace(moved, present=moved.present + len(lacking.proven))
    if lacking.manifest:
        try:
            target.put_manifest(str(image.manifest.digest), data)
        except RegistryError:
            if not lacking.proven:
                raise
            # A registry that lost blobs of a manifest that it holds refuses ours: then each is looked for.
            moved = both(moved, target.push([blob_of(blob) for blob in lacking.proven], progress))
            target.put_manifest(str(image.manifest.digest), data)
    moved = both(moved, _attach(image.manifest, lacking.attachments, target))
    for tag in lacking.tags:
        if tag == publication.tags.version:
            _require_still_free(publication, target)
        target.put_manifest(tag, data)
    return moved


def _attach(subject: Descriptor, attachments: Sequence[Attachment], target: Target) -> Moved:
    if not attachments:
        return Moved()
    every = {Digest.of(blob): blob for one in attachments for blob in one.blobs}
    moved = target.push([in_memory(blob) for blob in every.values()], SILENT)
    target.attach(subject, [one.manifest for one in attachments])
    return moved


OCTETS = "application/octet-stream"
"""Media type of a blob whose manifest says what it is."""


def in_memory(data: bytes) -> Blob:
    """Bytes at hand as a blob."""
    return Blob(Descriptor(OCTETS, Digest.of(data), len(data)), lambda: io.BytesIO(data))


def _require_still_free(publication: Publication, target: Target) -> None:
    """Look again right before the version tag is set: somebody may have published in the meantime."""
    now = target.manifest(publication.tags.version)
    standing = None if now is None else Digest.of(now)
    require_free(publication.tags, standing, publication.digest, target.name)


def manifest_bytes(passed: Passed) -> bytes:
    """The exact bytes of the image's manifest. Raises PublishError when they changed since the gate."""
    data = passed.image.path(passed.image.manifest.digest).read_bytes()
    if (found := Digest.of(data)) != passed.report.image:
        raise PublishError(
            "the image's manifest is damaged",
            where=passed.image.name,
            expected=str(passed.report.image),
            found=str(found),
            hint="build it again",
        )
    return data
