"""Comparing two images: the entry point."""

from collections.abc import Mapping
from typing import Any, Literal

from reprobridge.digest import Json
from reprobridge.errors import ArtifactError, LockError
from reprobridge.frozen import frozen
from reprobridge.replicate.contents import read_contents
from reprobridge.replicate.difference.fields import field_changes
from reprobridge.replicate.difference.files import compare_scans
from reprobridge.replicate.difference.layers import compare_layers
from reprobridge.replicate.difference.meaning import compare_meaning
from reprobridge.replicate.difference.model import (
    NOTHING,
    FieldChange,
    Files,
    ImageDifference,
    Meaning,
    NotLooked,
)
from reprobridge.replicate.seen import SeenImage, SeenLayer
from reprobridge.store.store import Store
from reprobridge.validate.scan import LayerScan, scan_layer


@frozen(kw_only=True)
class Comparison:
    """How far to look."""

    store: Store
    """Keeps what layers hold, so that the next comparison need not read them."""
    largest: int | None = None
    """Compressed bytes of the largest layer that is looked into; None: all."""


def compare_images(before: SeenImage, after: SeenImage, how: Comparison) -> ImageDifference:
    """Everything that differs. Raises ArtifactError for an image that is broken."""

    def look(old: SeenLayer, new: SeenLayer) -> Files | NotLooked:
        size = max(old.descriptor.size, new.descriptor.size)
        if how.largest is not None and size > how.largest:
            return NotLooked(f"a layer of {size} bytes was not fetched")
        return compare_scans(_scan(before, old, how.store), _scan(after, new, how.store))

    if before.digest == after.digest:
        return ImageDifference(
            before=before.digest, after=after.digest, manifest=(), config=(), layers=(), meaning=NOTHING
        )
    return ImageDifference(
        before=before.digest,
        after=after.digest,
        manifest=_changes(before, after, "manifest"),
        config=_changes(before, after, "config"),
        layers=compare_layers(before.layers, after.layers, look),
        meaning=_meaning(before, after),
    )


def _scan(image: SeenImage, layer: SeenLayer, store: Store) -> LayerScan:
    brought = image.brought(layer)
    return scan_layer(store, brought.digest, brought.blob)


def _changes(
    before: SeenImage, after: SeenImage, what: Literal["manifest", "config"]
) -> tuple[FieldChange, ...]:
    """Of one document, without what is compared part by part because it names other layers or another config."""
    parts = [image.parts for image in (before, after)]
    apart: set[str] = set()
    if parts[0].config.digest != parts[1].config.digest:
        apart |= {"config"} if what == "manifest" else set()
    elif what == "config":
        return ()
    if [layer.digest for layer in parts[0].layers] != [layer.digest for layer in parts[1].layers]:
        apart |= {"layers"} if what == "manifest" else {"rootfs", "history"}
    old, new = (_document(getattr(image, what), apart) for image in (before, after))
    changes = tuple(field_changes(old, new))
    if changes or apart:
        return changes
    return (FieldChange("", *(str(getattr(part, what).digest) for part in parts)),)


def _document(document: Mapping[str, Any], apart: set[str]) -> dict[str, Json]:
    """A document without some keys, its variables by name."""
    kept = {key: value for key, value in document.items() if key not in apart}
    inner = kept.get("config")
    if isinstance(inner, dict) and isinstance(inner.get("Env"), list):
        kept["config"] = {**inner, "Env": dict(str(line).partition("=")[::2] for line in inner["Env"])}
    return kept


def _meaning(before: SeenImage, after: SeenImage) -> Meaning | NotLooked:
    """The layers' bytes are compared all the same, so an image without specification is no error here."""
    try:
        return compare_meaning(read_contents(before), read_contents(after))
    except (ArtifactError, LockError) as error:
        return NotLooked(str(error))
