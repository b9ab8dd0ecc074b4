"""Signed statements about an image, from wherever they are offered: nothing in them is known to be true.

Anybody who may write to a repository can attach something, so what is no bundle is passed over.
"""

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from reprobridge.digest import Digest
from reprobridge.errors import TrustError, UsageError
from reprobridge.oci.layout import REF_NAME, REFERRERS, read_entries
from reprobridge.oci.model import Descriptor
from reprobridge.publish.signing.referrer import MAXIMUM, bundle_of
from reprobridge.registry.client import Registry
from reprobridge.registry.referrers import referrers


def registry_bundles(registry: Registry, repository: str, image: Digest) -> Iterator[bytes]:
    """The bundles that refer to an image of a registry. Raises RegistryError when it does not give them."""
    for referrer in referrers(registry, repository, image):
        received = registry.manifest(repository, str(referrer.descriptor.digest))
        blob = None if received is None else _bundle_of(received.data)
        if blob is not None:
            data = io.BytesIO()
            registry.pull_blob(repository, blob, data.write)
            yield data.getvalue()


def layout_bundles(folder: Path, image: Digest) -> Iterator[bytes]:
    """The bundles that a layout lists under the image's tag for referrers."""
    listed = next((entry for entry in read_entries(folder) if _tag(entry) == f"{REFERRERS}{image.hex}"), None)
    for entry in [] if listed is None else _entries(_blob(folder, str(listed["digest"]))):
        blob = _bundle_of(_blob(folder, entry))
        if blob is not None:
            yield _blob(folder, str(blob.digest))


def file_bundles(paths: Iterable[Path]) -> Iterator[bytes]:
    """The bundles in files. Raises UsageError for one that cannot be read."""
    for path in paths:
        try:
            with path.open("rb") as stream:
                yield stream.read(MAXIMUM + 1)
        except OSError as error:
            raise UsageError(
                "the bundle cannot be read", where=str(path), found=error.strerror or str(error)
            ) from error


def _bundle_of(manifest: bytes) -> Descriptor | None:
    try:
        return bundle_of(manifest)
    except TrustError:
        return None


def _blob(folder: Path, digest: str) -> bytes:
    """A small blob of a layout; empty when it is not there or not the one that its name says."""
    try:
        wanted = Digest.parse(digest)
        data = (folder / "blobs" / "sha256" / wanted.hex).read_bytes()
    except (OSError, ValueError):
        return b""
    return data if Digest.of(data) == wanted else b""


def _entries(index: bytes) -> list[str]:
    try:
        return [str(entry["digest"]) for entry in json.loads(index)["manifests"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _tag(entry: dict[str, object]) -> str:
    annotations = entry.get("annotations")
    return str(annotations.get(REF_NAME)) if isinstance(annotations, dict) else ""
