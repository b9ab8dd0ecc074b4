"""The image that is checked: its parts as they are written down, and its files as they appear in its root.

Files are read from unpacked layers by what the layers' scans say, so no link of the image is ever followed on
this machine.
"""

import functools
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from reprobridge.assemble.index import IndexEntry
from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError, StoreError
from reprobridge.frozen import frozen
from reprobridge.oci.layout import MANIFEST_LIMIT, DamagedBlobError, ImageParts
from reprobridge.oci.model import Descriptor
from reprobridge.oci.tar import EntryKind
from reprobridge.sandbox.model import Layer
from reprobridge.sandbox.unpack import Unpacker
from reprobridge.store.store import Store
from reprobridge.validate.scan import LayerScan, scan_layer
from reprobridge_launcher import manifest as launcher_manifest
from reprobridge_launcher.fields import FormatError

CONFIG_LIMIT = 16 << 20
"""Most bytes of a configuration that is read; ours have some thousand."""
MANIFEST = "rra/manifest.json"
"""The launcher's manifest."""
CODE = "rra/code"
"""The refined code."""
PROFILE = "etc/profile.d/reprobridge.sh"
"""What gives login shells the image's PATH back."""
ENVIRONMENT = "opt/env"
"""The environment."""
BASE_SYSTEM = frozenset(
    {"bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "media", "mnt", "proc"}
) | {
    "run",
    "sbin",
    "sys",
    "usr",
    "var",
}
"""Folders of the root that hold the base system: published packages, and nothing of the author's."""


class Placed(NamedTuple):
    """A path of the root with the layer that it comes from."""

    entry: IndexEntry
    """What it is."""
    layer: int
    """Number of the layer, lowest 0."""


@frozen
class Subject:
    """An image whose manifest and configuration could be read."""

    parts: ImageParts
    """Descriptors and blobs."""
    manifest: Mapping[str, Any]
    """The manifest's JSON."""
    config: Mapping[str, Any]
    """The configuration's JSON."""
    store: Store
    """Where scans and unpacked layers are kept."""

    @property
    def digest(self) -> Digest:
        """The image's digest of record."""
        return self.parts.manifest.digest

    @functools.cached_property
    def diff_ids(self) -> tuple[Digest, ...]:
        """The layers' diff_ids as the configuration states them. Raises ArtifactError."""
        rootfs = self.config.get("rootfs")
        try:
            found = tuple(Digest.parse(text) for text in rootfs["diff_ids"])  # type: ignore[index]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ArtifactError(
                "the configuration is broken", expected="rootfs.diff_ids", found=str(error)
            ) from error
        if len(found) != len(self.parts.layers):
            raise ArtifactError(
                "the configuration does not fit the manifest",
                expected=f"{len(self.parts.layers)} diff_ids",
                found=str(len(found)),
            )
        return found

    @functools.cached_property
    def layers(self) -> tuple[Layer, ...]:
        """The layers for a sandbox, lowest first."""
        pairs = zip(self.diff_ids, self.parts.layers, strict=True)
        return tuple(Layer(diff_id, part.digest, self.parts.path(part.digest)) for diff_id, part in pairs)

    @functools.cached_property
    def scans(self) -> tuple[LayerScan, ...]:
        """What each layer holds. Raises ArtifactError for a broken one."""
        return tuple(scan_layer(self.store, layer.digest, layer.blob) for layer in self.layers)

    @functools.cached_property
    def root(self) -> dict[str, Placed]:
        """Every path of the root; where layers have the same, the highest counts."""
        return {
            entry.path: Placed(entry, number)
            for number, scan in enumerate(self.scans)
            for entry in scan.entries
        }

    def below(self, folder: str) -> dict[str, Placed]:
        """The paths below a folder."""
        return {path: placed for path, placed in self.root.items() if path.startswith(f"{folder}/")}

    @functools.cached_property
    def _unpacker(self) -> Unpacker:
        return Unpacker(self.store)

    def _topmost(self, path: str) -> Placed | None:
        """Where a path stands, looking no further down than needed."""
        for number, layer in reversed(list(enumerate(self.layers))):
            for entry in reversed(scan_layer(self.store, layer.digest, layer.blob).entries):
                if entry.path == path:
                    return Placed(entry, number)
        return None

    def read(self, path: str, limit: int | None = None) -> bytes | None:
        """The bytes (at most `limit`) of the regular file at a path, or None when there is none."""
        placed = self.root.get(path) if "root" in vars(self) else self._topmost(path)
        if placed is None or EntryKind(placed.entry.kind) not in (EntryKind.FILE, EntryKind.HARDLINK):
            return None
        folder = self._unpacker.folder(self.layers[placed.layer])
        with (folder / path).open("rb") as stream:
            return stream.read() if limit is None else stream.read(limit)

    @functools.cached_property
    def artifact(self) -> launcher_manifest.Manifest:
        """What the image says about itself. Raises ArtifactError."""
        data = self.read(MANIFEST)
        if data is None:
            raise ArtifactError(
                "the image is no artifact", where=self._title, expected=f"a file /{MANIFEST}", found="none"
            )
        try:
            return launcher_manifest.parse(json.loads(data))
        except (FormatError, ValueError, RecursionError) as error:
            raise ArtifactError(
                "the launcher's manifest is broken", where=f"/{MANIFEST}", found=str(error)
            ) from error

    @property
    def _title(self) -> str:
        return f"{self.parts.name}@{self.digest}"

    def require_ours(self) -> None:
        """Raise ArtifactError for an image that does not say it is an artifact, before any layer is read."""
        if self.artifact_id is None:
            raise ArtifactError(
                "the image is no artifact of ReproBridge",
                where=self._title,
                expected="a label io.reprobridge.artifact",
                found="none",
            )

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the configuration says of the image's processes; empty when that is no object."""
        found = self.config.get("config")
        return found if isinstance(found, Mapping) else {}

    @property
    def artifact_id(self) -> str | None:
        """The artifact's id as the configuration's labels state it."""
        match self.settings:
            case {"Labels": {"io.reprobridge.artifact": str(stated)}} if stated:
                return stated
        return None


def open_subject(parts: ImageParts, store: Store) -> Subject:
    """Read manifest and configuration, and hold their bytes to their digests.

    The configuration's diff_ids bind the layers: so what is read here and from unpacked layers is the image of
    this digest. Raises ArtifactError when one of the two is another's or no JSON object, StoreError when it is
    not there.
    """
    return _opened(parts, store, compared=True)


def open_unproven(parts: ImageParts, store: Store) -> Subject:
    """As `open_subject`, for the validation, whose check `image.digests` tells of every digest that is wrong."""
    return _opened(parts, store, compared=False)


def _opened(parts: ImageParts, store: Store, *, compared: bool) -> Subject:
    return Subject(
        parts=parts,
        manifest=_object(parts, parts.manifest, "manifest", compared=compared),
        config=_object(parts, parts.config, "configuration", compared=compared),
        store=store,
    )


def _object(parts: ImageParts, blob: Descriptor, what: str, *, compared: bool) -> Mapping[str, Any]:
    data = _small(parts, blob, what)
    if compared and (found := Digest.of(data)) != blob.digest:
        raise DamagedBlobError(blob, found, parts.path(blob.digest))
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _unreadable(blob, what, error) from error
    if not isinstance(value, dict):
        raise ArtifactError(f"the image's {what} is broken", where=str(blob.digest), expected="a JSON object")
    return value


def part_missing(blob: Descriptor) -> StoreError:
    """The error for a blob of an image that the store does not hold (any more)."""
    return StoreError(
        "a part of the image is not in the store",
        expected=str(blob.digest),
        found="nothing",
        hint="pull the image, or build it again",
    )


def _small(parts: ImageParts, blob: Descriptor, what: str) -> bytes:
    """The blob's bytes, as long as they may be."""
    limit = MANIFEST_LIMIT if blob == parts.manifest else CONFIG_LIMIT
    if blob.size > limit:
        raise _too_long(blob, what, limit)
    try:
        with parts.path(blob.digest).open("rb") as stream:
            data = stream.read(limit + 1)
    except FileNotFoundError as error:
        raise part_missing(blob) from error
    except OSError as error:
        raise _unreadable(blob, what, error) from error
    if len(data) > limit:
        raise _too_long(blob, what, limit)
    return data


def _too_long(blob: Descriptor, what: str, limit: int) -> ArtifactError:
    return ArtifactError(
        f"the image's {what} is too long", where=str(blob.digest), expected=f"at most {limit} bytes"
    )


def _unreadable(blob: Descriptor, what: str, error: Exception) -> ArtifactError:
    return ArtifactError(f"the image's {what} can't be read", where=str(blob.digest), found=str(error))
