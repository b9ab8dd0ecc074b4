"""An image of a registry, brought into the store: whole, or blob by blob as they are asked for.

What is there already is not fetched again, so an interrupted pull goes on with the blobs that lack. Every blob
is streamed into the store and kept only when its bytes have the digest that the manifest names; the manifest's
own digest is the one asked for, or what its tag means.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError, RegistryError
from reprobridge.frozen import frozen, replace
from reprobridge.oci.layout import ImageParts, read_parts
from reprobridge.oci.model import Descriptor, MediaType, Platform
from reprobridge.registry.client import Registry
from reprobridge.registry.model import SILENT, Progress, Received, Wanted
from reprobridge.registry.reference import ImageReference
from reprobridge.registry.refusals import LostBlobError, lost_blob
from reprobridge.registry.transfer import pull_blobs
from reprobridge.replicate.seen import require_image
from reprobridge.store.store import Store
from reprobridge.wording import complaint

DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
"""What Docker calls an index."""
UNTOLD = "a platform that is not told"
"""Of an index's entry that names none: taken when it is the only one."""


@frozen(kw_only=True)
class Pulled:
    """An image that is whole in the store."""

    image: ImageParts
    """Its parts."""
    fetched: int
    """Bytes that came from the registry."""
    present: int
    """Blobs that were there; the manifest is asked for each time."""
    former: Digest | None
    """The manifest that the image's name meant in the store before, if it is another and still there."""


def remote_image(
    registry: Registry, reference: ImageReference, store: Store, platform: Platform
) -> ImageParts:
    """The image, of which only the manifest is fetched; `path` brings a blob when it is first asked for.

    Raises RegistryError when there is no such image, ArtifactError when it is none.
    """
    received = _manifest(registry, reference, platform)
    store.add(received.data)
    name, version = reference.name, reference.tag or _version(received)
    parts = read_parts(name, version, received.digest, store.path)
    require_image(parts, json.loads(received.data))
    blobs = {blob.digest: blob for blob in parts.blobs()}

    def path(digest: Digest) -> Path:
        if not store.holds(digest, blobs[digest].size):
            with _lost_is_named(parts):
                store.keeper(digest)(registry.blob_blocks(reference.repository, blobs[digest]))
        return store.path(digest)

    return replace(parts, path=path)


def missing_blobs(image: ImageParts, store: Store) -> list[Descriptor]:
    """The image's blobs that the store lacks."""
    return [blob for blob in image.blobs() if not store.holds(blob.digest, blob.size)]


def pull_image(
    registry: Registry, repository: str, image: ImageParts, store: Store, progress: Progress = SILENT
) -> Pulled:
    """Bring everything that lacks of a remote image, and let its name mean it. Raises RegistryError."""
    missing = missing_blobs(image, store)
    wanted = [Wanted(blob, store.keeper(blob.digest)) for blob in missing]
    with _lost_is_named(image):
        moved = pull_blobs(registry, repository, wanted, progress)
    former = store.refer(image.name, image.version, image.manifest.digest)
    return Pulled(
        image=replace(image, path=store.path),
        fetched=moved.bytes,
        present=len(image.blobs()) - 1 - len(missing),
        former=former,
    )


@contextlib.contextmanager
def _lost_is_named(image: ImageParts) -> Iterator[None]:
    """Let the error for a blob that is lost say which part of the image it is."""
    try:
        yield
    except LostBlobError as error:
        for number, layer in enumerate(image.layers, 1):
            if layer.digest == error.wanted:
                error.message = f"the registry has lost layer {number} of the image's {len(image.layers)}"
        if image.config.digest == error.wanted:
            error.message = "the registry has lost the image's configuration"
        raise


def _manifest(registry: Registry, reference: ImageReference, platform: Platform) -> Received:
    """The manifest of the image, found in its index where the name means one."""
    received = registry.manifest(reference.repository, reference.target)
    if received is None:
        raise RegistryError(
            "there is no such image",
            where=str(reference),
            expected=f"a manifest {reference.target}",
            found="none",
            hint="check name and tag; a private image looks like none without `docker login`",
        )
    if received.media_type not in (MediaType.INDEX.value, DOCKER_LIST):
        return received
    chosen = _chosen(received, reference, platform)
    manifest = registry.manifest(reference.repository, str(chosen))
    if manifest is None:
        raise lost_blob(chosen, "the image's manifest, which its index names", where=reference.name)
    return manifest


def _chosen(received: Received, reference: ImageReference, platform: Platform) -> Digest:
    try:
        entries = json.loads(received.data)["manifests"]
        found = {_platform(entry): Digest.parse(entry["digest"]) for entry in entries}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ArtifactError(
            "the image index is broken", where=str(reference), found=complaint(error)
        ) from error
    if list(found) == [UNTOLD] and len(entries) == 1:
        return found[UNTOLD]
    if str(platform) not in found:
        raise RegistryError(
            "the image is not there for this platform",
            where=str(reference),
            expected=str(platform),
            found=", ".join(sorted(found)) or "none",
            hint="name the image of another platform by its digest",
        )
    return found[str(platform)]


def _platform(entry: Mapping[str, Any]) -> str:
    platform = entry.get("platform")
    return f"{platform.get('os')}/{platform.get('architecture')}" if platform else UNTOLD


def _version(received: Received) -> str:
    """What stands for the tag where the image was named by its digest alone."""
    return f"sha256-{received.digest.hex}"
