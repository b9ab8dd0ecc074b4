"""A folder that holds everything a lock names, from which the artifact builds offline.

Files carry their own names, trees are `<tree digest, hex>.tar` (canonical, see `tree.py`), and `index.json`
lists them all. `REPROBRIDGE_VENDOR=FOLDER reprobridge build` takes them from there (`fetch.py`, `source.py`).
Everything is compared with its digest on the way, and copied: the folder stays sound when the store is
deleted, and the store when the folder is edited. Running it again writes only what is missing or broken.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from reprobridge.digest import CHUNK, Digest, Hasher, digest_stream
from reprobridge.errors import AssembleError, StoreError, UsageError
from reprobridge.frozen import frozen
from reprobridge.lock.kept_tree import tree_blob
from reprobridge.lock.model import Lock, LockedFile
from reprobridge.store.store import Store
from reprobridge.system import files

INDEX = "index.json"
"""Name of the listing in the folder."""
SCHEMA = "reprobridge.vendor/1"
"""Value of the listing's key `schema`."""


@frozen(kw_only=True)
class VendorReport:
    """What was done to the folder."""

    written: tuple[str, ...]
    """Names of the files that were written, sorted."""
    kept: tuple[str, ...]
    """Names of the files that were there already, sorted."""
    size: int
    """Bytes of all of them."""


def locked_files(lock: Lock) -> tuple[LockedFile, ...]:
    """Every published file that the lock names, on all platforms, sorted, each once."""
    found = {lock.source.file} if lock.source.file else set()
    for platform in lock.platforms.values():
        python = platform.python
        found |= {wheel.file for wheel in (*python.wheels, *python.build_wheels)}
        found |= {build.file for build in python.builds if build.file}
        found |= {deb.file for deb in (*platform.debian.base, *platform.debian.extra)}
    return tuple(sorted(found))


def locked_trees(lock: Lock) -> tuple[Digest, ...]:
    """The trees that no published file holds: a commit's. A folder's is beside the lock already."""
    builds = [build for platform in lock.platforms.values() for build in platform.python.builds]
    source = (lock.source.tree,) if lock.source.kind == "git" else ()
    return tuple(dict.fromkeys((*source, *(build.tree for build in builds if build.kind == "git"))))


def require_ours(folder: Path) -> None:
    """Refuse a folder with a listing of somebody else's, which would be lost. Raises UsageError."""
    index = folder / INDEX
    if index.exists() and not _is_ours(index):
        raise UsageError(
            "the vendor folder holds something else",
            where=str(index),
            expected=f"no such file, or one that `reprobridge vendor` wrote ({SCHEMA})",
            found="another file",
            hint="name another folder: --to FOLDER",
        )


def _is_ours(index: Path) -> bool:
    try:
        return bool(json.loads(index.read_bytes())["schema"] == SCHEMA)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def vendor(
    folder: Path, published: Sequence[LockedFile], trees: Iterable[Digest], store: Store
) -> VendorReport:
    """Fill the folder from the store, which has everything already (`fetch.Fetcher`, `source.obtain_tree`)."""
    require_ours(folder)
    entries = _named(published)
    for tree in trees:
        blob = tree_blob(store, tree)
        entries[f"{tree.hex}.tar"] = LockedFile(f"{tree.hex}.tar", blob, store.size(blob))
    written, kept = [], []
    with _writing(folder):
        for name, file in sorted(entries.items()):
            if _is_there(folder / name, file):
                kept.append(name)
            else:
                files.write_stream(folder / name, _checked(store, file), mode=files.USUAL)
                written.append(name)
        files.write_file(folder / INDEX, _index(entries), mode=files.USUAL)
    size = sum(file.size for file in entries.values())
    return VendorReport(written=tuple(written), kept=tuple(kept), size=size)


def _named(published: Sequence[LockedFile]) -> dict[str, LockedFile]:
    """Each file under its own name, or under its SHA-256 where two differ under one name."""
    entries: dict[str, LockedFile] = {}
    for file in sorted(published):
        taken = entries.get(file.name, file).sha256 != file.sha256 or file.name == INDEX
        entries[file.sha256.hex if taken else file.name] = file
    return entries


def _is_there(path: Path, file: LockedFile) -> bool:
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    with path.open("rb") as stream:
        return digest_stream(stream)[0] == file.sha256


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """What the system says about the folder, as our error."""
    try:
        yield
    except OSError as error:
        raise AssembleError(
            "the vendor folder cannot be written",
            where=str(folder),
            expected="room in a writable folder",
            found=error.strerror or str(error),
            hint="make room, or name another one: --to FOLDER; files that are there are kept, and not written again",
        ) from error


def _checked(store: Store, file: LockedFile) -> Iterator[bytes]:
    hasher = Hasher()
    with store.open(file.sha256) as source:
        while block := source.read(CHUNK):
            hasher.write(block)
            yield block
    if hasher.digest() != file.sha256:
        raise StoreError(
            "a stored file is damaged",
            where=file.name,
            expected=str(file.sha256),
            found=str(hasher.digest()),
            hint="run `reprobridge cache prune --all` and try again",
        )


def _index(entries: dict[str, LockedFile]) -> bytes:
    listing = {
        name: {"name": file.name, "sha256": file.sha256.hex, "size": file.size}
        for name, file in sorted(entries.items())
    }
    return (json.dumps({"schema": SCHEMA, "files": listing}, indent=1, sort_keys=True) + "\n").encode()
