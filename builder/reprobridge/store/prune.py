"""What lies in a store, and deleting what nobody needs.

Kept are the blobs of every image that a reference names with what is known about it, measurements, and everything
that is young enough (the file system's own times say so, only here, where nothing depends on it). Unfinished files
of processes that are gone are always deleted.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from reprobridge.digest import Digest
from reprobridge.frozen import frozen
from reprobridge.store.store import Store
from reprobridge.system import files
from reprobridge.system.leftovers import TEMPORARY, is_abandoned

KINDS = ("blobs", "results", "unpacked", "evidence")
"""Folders that `measure` adds up; what lies in the last is never deleted."""
_MEASURED = "scored"  # results of `validate/scored.py`: made in hours, by a machine that may be gone


@frozen
class Usage:
    """How much lies in one of the store's folders."""

    kind: str
    """Folder below the root."""
    objects: int
    """Files."""
    size: int
    """Bytes."""


def measure(store: Store) -> list[Usage]:
    """What lies in the store."""
    usages = []
    for kind in KINDS:
        sizes = [size for path in _files(store.root / kind) if (size := _size(path)) is not None]
        usages.append(Usage(kind, len(sizes), sum(sizes)))
    return usages


def prune(store: Store, *, keep_after: float, waiting: Callable[[], object] | None = None) -> int:
    """Delete what no reference needs and what was made before `keep_after` (seconds since the epoch).

    Calls `waiting` before it waits for others. Gives the number of bytes freed.
    """
    with store.alone(waiting):
        kept = referenced_blobs(store)
        freed = sweep(store)
        for path in _files(store.root / "blobs"):
            if path.name not in kept and _is_old(path, keep_after):
                freed += path.lstat().st_size
                files.delete(path)
        for path in _files(store.root / "results"):
            if _is_old(path, keep_after) and not _is_needed(path, kept):
                freed += path.lstat().st_size
                files.delete(path)
        for folder in _unpacked(store):
            if _is_old(folder, keep_after):
                freed += sum(path.lstat().st_size for path in _files(folder))
                files.remove_folder(folder)
    return freed


def clear(store: Store, *, waiting: Callable[[], object] | None = None) -> int:
    """Delete all that can be made or fetched again, images too; what was measured stays, as do runs' evidence.

    Calls `waiting` before it waits for others. Gives the number of bytes freed.
    """
    with store.alone(waiting):
        freed = sweep(store)
        folders = [store.root / kind for kind in ("blobs", "unpacked", "references")]
        folders += [folder for folder in store.root.glob("results/*") if folder.name != _MEASURED]
        freed += sum(path.lstat().st_size for folder in folders for path in _files(folder))
        for folder in folders:
            files.remove_folder(folder)
    return freed


def measured(store: Store) -> list[Path]:
    """The folders of what `clear` leaves, where there is any: measurements, and the evidence of runs."""
    folders = (store.root / "results" / _MEASURED, store.root / "evidence")
    return [folder for folder in folders if any(_files(folder))]


def referenced_blobs(store: Store) -> set[str]:
    """Hex digests of every blob of every referenced image."""
    kept = set()
    for _, _, manifest in store.references():
        kept.add(manifest.hex)
        if store.has(manifest):
            parsed = json.loads(store.read(manifest))
            kept.update(Digest.parse(part["digest"]).hex for part in [parsed["config"], *parsed["layers"]])
    return kept


def sweep(store: Store) -> int:
    """Delete what processes that are gone left unfinished. Gives the number of bytes freed.

    Processes are known by their ids here: where containers share a store, sweep while none of them works.
    """
    freed = 0
    folders = [store.root, *(store.root / name for name in ("blobs", "unpacked", "evidence", "scratch"))]
    folders += [*store.root.glob("results/*"), *store.root.glob("references/**")]
    for folder in folders:
        for path in sorted(folder.glob(f"{TEMPORARY}*")) if folder.is_dir() else ():
            if is_abandoned(path):
                freed += _freed(path)
    return freed


def _freed(unfinished: Path) -> int:
    """Delete it, a file or a folder, which another process may be doing too; gives its bytes."""
    size = 0
    with contextlib.suppress(FileNotFoundError):
        size = sum(
            inner.lstat().st_size for inner in (_files(unfinished) if unfinished.is_dir() else [unfinished])
        )
    files.remove_folder(unfinished) if unfinished.is_dir() else files.delete(unfinished)
    return size


def _size(path: Path) -> int | None:
    """Bytes of a finished file; None while one is written, or when another process has just deleted it."""
    try:
        return None if path.name.startswith(TEMPORARY) else path.lstat().st_size
    except FileNotFoundError:
        return None


def _is_needed(result: Path, kept: set[str]) -> bool:
    """Whether a result is worth keeping however old it is: it took hours, or it is about a kept image."""
    match result.parent.name:
        case kind if kind == _MEASURED:
            return True
        case "validation" | "composition":  # by the manifest's digest
            return result.name in kept
        case "image" | "learned-image":  # says of which manifest
            try:
                return Digest.parse(json.loads(result.read_bytes())["manifest"]).hex in kept
            except (KeyError, TypeError, ValueError):
                return False
        case _:
            return False


def _is_old(path: Path, keep_after: float) -> bool:
    return path.lstat().st_mtime < keep_after


def _unpacked(store: Store) -> list[Path]:
    folder = store.root / "unpacked"
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        for name in sorted(names):
            yield Path(parent, name)
