"""Reading a folder as a tree, and knowing without reading that it hasn't changed.

Like git's index, a reading is remembered by what `lstat` says of every path (mode, size, times, inode). The
memory counts only when it can't be stale: a file that was touched within `SETTLED` before a reading may be
written again within the same tick of the file system's clock, so such a reading isn't remembered ("racily
clean", git's Documentation/technical/racy-git.txt); and nothing may differ when the folder is looked at once
more after the reading. Forgetting costs a reading, and never changes a digest.
"""

import functools
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from reprobridge.digest import Digest, digest_json
from reprobridge.errors import ArtifactError, LockError
from reprobridge.frozen import frozen
from reprobridge.lock.exclusion import Exclusion
from reprobridge.lock.kept_tree import KeptTree, kept_tree
from reprobridge.store.store import Store

if TYPE_CHECKING:
    from reprobridge.lock.tree import Found

KIND = "source-folder"
"""Kind of the store's results that remember a reading."""
SETTLED = 2_000_000_000
"""Nanoseconds after which a file's times are sure to differ from a later write's (FAT counts in 2 s)."""


@frozen
class Reading:
    """A folder as a tree."""

    kept: KeptTree
    """The tree."""
    unused: tuple[str, ...]
    """Exclusions that matched nothing."""


class Seen:
    """A path and what `lstat` says of it."""

    __slots__ = ("path", "status")

    def __init__(self, path: str, status: os.stat_result) -> None:
        self.path = path
        """Relative to the folder that was looked at."""
        self.status = status
        """Of the file or link itself."""

    @property
    def stamp(self) -> str:
        """Changes whenever the file may have changed."""
        status = self.status
        fields = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        return f"{self.path!a}{fields}\n"


def read_folder(
    store: Store,
    folder: Path,
    exclude: tuple[str, ...] = (),
    *,
    where: str | None = None,
    clock: Callable[[], int] = time.time_ns,
) -> Reading:
    """Keep a folder's files as a tree; `where` names it in errors, if not its path.

    `clock` gives nanoseconds and only decides what is remembered. Raises LockError when there is no such
    folder, ArtifactError when its content can't be a tree.
    """
    begun = clock()
    exclusion = Exclusion(exclude, history=True)
    seen = look(folder, exclusion)
    stamp = _stamp(seen)
    key = digest_json({"folder": str(folder.resolve()), "exclude": list(exclude)})
    if kept := _remembered(store, key, stamp):
        return Reading(kept, exclusion.unused)
    from reprobridge.lock.tree import keep_tree

    kept = keep_tree(store, _as_found(folder, seen), where=where or str(folder))
    settled = all(max(one.status.st_mtime_ns, one.status.st_ctime_ns) < begun - SETTLED for one in seen)
    if settled and _stamp(look(folder, exclusion)) == stamp:
        store.remember(KIND, key, {"stamp": stamp, "tree": str(kept.tree)})
    return Reading(kept, exclusion.unused)


class Readings:
    """The folders that one command has read: each once, so that all that it does is about one state of them."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[str, ...]], Reading] = {}

    def read(self, store: Store, folder: Path, exclude: tuple[str, ...]) -> Reading:
        """The folder as it was when it was first asked for; errors as for `read_folder`."""
        key = (str(folder), exclude)
        if key not in self._known:
            self._known[key] = read_folder(store, folder, exclude)
        return self._known[key]


def look(folder: Path, exclusion: Exclusion) -> list[Seen]:
    """Every file, link and special file below a folder that isn't excluded, sorted by its path."""
    if not folder.is_dir():
        raise LockError(
            "there is no such source folder", where=str(folder), expected="a folder", found=_kind(folder)
        )
    try:
        return sorted(_walk(os.fsencode(folder), "", exclusion), key=lambda one: one.path)
    except OSError as error:
        raise _unreadable(error) from error


def _walk(folder: bytes, prefix: str, exclusion: Exclusion) -> Iterator[Seen]:
    # Bytes, decoded here: Python would decode names by the locale.
    with os.scandir(folder) as entries:
        for entry in entries:
            path = prefix + entry.name.decode("utf-8", "surrogateescape")
            if entry.is_dir(follow_symlinks=False):
                if not exclusion.covers_folder(path):
                    yield from _walk(entry.path, f"{path}/", exclusion)
            elif not exclusion.covers(path):
                yield Seen(path, entry.stat(follow_symlinks=False))


def _as_found(folder: Path, seen: list[Seen]) -> "Iterator[Found]":
    from reprobridge.lock.tree import found_file, found_link

    for one in seen:
        path = os.fsencode(folder) + b"/" + one.path.encode("utf-8", "surrogateescape")
        mode = one.status.st_mode
        if stat.S_ISLNK(mode):
            yield found_link(one.path, _read_link(path))
        elif stat.S_ISREG(mode):
            opener = functools.partial(_open, path)
            yield found_file(one.path, one.status.st_size, executable=bool(mode & 0o100), opener=opener)
        else:
            raise ArtifactError(
                "the source holds a special file",
                where=f"{folder}/{one.path}",
                expected="files, folders and symbolic links",
                found="a socket, pipe or device",
                hint="leave it out with `source.exclude`",
            )


def _open(path: bytes) -> BinaryIO:
    try:
        # No link is followed, and a pipe that took the file's place doesn't block.
        return os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except OSError as error:
        raise _unreadable(error) from error


def _read_link(path: bytes) -> str:
    try:
        return os.readlink(path).decode("utf-8", "surrogateescape")  # noqa: PTH115 - bytes, see _walk
    except OSError as error:
        raise _unreadable(error) from error


def _stamp(seen: list[Seen]) -> str:
    sha256 = hashlib.sha256()
    for one in seen:
        sha256.update(one.stamp.encode())
    return sha256.hexdigest()


def _remembered(store: Store, key: Digest, stamp: str) -> KeptTree | None:
    match store.result(KIND, key):
        case {"stamp": str(then), "tree": str(tree)} if then == stamp:
            return kept_tree(store, Digest.parse(tree))
    return None


def _unreadable(error: OSError) -> ArtifactError:
    return ArtifactError(
        "the source cannot be read, or changed while it was read",
        where=os.fsdecode(error.filename or b""),
        expected="a readable file",
        found=error.strerror or str(error),
    )


def _kind(path: Path) -> str:
    return "a file" if path.exists() else "nothing"
