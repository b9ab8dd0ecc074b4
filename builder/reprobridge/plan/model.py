"""Recipes and the build plan.

A recipe says everything that its bytes depend on, so the digest of a recipe is a key: two recipes with
equal keys give equal bytes, on every machine. Each kind carries the revision of its converter
(`lock/revisions.py`), which grows whenever the same recipe would give other bytes.
Fragment recipes give stretches of tar entries; a `LayerPlan` puts fragments of one layer in order.
"""

from collections.abc import Mapping
from typing import ClassVar

from reprobridge.digest import Digest, Json, digest_json
from reprobridge.frozen import field, frozen
from reprobridge.lock.model import LockedFile
from reprobridge.lock.revisions import revision_of
from reprobridge.oci.members import CODEC, ENCODER


class Keyed:
    """What has a key; it is computed once, since a build asks for it many times."""

    __slots__ = ("_key",)
    kind: ClassVar[str]
    """Names the converter, and the key's kind."""
    _key: Digest

    def key(self) -> Digest:
        """Digest of everything that the bytes depend on."""
        try:
            return self._key
        except AttributeError:
            head: dict[str, Json] = {"kind": self.kind, "revision": revision_of(self.kind)}
            key = digest_json({**head, "encoder": ENCODER, "codec": CODEC, **self.parameters()})
            object.__setattr__(self, "_key", key)  # frozen, but for what follows from its fields
            return key

    def __getstate__(self) -> object:
        """The fields: another process computes the key itself."""
        return vars(self)

    def parameters(self) -> dict[str, Json]:
        """What distinguishes it from others of its kind, for the key."""
        raise NotImplementedError


def _file(file: LockedFile) -> Json:
    return [file.name, str(file.sha256), file.size]


@frozen(kw_only=True)
class WheelRecipe(Keyed):
    """A wheel installed into /opt/env."""

    kind: ClassVar[str] = "wheel"
    """Names the converter."""
    wheel: LockedFile
    """The wheel."""
    python: str
    """Minor version of the interpreter, part of site-packages' path."""
    origin: str | None = None
    """Text of direct_url.json (PEP 610): where it comes from; None: from an index."""
    omit: tuple[str, ...] = ()
    """Image paths that another package owns, sorted."""

    def parameters(self) -> dict[str, Json]:
        """For the key."""
        return {"wheel": _file(self.wheel), "python": self.python, "origin": self.origin, "omit": self.omit}


@frozen(kw_only=True)
class DebRecipe(Keyed):
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

    def parameters(self) -> dict[str, Json]:
        """For the key."""
        deb: dict[str, Json] = {"deb": _file(self.deb), "package": self.package}
        return {**deb, "architecture": self.architecture, "omit": self.omit}


@frozen(kw_only=True)
class DebianStateRecipe(Keyed):
    """What maintainer scripts would have made of all packages together: databases, users, alternatives."""

    kind: ClassVar[str] = "debian-state"
    """Names the converter."""
    debs: tuple[DebRecipe, ...]
    """Every Debian package of the image, sorted by name."""
    architecture: str
    """Debian architecture."""

    def parameters(self) -> dict[str, Json]:
        """For the key."""
        debs: Json = [str(deb.key()) for deb in self.debs]
        return {"debs": debs, "architecture": self.architecture}


@frozen(kw_only=True)
class RequestedRecipe(Keyed):
    """The marks of the packages that the paper asked for."""

    kind: ClassVar[str] = "requested"
    """Names the converter."""
    wheels: tuple[WheelRecipe, ...]
    """Those packages."""

    def parameters(self) -> dict[str, Json]:
        """For the key."""
        return {"wheels": [str(wheel.key()) for wheel in self.wheels]}


@frozen(kw_only=True)
class TreeRecipe(Keyed):
    """A source tree at a place in the image, read-only in spirit: modes 0644 and 0755."""

    kind: ClassVar[str] = "tree"
    """Names the converter."""
    tree: Digest
    """Of the tree (`lock/tree.py`)."""
    root: str
    """Where it stands in the image, for example `rra/code`."""

    def parameters(self) -> dict[str, Json]:
        """For the key."""
        return {"tree": str(self.tree), "root": self.root}


@frozen(kw_only=True)
class PlannedFile:
    """A file whose bytes the plan knows."""

    path: str
    """In the image."""
    data: bytes
    """Its bytes."""
    mode: int = 0o644
    """Permission bits."""


@frozen(kw_only=True)
class FilesRecipe(Keyed):
    """Files, links and folders that the plan knows byte by byte."""

    kind: ClassVar[str] = "files"
    """Names the converter."""
    files: tuple[PlannedFile, ...] = ()
    """Sorted by path."""
    links: Mapping[str, str] = field(default_factory=dict)
    """Symbolic links: path -> target."""
    folders: Mapping[str, int] = field(default_factory=dict)
    """Folders with a mode of their own: path -> mode."""

    def parameters(self) -> dict[str, Json]:
        """For the key."""
        files: Json = [[file.path, file.mode, str(Digest.of(file.data))] for file in self.files]
        return {"files": files, "links": dict(self.links), "folders": dict(self.folders)}


@frozen(kw_only=True)
class InventoryRecipe(Keyed):
    """The list of all files of the code and the environment, for the launcher's integrity check."""

    kind: ClassVar[str] = "inventory"
    """Names the converter."""
    of: tuple["FragmentRecipe", ...]
    """The fragments whose files are listed."""
    path: str
    """Where the list stands in the image."""

    def parameters(self) -> dict[str, Json]:
        """For the key."""
        return {"of": [str(part.key()) for part in self.of], "path": self.path}


@frozen(kw_only=True)
class SbomRecipe(Keyed):
    """The bill of materials, with what the packages say of their licenses."""

    kind: ClassVar[str] = "sbom"
    """Names the converter."""
    document: bytes
    """What the plan knows of it (`plan/contents/sbom.py`)."""
    wheels: Mapping[str, WheelRecipe]
    """The Python packages by their identifiers in the document."""
    path: str
    """Where it stands in the image."""

    def parameters(self) -> dict[str, Json]:
        """For the key."""
        wheels: Json = {name: str(wheel.key()) for name, wheel in self.wheels.items()}
        return {"document": str(Digest.of(self.document)), "wheels": wheels, "path": self.path}


@frozen(kw_only=True)
class BytecodeRecipe(Keyed):
    """Bytecode of the Python sources of packages, made by the image's own interpreter (ADR 0012)."""

    kind: ClassVar[str] = "bytecode"
    """Names the converter."""
    of: tuple[WheelRecipe | DebRecipe, ...]
    """The packages."""
    python: str
    """Minor version of the interpreter."""
    interpreter: str
    """Its path in the image."""
    ground: tuple["LayerPlan", ...]
    """What it runs on: base system, Python, and the state of the base system alone, so that papers share it."""
    omit: tuple[str, ...] = ()
    """Image paths that another package owns, sorted."""

    def parameters(self) -> dict[str, Json]:
        """For the key."""
        made_of: dict[str, Json] = {"of": [str(part.key()) for part in self.of], "omit": self.omit}
        ground: Json = [str(layer.key()) for layer in self.ground]
        return {**made_of, "python": self.python, "interpreter": self.interpreter, "ground": ground}


FragmentRecipe = (
    WheelRecipe
    | DebRecipe
    | DebianStateRecipe
    | RequestedRecipe
    | TreeRecipe
    | FilesRecipe
    | InventoryRecipe
    | SbomRecipe
    | BytecodeRecipe
)
"""Every kind of recipe; converters match on it."""


@frozen(kw_only=True)
class LayerPlan(Keyed):
    """One layer: its fragments in order."""

    kind: ClassVar[str] = "layer"
    """Names the key's kind."""
    title: str
    """For people and the image's history, for example `python: numpy 2.3.0`."""
    parts: tuple[FragmentRecipe, ...]
    """At least one."""

    def parameters(self) -> dict[str, Json]:
        """For the key; the title is not among it."""
        return {"parts": [str(part.key()) for part in self.parts]}


@frozen(kw_only=True)
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


@frozen(kw_only=True)
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
