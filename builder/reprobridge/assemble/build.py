"""`reprobridge build` as a function: from an artifact's folder to an image in the store.

A finished image is remembered by everything that its plan depends on, so that building it again costs a look;
what only making needs is imported when something has to be made.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from reprobridge.assemble.elsewhere import LEARNED, is_had
from reprobridge.assemble.model import Arrivals, BuiltImage, Progress
from reprobridge.data_files import installed_state
from reprobridge.digest import Digest, digest_json
from reprobridge.frozen import frozen
from reprobridge.lock.doors import Doors
from reprobridge.lock.fetch import Progress as FetchProgress
from reprobridge.lock.file import FILE_NAME, lock_file, parse_lock
from reprobridge.lock.freshness import require_fresh
from reprobridge.lock.tools import require_tools
from reprobridge.spec.model import Spec
from reprobridge.spec.parse import read_spec
from reprobridge.store.store import Store

if TYPE_CHECKING:
    from reprobridge.plan.model import LayerPlan

RESULT = "image"
"""Kind of the store's results that say which image was built, by `_key`."""


@frozen(kw_only=True)
class BuildRequest:
    """What to build and how."""

    folder: Path
    """The artifact's folder."""
    progress: Progress
    """Hears how far the making is."""
    downloads: FetchProgress | None = None
    """Hears how far the fetching is."""
    workers: int = 2
    """Most processes at once."""
    knowledge: "Knowledge | None" = None
    """Tells of layers that need not be made."""
    elsewhere: bool = False
    """Whether a layer's bytes may lie in a registry instead of the store, as they may with `knowledge`."""

    @property
    def counts_elsewhere(self) -> bool:
        """Whether an image is finished when some of its layers are not here."""
        return self.elsewhere or self.knowledge is not None


class Knowledge(Protocol):
    """Knows layers that others made (`publish/known_source.py` behind it)."""

    def teach(self, layers: "Sequence[LayerPlan]", arrivals: Arrivals) -> None:
        """Let the store know what is known of those layers that it lacks; raises when that does not hold."""


def build_artifact(request: BuildRequest, doors: Doors) -> BuiltImage:
    """The artifact's image. Raises SpecError, LockError (missing, stale, of another release), and what making raises."""
    spec = read_spec(request.folder, memory=doors.store)
    path = request.folder / FILE_NAME
    data = lock_file(path)
    lock = parse_lock(data, str(path))
    require_fresh(spec, lock, request.folder, doors)
    require_tools(lock.tools, str(path))
    platform = spec.environment.platforms[0]
    key = _key(spec, data, platform)
    # Whoever brings knowledge may want it looked into (`--recompute`), finished image or not.
    built = None if request.knowledge else _remembered(doors.store, key, elsewhere=request.elsewhere)
    if built is None:
        from reprobridge.assemble.artifact import make_artifact

        built = make_artifact(request, spec, lock, platform, doors)
        _remember(doors.store, key, built, elsewhere=request.counts_elsewhere)
    elif doors.store.referenced(built.name, built.version) != built.manifest:
        doors.store.refer(built.name, built.version, built.manifest)
    return built


def _key(spec: Spec, lock: bytes, platform: str) -> Digest:
    """Digest of what an image depends on: what was written, what was locked, and this tool as it is now."""
    parts = {"spec": str(spec.digest()), "lock": str(Digest.of(lock)), "platform": platform}
    return digest_json({**parts, "tool": str(installed_state())})


def _remember(store: Store, key: Digest, built: BuiltImage, *, elsewhere: bool) -> None:
    names = {"name": built.name, "version": built.version, "manifest": str(built.manifest)}
    kind = f"{LEARNED}{RESULT}" if elsewhere else RESULT
    store.remember(kind, key, {**names, "notes": list(built.notes)})


def _remembered(store: Store, key: Digest, *, elsewhere: bool) -> BuiltImage | None:
    """The finished image of that key, if all of it is here, or known to lie elsewhere where that counts."""
    found = _read(store, RESULT, key, elsewhere=elsewhere)
    return found or (_read(store, f"{LEARNED}{RESULT}", key, elsewhere=True) if elsewhere else None)


def _read(store: Store, kind: str, key: Digest, *, elsewhere: bool) -> BuiltImage | None:
    match store.result(kind, key):
        case {"name": str(name), "version": str(version), "manifest": str(text), "notes": [*notes]}:
            manifest = Digest.parse(text)
            if all(is_had(store, blob, elsewhere=elsewhere) for blob in _blobs(store, manifest)):
                lines = tuple(map(str, notes))
                return BuiltImage(name=name, version=version, manifest=manifest, notes=lines)
    return None


def _blobs(store: Store, manifest: Digest) -> list[Digest]:
    """The image's blobs: manifest, configuration, layers; only the manifest when that is not here."""
    import json

    if not store.has(manifest):
        return [manifest]
    parsed = json.loads(store.read(manifest))
    return [manifest, *(Digest.parse(part["digest"]) for part in [parsed["config"], *parsed["layers"]])]
