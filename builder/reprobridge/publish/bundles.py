"""Signed statements about an image, from wherever they are offered: nothing in them is known to be true.

Anybody who may write to a repository can attach something, so what is no bundle is passed over, and what the
registry does not give does not keep the rest away.
"""

import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from reprobridge.digest import Digest
from reprobridge.errors import RegistryError, TrustError, UsageError
from reprobridge.oci.layout import REF_NAME, REFERRERS, read_entries, read_small_blob
from reprobridge.oci.model import Descriptor
from reprobridge.publish.attested import Offered, Unread
from reprobridge.publish.signing.bundle import open_bundle
from reprobridge.publish.signing.referrer import MAXIMUM, bundle_of
from reprobridge.registry.client import Registry
from reprobridge.registry.referrers import referrers
from reprobridge.registry.refusals import Transient


def registry_bundles(registry: Registry, repository: str, image: Digest) -> Iterator[Offered]:
    """The bundles that refer to an image of a registry. Raises RegistryError when it does not list them.

    So does a registry that stumbles: another try may give what one that refuses, or has lost it, never gives.
    """
    for referrer in referrers(registry, repository, image):
        try:
            bundle = _attached(registry, repository, referrer.descriptor.digest)
        except Transient:
            raise
        except RegistryError as error:
            yield Unread(f"{referrer.descriptor.digest} cannot be had: {error.in_one_line()}")
            continue
        if bundle is not None:
            yield bundle


def _attached(registry: Registry, repository: str, attachment: Digest) -> bytes | None:
    """The bundle that a manifest holds; None when it holds none."""
    received = registry.manifest(repository, str(attachment))
    blob = None if received is None else _bundle_of(received.data)
    if blob is None:
        return None
    data = io.BytesIO()
    registry.pull_blob(repository, blob, data.write)
    return data.getvalue()


def layout_bundles(folder: Path, image: Digest) -> Iterator[Offered]:
    """The bundles that a layout lists under the image's tag for referrers."""
    listed = next((entry for entry in read_entries(folder) if _tag(entry) == f"{REFERRERS}{image.hex}"), None)
    for entry in [] if listed is None else _entries(_blob(folder, str(listed["digest"]))):
        blob = _bundle_of(_blob(folder, entry))
        if blob is not None:
            yield _blob(folder, str(blob.digest))


def _require_bundle(data: bytes) -> None:
    if len(data) > MAXIMUM:
        raise TrustError("the bundle is too long", expected=f"at most {MAXIMUM} bytes", found="more")
    open_bundle(data)


def file_bundles(paths: Iterable[Path]) -> Iterator[bytes]:
    """The bundles in files. Raises UsageError for a file that cannot be read, or is none."""
    for path in paths:
        try:
            with path.open("rb") as stream:
                data = stream.read(MAXIMUM + 1)
            _require_bundle(data)
        except OSError as error:
            raise UsageError(
                "the bundle cannot be read", where=str(path), found=error.strerror or str(error)
            ) from error
        except TrustError as error:
            raise UsageError(
                f"the file is no bundle: {error.message}",
                where=str(path),
                expected=error.expected or "a Sigstore bundle",
                found=error.found,
            ) from error
        yield data


def _bundle_of(manifest: bytes) -> Descriptor | None:
    try:
        return bundle_of(manifest)
    except TrustError:
        return None


def _blob(folder: Path, digest: str) -> bytes:
    """A small blob of a layout; empty when it is not there, too long or not the one that its name says."""
    try:
        return read_small_blob(folder, Digest.parse(digest), MAXIMUM) or b""
    except ValueError:
        return b""


def _entries(index: bytes) -> list[str]:
    try:
        return [str(entry["digest"]) for entry in json.loads(index)["manifests"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _tag(entry: dict[str, object]) -> str:
    annotations = entry.get("annotations")
    return str(annotations.get(REF_NAME)) if isinstance(annotations, dict) else ""
