"""Signed statements about an image, from wherever they are offered: nothing in them is known to be true.

Anybody who may write to a repository can attach something, so what is no bundle is passed over, and what the
registry does not give does not keep the rest away.
"""

import contextlib
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
from reprobridge.registry.referrers import referring
from reprobridge.registry.refusals import Transient, lost_blob
from reprobridge.system.files import read_named


def registry_bundles(registry: Registry, repository: str, image: Digest) -> Iterator[Offered]:
    """The bundles that refer to an image of a registry. Raises RegistryError when it does not list them.

    So does a registry that stumbles: another try may give what one that refuses, or has lost it, never gives.
    """
    for attachment in referring(registry, repository, image):
        try:
            offered = _attached(registry, repository, attachment)
        except Transient:
            raise
        except RegistryError as error:
            offered = Unread(f"{attachment} cannot be had: {error.in_one_line()}")
        if offered is not None:
            yield offered


def _attached(registry: Registry, repository: str, attachment: Digest) -> Offered | None:
    """The bundle that a manifest holds; None when it holds none."""
    received = registry.manifest(repository, str(attachment))
    if received is None:
        lost = lost_blob(attachment, "a manifest that it lists", where=f"{registry.host}/{repository}")
        return Unread(f"{attachment} cannot be had: {lost.in_one_line()}")
    blob = _bundle_of(received.data)
    if blob is None:
        return None
    data = io.BytesIO()
    registry.pull_blob(repository, blob, data.write)
    return data.getvalue()


def layout_bundles(folder: Path, image: Digest) -> Iterator[Offered]:
    """The bundles that a layout lists under the image's tag for referrers."""
    lists = [entry for entry in read_entries(folder) if _tag(entry) == f"{REFERRERS}{image.hex}"]
    for listed in _digests(lists[:1]):
        index = _blob(folder, listed)
        if isinstance(index, Unread):
            yield index
            continue
        found = (_kept(folder, attachment) for attachment in _digests(_entries(index)))
        yield from (offered for offered in found if offered is not None)


def _kept(folder: Path, attachment: Digest) -> Offered | None:
    """The bundle that a manifest of a layout holds; None when it holds none."""
    manifest = _blob(folder, attachment)
    if isinstance(manifest, Unread):
        return manifest
    blob = _bundle_of(manifest)
    return None if blob is None else _blob(folder, blob.digest)


def _require_bundle(data: bytes) -> None:
    if len(data) > MAXIMUM:
        raise TrustError("the bundle is too long", expected=f"at most {MAXIMUM} bytes", found="more")
    open_bundle(data)


def file_bundles(paths: Iterable[Path]) -> Iterator[bytes]:
    """The bundles in files. Raises UsageError for a file that cannot be read, or is none."""
    for path in paths:
        try:
            data = read_named(path, MAXIMUM)
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


def _blob(folder: Path, digest: Digest) -> Offered:
    """A small blob of a layout, unless it is not there, too long or not the one that its name says."""
    data = read_small_blob(folder, digest, MAXIMUM)
    return Unread(f"{digest} cannot be had: the layout has lost or changed it") if data is None else data


def _entries(index: bytes) -> list[object]:
    try:
        return list(json.loads(index)["manifests"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _digests(entries: Iterable[object]) -> Iterator[Digest]:
    """What the entries of a list name, as far as they name anything."""
    for entry in entries:
        if isinstance(entry, dict):
            with contextlib.suppress(ValueError):
                yield Digest.parse(entry.get("digest", ""))


def _tag(entry: dict[str, object]) -> str:
    annotations = entry.get("annotations")
    return str(annotations.get(REF_NAME)) if isinstance(annotations, dict) else ""
