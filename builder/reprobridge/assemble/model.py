"""What recipes evaluate to, how the store remembers it, and whom assembling talks to."""

from collections.abc import Generator, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from reprobridge.digest import Digest, Json
from reprobridge.frozen import frozen

if TYPE_CHECKING:
    from reprobridge.plan.model import BytecodeRecipe
    from reprobridge.store.store import Store


@frozen(kw_only=True)
class Fragment:
    """A converted recipe."""

    gzip: Digest | None
    """Blob of its gzip members; None when only a layer made of it alone is kept."""
    index: Digest
    """Blob of its index (`assemble/index.py`)."""
    facts: Digest | None
    """Blob of its facts (`assemble/converter.py`)."""

    def to_json(self) -> dict[str, Json]:
        """For the store."""
        return {"gzip": _text(self.gzip), "index": str(self.index), "facts": _text(self.facts)}

    @classmethod
    def from_json(cls, value: object) -> "Fragment":
        """From the store. Raises ValueError, TypeError or KeyError for anything else."""
        fields = _mapping(value)
        return cls(
            gzip=_optional(fields["gzip"]),
            index=Digest.parse(str(fields["index"])),
            facts=_optional(fields["facts"]),
        )


@frozen(kw_only=True)
class Layer:
    """A finished layer."""

    blob: Digest
    """Of the compressed layer: what a manifest names."""
    size: int
    """Compressed bytes."""
    diff_id: Digest
    """Of the tar stream: what a configuration names."""
    tar_size: int
    """Uncompressed bytes."""

    def to_json(self) -> dict[str, Json]:
        """For the store."""
        sizes: dict[str, Json] = {"size": self.size, "tar_size": self.tar_size}
        return {"blob": str(self.blob), "diff_id": str(self.diff_id), **sizes}

    @classmethod
    def from_json(cls, value: object) -> "Layer":
        """From the store. Raises ValueError, TypeError or KeyError for anything else."""
        fields = _mapping(value)
        return cls(
            blob=Digest.parse(str(fields["blob"])),
            size=int(str(fields["size"])),
            diff_id=Digest.parse(str(fields["diff_id"])),
            tar_size=int(str(fields["tar_size"])),
        )


@frozen(kw_only=True)
class BuiltImage:
    """An image in the store."""

    name: str
    """For example `reprobridge/wine-classifiers`."""
    version: str
    """Tag."""
    manifest: Digest
    """The digest of record."""
    notes: tuple[str, ...]
    """What the author should know: conflicts that had a harmless winner, big layers."""
    fresh: frozenset[Digest] = frozenset()
    """Layers whose bytes were hashed while this very build wrote them: nobody need look at them again."""


class Arrivals(Protocol):
    """Brings what converters cannot make: locked files (`lock/fetch.py` behind it), bytecode (`bytecode/room.py`)."""

    def bring(self, wanted: Iterable[Digest]) -> Generator[Digest]:
        """Each wanted file's digest as soon as it is in the store; raises when one cannot be had."""

    def compile(self, recipes: "Sequence[BytecodeRecipe]", store: "Store") -> None:
        """Have what is compiled for these recipes in that store; raises where nothing can be compiled."""


class Progress(Protocol):
    """Hears how far the work is."""

    def begin(self, what: str, total: int) -> None:
        """A wave of `total` steps begins."""

    def step(self, title: str) -> None:
        """One step is done."""


def _mapping(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"expected an object, found {value!r}")
    return value


def _text(digest: Digest | None) -> str | None:
    return None if digest is None else str(digest)


def _optional(value: object) -> Digest | None:
    return None if value is None else Digest.parse(str(value))
