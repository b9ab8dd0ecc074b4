"""Finished images, remembered by everything that their plan depends on, so that making one again costs a look."""

import json

from reprobridge.assemble.elsewhere import LEARNED, is_had
from reprobridge.assemble.model import BuiltImage
from reprobridge.digest import Digest, digest_json
from reprobridge.errors import StoreError
from reprobridge.store.store import Store

RESULT = "image"
"""Kind of the store's results that say which image was built, by `image_key`."""


def image_key(spec: Digest, lock: Digest, platform: str, tool: Digest) -> Digest:
    """Digest of what an image depends on: what was written, what was locked, and this tool as it is now."""
    return digest_json({"spec": str(spec), "lock": str(lock), "platform": platform, "tool": str(tool)})


def remember_image(store: Store, key: Digest, built: BuiltImage, *, elsewhere: bool) -> None:
    """Remember a finished image, of which some layers may lie `elsewhere`."""
    names = {"name": built.name, "version": built.version, "manifest": str(built.manifest)}
    kind = f"{LEARNED}{RESULT}" if elsewhere else RESULT
    store.remember(kind, key, {**names, "notes": list(built.notes)})


def remembered_image(store: Store, key: Digest, *, elsewhere: bool) -> BuiltImage | None:
    """The finished image of that key, if all of it is here, or known to lie elsewhere where that counts."""
    found = _read(store, RESULT, key, elsewhere=elsewhere)
    return found or (_read(store, f"{LEARNED}{RESULT}", key, elsewhere=True) if elsewhere else None)


def _read(store: Store, kind: str, key: Digest, *, elsewhere: bool) -> BuiltImage | None:
    match store.result(kind, key):
        case {"name": str(name), "version": str(version), "manifest": str(text), "notes": [*notes]}:
            try:
                manifest = Digest.parse(text)
                blobs = _blobs(store, manifest)
            except (KeyError, TypeError, ValueError, StoreError):  # it names no image, or one that is gone
                return None
            if all(is_had(store, blob, size, elsewhere=elsewhere) for blob, size in blobs):
                lines = tuple(map(str, notes))
                return BuiltImage(name=name, version=version, manifest=manifest, notes=lines)
    return None


def _blobs(store: Store, manifest: Digest) -> list[tuple[Digest, int]]:
    """The image's blobs with their lengths: configuration and layers. Raises StoreError without a sound manifest."""
    parsed = json.loads(store.read(manifest))
    return [(Digest.parse(part["digest"]), part["size"]) for part in [parsed["config"], *parsed["layers"]]]
