"""What differs between two images: a tree of values, from the whole image down to one file's mode.

A value names its kind by its class; `json_form.py` and `text.py` render them. Equal images have an empty tree.
Of an unequal pair the tree is never empty: bytes that no reader of ours tells apart are a difference too.
"""

from collections.abc import Iterator
from enum import StrEnum

from reprobridge.digest import Digest, Json
from reprobridge.frozen import frozen
from reprobridge.replicate.seen import SeenLayer


class Side(StrEnum):
    """Which image has what the other lacks."""

    BEFORE = "before"
    """The first one."""
    AFTER = "after"
    """The second one."""


@frozen
class FieldChange:
    """A field of a JSON or YAML document."""

    where: str
    """Path from the document's root, such as `config.Env.PATH` or `tasks[lda].command`."""
    before: Json
    """Its value in the first image; None where it is missing or null."""
    after: Json
    """In the second one."""


class Aspect(StrEnum):
    """In what a file, link or folder differs."""

    KIND = "kind"
    """File, folder, symbolic or hard link."""
    CONTENT = "content"
    """SHA-256 of a file's bytes."""
    TARGET = "target"
    """Where a link leads."""
    MODE = "mode"
    """Permission bits."""
    OWNER = "owner"
    """Numbers of user and group."""


@frozen
class AspectChange:
    """One aspect of a path."""

    aspect: Aspect
    """Which."""
    before: str
    """In the first image."""
    after: str
    """In the second one."""


@frozen
class FileOnly:
    """A path that one layer has and the other has not."""

    path: str
    """Relative to the image's root."""
    side: Side
    """Where it is."""


@frozen
class FileChanged:
    """A path that both have."""

    path: str
    """Relative to the image's root."""
    aspects: tuple[AspectChange, ...]
    """At least one, in the order of `Aspect`."""


FileDifference = FileOnly | FileChanged
"""What differs at one path."""


class Unlike(StrEnum):
    """Why two layers are not the same bytes although every path, mode, owner and content is."""

    COMPRESSION = "compression"
    """The tar streams are the same."""
    ORDER = "order"
    """The same entries in another order."""
    HEADERS = "headers"
    """Times, or how the tar headers are written."""


@frozen
class Files:
    """The inside of two layers, compared path by path."""

    files: tuple[FileDifference, ...]
    """Sorted by path."""
    unlike: Unlike | None
    """Set when there are none."""


@frozen
class NotLooked:
    """The inside of two layers, not compared."""

    reason: str
    """Why."""


@frozen
class LayerOnly:
    """A layer that one image has and the other has not."""

    layer: SeenLayer
    """The layer."""
    position: int
    """Its number, lowest 0."""
    side: Side
    """Where it is."""


@frozen
class LayerMoved:
    """The same layer at another place among those that both have."""

    layer: SeenLayer
    """The layer."""
    before: int
    """Its number in the first image."""
    after: int
    """Its number in the second one."""


@frozen
class LayerChanged:
    """A layer of the same purpose with other bytes."""

    before: SeenLayer
    """In the first image."""
    after: SeenLayer
    """In the second one."""
    inside: Files | NotLooked
    """What differs in it."""


LayerDifference = LayerOnly | LayerMoved | LayerChanged
"""What differs about one layer."""


@frozen(kw_only=True)
class PackageChange:
    """A package of the environment."""

    platform: str
    """For example `linux/amd64`."""
    kind: str
    """`debian` or `python`."""
    name: str
    """Of the package."""
    before: str | None
    """Version, with the file's digest where only that differs; None: not there."""
    after: str | None
    """In the second image."""


@frozen(kw_only=True)
class Meaning:
    """What differs between what the images are made from."""

    packages: tuple[PackageChange, ...]
    """Sorted by platform, kind and name."""
    lock: tuple[FieldChange, ...]
    """Of the lock, packages apart."""
    spec: tuple[FieldChange, ...]
    """Of reprobridge.yaml."""
    files: tuple[FileOnly | FileChanged, ...]
    """Of the files that the specification names: patches, guide, requirements."""

    def __bool__(self) -> bool:
        return bool(self.packages or self.lock or self.spec or self.files)


NOTHING = Meaning(packages=(), lock=(), spec=(), files=())
"""The same specification and lock."""


@frozen(kw_only=True)
class ImageDifference:
    """Two images compared."""

    before: Digest
    """The first image's digest of record."""
    after: Digest
    """The second one's."""
    manifest: tuple[FieldChange, ...]
    """Of the manifest, configuration and layers apart; an empty path: the same JSON, written differently."""
    config: tuple[FieldChange, ...]
    """Of the configuration, layers apart."""
    layers: tuple[LayerDifference, ...]
    """Lowest first."""
    meaning: Meaning | NotLooked
    """What differs between specifications and locks."""

    @property
    def equal(self) -> bool:
        """Whether both are the same bytes."""
        return self.before == self.after

    def files(self) -> Iterator[FileDifference]:
        """Every difference inside of layers."""
        for layer in self.layers:
            if isinstance(layer, LayerChanged) and isinstance(layer.inside, Files):
                yield from layer.inside.files
