"""A source tree as a value: files and symbolic links with their paths, nothing else.

Part of it are each file's path, bytes and executable bit, and each link's target; not part of it are times,
owners, other mode bits, empty folders, and the order in which anybody listed it. Its digest is the
launcher's `inventory.tree_digest`, so that the lock, the manifest and a run's evidence name one code by one
digest. In the store a tree is one blob, a canonical uncompressed tar (`oci/tar.py`), and a result that
leads from the tree's digest to the blob's.
A tree is checked when it is kept (`tree_checks.py`): whoever has a tree's digest need not check again.
Nothing is held in memory but one piece of one file and the list of paths.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from reprobridge.digest import CHUNK, Digest, digest_stream
from reprobridge.errors import ArtifactError
from reprobridge.frozen import frozen
from reprobridge.lock.exclusion import is_version_control
from reprobridge.lock.kept_tree import KIND, KeptTree, has_tree, tree_blob
from reprobridge.lock.tree_checks import require_sound, warnings_about
from reprobridge.oci.tar import END, EntryKind, TarEntry, header, padding, symlink
from reprobridge.oci.tar_reader import read_entries
from reprobridge.store.store import BlobWriter, Store
from reprobridge.system import files
from reprobridge_launcher import inventory


@frozen
class Found:
    """A path that some source has: not checked yet."""

    entry: TarEntry
    """A file with its size and mode 0644 or 0755, or a symbolic link."""
    open: Callable[[], AbstractContextManager[BinaryIO]] | None = None
    """Opens a file's bytes; None for a link."""


def found_file(
    path: str, size: int, *, executable: bool, opener: Callable[[], AbstractContextManager[BinaryIO]]
) -> Found:
    """A file of a source."""
    return Found(TarEntry(path, EntryKind.FILE, 0o755 if executable else 0o644, size), opener)


def found_link(path: str, target: str) -> Found:
    """A symbolic link of a source."""
    return Found(symlink(path, target))


def keep_tree(store: Store, found: Iterable[Found], *, where: str) -> KeptTree:
    """Check what a source has and keep it as a tree; `where` names the source in errors.

    Raises ArtifactError with everything that is hostile or cannot stand in an image, or when there is
    nothing. The digest is over the bytes that were read here, whatever happens to the source meanwhile.
    """
    listed = sorted(found, key=lambda one: one.entry.path.encode("utf-8", "surrogateescape"))
    entries = [one.entry for one in listed]
    require_sound(entries, where=where)
    with store.writer() as blob:
        rows = [_write(blob, one) for one in listed]
        blob.write(END)
        kept = KeptTree(tree_digest(rows), blob.commit(), warnings_about(entries))
    known = {"warnings": list(kept.warnings), "history": _history(entry.path for entry in entries)}
    store.remember(KIND, kept.tree, {"blob": str(kept.blob), **known})
    return kept


def tree_row(entry: TarEntry, sha256: str) -> inventory.Entry:
    """What the digest is made of: a file with the SHA-256 (hex) of its bytes, or a link."""
    if entry.kind is EntryKind.SYMLINK:
        return inventory.link_entry(f"/{entry.path}", entry.link)
    return inventory.file_entry(f"/{entry.path}", entry.mode, sha256)


def tree_digest(rows: list[inventory.Entry]) -> Digest:
    """The digest of a tree, from its rows in any order."""
    return Digest(inventory.tree_digest(rows, "/"))


def read_tree(blob: Path) -> Iterator[tuple[TarEntry, BinaryIO]]:
    """The entries of a canonical tar, each with its bytes, to be read before the next one is asked for.

    Raises ArtifactError where it is damaged.
    """
    with blob.open("rb") as source:
        yield from read_entries(source)


def unpack_tree(store: Store, tree: Digest, folder: Path) -> None:
    """Write a tree into an empty folder that nobody else uses."""
    for entry, stream in read_tree(store.path(tree_blob(store, tree))):
        path = folder / native_path(entry.path)
        if entry.kind is EntryKind.SYMLINK:
            files.place_link(path, native_path(entry.link))
        else:
            files.place_file(path, stream, mode=entry.mode)


def native_path(path: str) -> str:
    """A tree's path for Python's file functions: they get the same bytes whatever the locale."""
    return os.fsdecode(path.encode("utf-8", "surrogateescape"))


def tree_rows(store: Store, tree: Digest) -> dict[str, inventory.Entry]:
    """Path -> row of every path of a tree in the store."""
    rows = {}
    for entry, stream in read_tree(store.path(tree_blob(store, tree))):
        rows[entry.path] = tree_row(entry, digest_stream(stream)[0].hex)
    return rows


def history_in(store: Store, tree: Digest) -> tuple[str, ...]:
    """Topmost version control's files and folders in a tree of the store, sorted."""
    match store.result(KIND, tree):
        case {"history": [*tops]}:
            return tuple(map(str, tops))
    return tuple(_history(tree_rows(store, tree)))  # kept by a release that did not note it


def _history(paths: Iterable[str]) -> list[str]:
    tops = set()
    for path in filter(is_version_control, paths):
        parts = path.split("/")
        depth = next(depth for depth, part in enumerate(parts, 1) if is_version_control(part))
        tops.add("/".join(parts[:depth]))
    return sorted(tops)


def tree_difference(store: Store, old: Digest, new: Digest) -> str:
    """For people: which paths make the difference between two trees, a few of them by name."""
    if not has_tree(store, old):
        return f"tree {new}"
    before, after = tree_rows(store, old), tree_rows(store, new)
    changed = [path for path in sorted({*before, *after}) if before.get(path) != after.get(path)]
    words = [
        f"{path} ({'new' if path not in before else 'gone' if path not in after else 'changed'})"
        for path in changed[:5]
    ]
    return ", ".join(words) + (f" and {len(changed) - 5} more" if len(changed) > 5 else "")


def _write(blob: BlobWriter, found: Found) -> inventory.Entry:
    entry = found.entry
    blob.write(header(entry))
    if found.open is None:
        return tree_row(entry, "")
    sha256 = hashlib.sha256()
    left = entry.size
    with found.open() as stream:
        while left and (block := stream.read(min(left, CHUNK))):
            sha256.update(block)
            blob.write(block)
            left -= len(block)
    if left:
        raise ArtifactError(
            "a file became shorter while it was read",
            where=entry.path,
            expected=f"{entry.size} bytes",
            found=f"{entry.size - left}",
            hint="run again when nothing else writes to the source",
        )
    blob.write(padding(entry.size))
    return tree_row(entry, sha256.hexdigest())
