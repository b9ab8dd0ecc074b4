"""Recipes and the build plan.

A recipe says everything that its bytes depend on, so the digest of a recipe is a key: two recipes with
equal keys give equal bytes, on every machine. Each kind carries the revision of its converter
(`lock/revisions.py`), which grows whenever the same recipe would give other bytes.
Fragment recipes give stretches of tar entries; a `LayerPlan` puts fragments of one layer in order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from reprobridge.digest import Digest, Json, digest_json
from reprobridge.lock.model import LockedFile
from reprobridge.lock.revisions import REVISIONS
from reprobridge.oci.members import CODEC, ENCODER


def _key(kind: str, parameters: dict[str, Json]) -> Digest:
    head: dict[str, Json] = {"kind": kind, "revision": REVISIONS[kind], "encoder": ENCODER, "codec": CODEC}
    return digest_json({**head, **parameters})


def _file(file: LockedFile) -> Json:
    return [file.name, str(file.sha256), file.size]


@dataclass(frozen=True, kw_only=True, slots=True)
class WheelRecipe:
    """A wheel installed into /opt/env."""

    kind: ClassVar[str] = "wheel"
    """Names the converter."""
    wheel: LockedFile
    """The wheel."""
    python: str
    """Minor version of the interpreter, part of site-packages' path."""
    url: str | None = None
    """For direct_url.json (PEP 610): where a direct reference pointed; None: from an index."""
    omit: tuple[str, ...] = ()
    """Image paths that another package owns, sorted."""

    def key(self) -> Digest:
        """Digest of everything that the bytes depend on."""
        parameters: dict[str, Json] = {"wheel": _file(self.wheel), "python": self.python}
        return _key(self.kind, {**parameters, "url": self.url, "omit": self.omit})


@dataclass(frozen=True, kw_only=True, slots=True)
class DebRecipe:
    """A Debian package's files, without its scripts' effects."""

    kind: ClassVar[str] = "deb"
    """Names the converter."""
    deb: LockedFile
    """The package."""
    package: str
    """Its name."""
    architecture: str
    """The image's Debian architecture (`amd64`), not the package's `all`."""
    omit: tuple[str, ...] = ()
    """Image paths that another package owns, sorted."""

    def key(self) -> Digest:
        """Digest of everything that the bytes depend on."""
        parameters: dict[str, Json] = {"deb": _file(self.deb), "package": self.package}
        return _key(self.kind, {**parameters, "architecture": self.architecture, "omit": self.omit})


@dataclass(frozen=True, kw_only=True, slots=True)
class DebianStateRecipe:
    """What maintainer scripts would have made of all packages together: databases, users, alternatives."""

    kind: ClassVar[str] = "debian-state"
    """Names the converter."""
    debs: tuple[DebRecipe, ...]
    """Every Debian package of the image, sorted by name."""
    architecture: str
    """Debian architecture."""

    def key(self) -> Digest:
        """Digest of everything that the bytes depend on."""
        debs: Json = [str(deb.key()) for deb in self.debs]
        return _key(self.kind, {"debs": debs, "architecture": self.architecture})


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeRecipe:
    """A source tree at a place in the image, read-only in spirit: modes 0644 and 0755."""

    kind: ClassVar[str] = "tree"
    """Names the converter."""
    tree: Digest
    """Of the tree (`lock/tree.py`)."""
    root: str
    """Where it stands in the image, for example `rra/code`."""

    def key(self) -> Digest:
        """Digest of everything that the bytes depend on."""
        return _key(self.kind, {"tree": str(self.tree), "root": self.root})


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedFile:
    """A file whose bytes the plan knows."""

    path: str
    """In the image."""
    data: bytes
    """Its bytes."""
    mode: int = 0o644
    """Permission bits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FilesRecipe:
    """Files, links and folders that the plan knows byte by byte."""

    kind: ClassVar[str] = "files"
    """Names the converter."""
    files: tuple[PlannedFile, ...] = ()
    """Sorted by path."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Symbolic links: path -> target."""
    folders: Mapping[str, int] = field(default_factory=dict)
    """Folders with a mode of their own: path -> mode."""

    def key(self) -> Digest:
        """Digest of everything that the bytes depend on."""
        files: Json = [[file.path, file.mode, str(Digest.of(file.data))] for file in self.files]
        return _key(self.kind, {"files": files, "links": dict(self.links), "folders": dict(self.folders)})


@dataclass(frozen=True, kw_only=True, slots=True)
class InventoryRecipe:
    """The list of all files of the code and the environment, for the launcher's integrity check."""

    kind: ClassVar[str] = "inventory"
    """Names the converter."""
    of: tuple["FragmentRecipe", ...]
    """The fragments whose files are listed."""
    path: str
    """Where the list stands in the image."""

    def key(self) -> Digest:
        """Digest of everything that the bytes depend on."""
        return _key(self.kind, {"of": [str(part.key()) for part in self.of], "path": self.path})


FragmentRecipe = WheelRecipe | DebRecipe | DebianStateRecipe | TreeRecipe | FilesRecipe | InventoryRecipe
"""Every kind of recipe; converters match on it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LayerPlan:
    """One layer: its fragments in order."""

    title: str
    """For people and the image's history, for example `python: numpy 2.3.0`."""
    parts: tuple[FragmentRecipe, ...]
    """At least one."""

    def key(self) -> Digest:
        """Digest of everything that the layer's bytes depend on; the title is not among it."""
        return _key("layer", {"parts": [str(part.key()) for part in self.parts]})


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfigPlan:
    """The image's configuration, layers apart."""

    created: str
    """RFC 3339, from the lock."""
    entrypoint: tuple[str, ...]
    """Program that a container starts."""
    environment: Mapping[str, str]
    """Variables of every process."""
    working_directory: str
    """Where it starts."""
    annotations: Mapping[str, str]
    """Manifest annotations and labels."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildPlan:
    """One image of one platform."""

    name: str
    """Image name: `reprobridge/<paper id>`."""
    version: str
    """Tag."""
    platform: str
    """For example `linux/amd64`."""
    layers: tuple[LayerPlan, ...]
    """In canonical order, lowest first."""
    config: ConfigPlan
    """Configuration."""
    owners: Mapping[str, str]
    """Image path -> package whose file wins a conflict, as the spec says."""
