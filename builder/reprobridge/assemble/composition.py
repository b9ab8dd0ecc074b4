"""What an image was made of and what was noted then, remembered by its manifest: so that both can be told later."""

from collections.abc import Iterable
from typing import Any

from reprobridge.digest import Digest, Json
from reprobridge.frozen import frozen
from reprobridge.plan.model import LayerPlan
from reprobridge.store.store import Store

RESULT = "composition"
"""Kind of the store's results that hold compositions."""


@frozen(kw_only=True)
class Composed:
    """One layer of an image."""

    title: str
    """For people."""
    key: Digest
    """Of its plan."""
    parts: tuple[tuple[str, Digest], ...]
    """Kind and key of each of its recipes, in order."""

    def to_json(self) -> dict[str, Json]:
        """For the store."""
        parts: list[Json] = [[kind, str(key)] for kind, key in self.parts]
        return {"title": self.title, "key": str(self.key), "parts": parts}


def composed(layer: LayerPlan) -> Composed:
    """What is remembered of a planned layer."""
    parts = tuple((part.kind, part.key()) for part in layer.parts)
    return Composed(title=layer.title, key=layer.key(), parts=parts)


def remember_composition(
    store: Store, manifest: Digest, layers: Iterable[LayerPlan], notes: Iterable[str] = ()
) -> None:
    """Remember what an image was made of, lowest layer first, and what the author heard of it."""
    rows: list[Json] = [composed(layer).to_json() for layer in layers]
    store.remember(RESULT, manifest, {"layers": rows, "notes": list(notes)})


def build_notes(store: Store, manifest: Digest) -> tuple[str, ...] | None:
    """What the author heard of an image when it was built; None when that was elsewhere, or is forgotten."""
    match store.result(RESULT, manifest):
        case {"notes": [*notes]}:
            return tuple(map(str, notes))
    return None


def composition_of(store: Store, manifest: Digest) -> tuple[Composed, ...] | None:
    """The layers of an image, lowest first; None when it was made elsewhere, or is forgotten."""
    try:
        match store.result(RESULT, manifest):
            case {"layers": [*rows]}:
                return tuple(map(_read, rows))
    except (KeyError, TypeError, ValueError):
        pass
    return None


def _read(row: dict[str, Any]) -> Composed:
    parts = tuple((str(kind), Digest.parse(key)) for kind, key in row["parts"])
    return Composed(title=str(row["title"]), key=Digest.parse(row["key"]), parts=parts)
