"""The image that is checked: its parts as they are written down, and its files as they appear in its root.

Files are read from unpacked layers by what the layers' scans say, so no link of the image is ever followed on
this machine.
"""

import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from reprobridge.assemble.index import IndexEntry
from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError
from reprobridge.frozen import frozen
from reprobridge.oci.layout import ImageParts
from reprobridge.oci.tar import EntryKind
from reprobridge.sandbox.model import Layer
from reprobridge.sandbox.unpack import Unpacker
from reprobridge.store.store import Store
from reprobridge.validate.scan import LayerScan, scan_layer
from reprobridge_launcher import manifest as launcher_manifest
from reprobridge_launcher.fields import FormatError

MANIFEST = "rra/manifest.json"
"""The launcher's manifest."""
CODE = "rra/code"
"""The refined code."""
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
            raise ArtifactError("the image is no artifact", expected=f"a file /{MANIFEST}", found="none")
        try:
            return launcher_manifest.parse(json.loads(data))
        except (FormatError, ValueError) as error:
            raise ArtifactError(
                "the launcher's manifest is broken", where=f"/{MANIFEST}", found=str(error)
            ) from error

    @property
    def artifact_id(self) -> str | None:
        """The artifact's id as the configuration's labels state it."""
        labels = self.config.get("config", {}).get("Labels") or {}
        stated = labels.get("io.reprobridge.artifact")
        return str(stated) if stated else None


def open_subject(parts: ImageParts, store: Store) -> Subject:
    """Read manifest and configuration. Raises ArtifactError when these are not there or no JSON objects."""
    return Subject(
        parts=parts,
        manifest=_object(parts.path, parts.manifest.digest, "manifest"),
        config=_object(parts.path, parts.config.digest, "configuration"),
        store=store,
    )


def _object(path: Callable[[Digest], Path], digest: Digest, what: str) -> Mapping[str, Any]:
    try:
        value = json.loads(path(digest).read_bytes())
    except (OSError, ValueError) as error:
        raise ArtifactError(
            f"the image's {what} can't be read", where=str(digest), found=str(error)
        ) from error
    if not isinstance(value, dict):
        raise ArtifactError(f"the image's {what} is broken", where=str(digest), expected="a JSON object")
    return value
