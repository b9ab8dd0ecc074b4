"""A publication: what shall stand at a target in the end, what of it is lacking there, and bringing that there.

`survey` looks at the target, `difference` (pure) says what is lacking, `carry_out` brings it: layers and
configuration, the manifest by its digest, what is attached to it, the tags last. So a reader never sees an image
that is not whole, and a publication that was interrupted goes on where it ended: what arrived is found there.
A manifest that a repository holds is taken to prove that it holds the manifest's blobs (distribution-spec 1.1,
pushing manifests), so no request asks for those; a registry may have lost them nevertheless, and a folder proves
nothing, so where a target does not prove its blobs each one is looked for.
"""

import json
from collections.abc import Callable, Sequence

from reprobridge.digest import Digest
from reprobridge.errors import PublishError, RegistryError
from reprobridge.frozen import field_names, replace
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.gate import Passed
from reprobridge.publish.model import Attachment, Difference, Publication, Survey, Target
from reprobridge.publish.tags import Tags, require_free
from reprobridge.registry.model import OCTETS, SILENT, Blob, Progress
from reprobridge.registry.transfer import Moved


def both(one: Moved, other: Moved) -> Moved:
    """What two transfers did."""
    return Moved(**{name: getattr(one, name) + getattr(other, name) for name in field_names(Moved)})


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
    return Survey(
        standing=standing,
        complete=complete,
        proven=_proven(publication.passed, manifests, target),
        attached=_attached(publication, target) if complete else frozenset(),
    )


def _proven(passed: Passed, manifests: Sequence[bytes], target: Target) -> frozenset[Digest]:
    if target.proves_blobs:
        return frozenset(digest for data in manifests for digest in named_blobs(data))
    every = {blob.digest: blob for blob in (*passed.image.layers, passed.image.config)}
    return frozenset(digest for digest, blob in every.items() if target.holds(blob))


def _attached(publication: Publication, target: Target) -> frozenset[Digest]:
    """Those of our attachments that are there; with their blobs, where the target does not prove them."""
    if not publication.attachments:
        return frozenset()
    found = target.attached(publication.passed.image.manifest)
    if target.proves_blobs:
        return found
    blobs = {blob for one in publication.attachments if one.digest in found for blob in one.blobs}
    lost = {blob for blob in blobs if not target.holds(Descriptor.of(OCTETS, blob))}
    return frozenset(
        one.digest for one in publication.attachments if one.digest in found and not lost & {*one.blobs}
    )


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
    proven = tuple(blob for blob in every.values() if blob.digest in seen.proven)
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
    moved = target.push([Blob.of(blob) for blob in every.values()], SILENT)
    target.attach(subject, [one.manifest for one in attachments])
    return moved


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
