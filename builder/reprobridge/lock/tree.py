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
import io
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, cast

from reprobridge.digest import CHUNK, Digest, digest_stream
from reprobridge.errors import ArtifactError, StoreError
from reprobridge.frozen import frozen
from reprobridge.lock.exclusion import is_version_control
from reprobridge.lock.tree_checks import require_sound, warnings_about
from reprobridge.oci.tar import END, EntryKind, TarEntry, header, padding, symlink
from reprobridge.store.store import BlobWriter, Store
from reprobridge.system import files
from reprobridge_launcher import inventory

KIND = "source-tree"
"""Kind of the store's results that lead from a tree to its blob."""

_NOTHING = io.BytesIO()


@frozen
class Found:
    """A path that some source has: not checked yet."""

    entry: TarEntry
    """A file with its size and mode 0644 or 0755, or a symbolic link."""
    open: Callable[[], AbstractContextManager[BinaryIO]] | None = None
    """Opens a file's bytes; None for a link."""


@frozen
class KeptTree:
    """A tree that is in the store."""

    tree: Digest
    """Its digest."""
    blob: Digest
    """Of its canonical tar."""
    warnings: tuple[str, ...]
    """What is odd about it but no error, for people."""


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
    store.remember(KIND, kept.tree, {"blob": str(kept.blob), "warnings": list(kept.warnings)})
    return kept


def kept_tree(store: Store, tree: Digest) -> KeptTree | None:
    """What the store knows of a tree, if all of it is there."""
    match store.result(KIND, tree):
        case {"blob": str(blob), "warnings": [*warnings]} if store.has(Digest.parse(blob)):
            return KeptTree(tree, Digest.parse(blob), tuple(map(str, warnings)))
    return None


def has_tree(store: Store, tree: Digest) -> bool:
    """Whether the tree is in the store."""
    return kept_tree(store, tree) is not None


def tree_blob(store: Store, tree: Digest) -> Digest:
    """The digest of a tree's canonical tar. Raises StoreError when the tree is not here."""
    kept = kept_tree(store, tree)
    if kept is None:
        raise StoreError(
            "a source tree is missing from the store", expected=str(tree), found="nothing", hint="run again"
        )
    return kept.blob


def tree_row(entry: TarEntry, sha256: str) -> inventory.Entry:
    """What the digest is made of: a file with the SHA-256 (hex) of its bytes, or a link."""
    if entry.kind is EntryKind.SYMLINK:
        return inventory.link_entry(f"/{entry.path}", entry.link)
    return inventory.file_entry(f"/{entry.path}", entry.mode, sha256)


def tree_digest(rows: list[inventory.Entry]) -> Digest:
    """The digest of a tree, from its rows in any order."""
    return Digest(inventory.tree_digest(rows, "/"))


def read_tree(blob: Path) -> Iterator[tuple[TarEntry, BinaryIO]]:
    """The entries of a canonical tar, each with its bytes, to be read before the next one is asked for."""
    import tarfile

    with (
        blob.open("rb") as source,
        tarfile.open(fileobj=source, mode="r:", encoding="utf-8", errors="surrogateescape") as archive,
    ):
        while (member := archive.next()) is not None:
            archive.members.clear()  # type: ignore[attr-defined]  # it would remember every header
            if member.issym():
                yield symlink(member.name, member.linkname), _NOTHING
            else:
                stream = cast("BinaryIO", archive.extractfile(member))
                yield TarEntry(member.name, EntryKind.FILE, member.mode, member.size), stream


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
    tops = set()
    for path in tree_rows(store, tree):
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            if is_version_control(parts[depth - 1]):
                tops.add("/".join(parts[:depth]))
                break
    return tuple(sorted(tops))


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
