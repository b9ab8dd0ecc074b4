"""Writing whole folders of somebody else's files: an unpacked archive, several trees merged into one.

A `TreeWriter` fills a folder that is fresh and ours, and nothing that it is told can reach outside of it: it
makes every parent itself, follows no link, and never writes twice to a path.
As root owners are kept; for an ordinary user everything is theirs. Set-user-id bits are dropped: what we
write is only ever mounted `nosuid`, and must not lie around as a set-user-id program.
"""

# An image has a hundred thousand paths, and a Path object costs more than the call:
# ruff: noqa: PTH101, PTH102, PTH108, PTH112, PTH114, PTH116, PTH211

import errno
import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from reprobridge.errors import ArtifactError

_PERMISSIONS = 0o1777


class Attributes(NamedTuple):
    """What an entry has besides its content."""

    mode: int
    """Permission bits."""
    uid: int = 0
    """Owner; used only as root."""
    gid: int = 0
    """Group; used only as root."""
    mtime: int = 0
    """Seconds since 1970."""


class TreeWriter:
    """Fills one fresh folder; `close` makes it complete."""

    def __init__(self, root: Path) -> None:
        self._root = f"{root}/"
        self._folders: dict[str, Attributes] = {"": Attributes(0o755)}
        self._files: set[str] = set()
        self._others: set[str] = set()
        self._owned = os.geteuid() == 0

    def folder(self, path: str, attributes: Attributes) -> None:
        """A folder; its attributes count from `close` on, so that files can be put into it."""
        self._make_parents(path)
        if path not in self._folders:
            self._require_new(path)
            os.mkdir(self._root + path, 0o700)
        self._folders[path] = attributes

    def file(self, path: str, attributes: Attributes, blocks: Iterable[bytes]) -> None:
        """A regular file."""
        self._place(path)
        handle = os.open(self._root + path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(handle, "wb", buffering=0) as stream:
            for block in blocks:
                stream.write(block)
            if self._owned and (attributes.uid or attributes.gid):
                os.fchown(handle, attributes.uid, attributes.gid)
            os.fchmod(handle, attributes.mode & _PERMISSIONS)
            os.utime(handle, (attributes.mtime, attributes.mtime))
        self._files.add(path)

    def symlink(self, path: str, target: str, attributes: Attributes) -> None:
        """A symbolic link; where it leads does not matter, since nothing here follows it."""
        self._place(path)
        os.symlink(target, self._root + path)
        if self._owned and (attributes.uid or attributes.gid):
            os.lchown(self._root + path, attributes.uid, attributes.gid)

    def hardlink(self, path: str, target: str) -> None:
        """Another name of a regular file that was written before."""
        if target not in self._files:
            raise ArtifactError(
                "a hard link leads nowhere",
                where=path,
                expected="an earlier file of the same layer",
                found=target,
            )
        self._place(path)
        os.link(self._root + target, self._root + path, follow_symlinks=False)
        self._files.add(path)

    def close(self) -> None:
        """Give the folders their attributes, innermost first, since one may forbid to enter it."""
        for path in sorted(self._folders, reverse=True):
            attributes = self._folders[path]
            full = self._root + path
            os.utime(full, (attributes.mtime, attributes.mtime))
            if self._owned and (attributes.uid or attributes.gid):
                os.chown(full, attributes.uid, attributes.gid)
            os.chmod(full, attributes.mode & _PERMISSIONS)

    def _place(self, path: str) -> None:
        self._make_parents(path)
        self._require_new(path)
        self._others.add(path)

    def _make_parents(self, path: str) -> None:
        parent = path.rpartition("/")[0]
        if parent not in self._folders:
            self.folder(parent, Attributes(0o755))

    def _require_new(self, path: str) -> None:
        if path in self._folders or path in self._others:
            raise ArtifactError(
                "a path does not fit what stands there already",
                where=path,
                expected="each path once, and only folders above others",
                found="a path twice, or something below a file or link",
            )


def merge_trees(sources: Sequence[Path], target: Path) -> None:
    """Fill the folder `target` with hard links to the files of all sources; later ones hide earlier ones."""
    modes: dict[str, int] = {}
    for source in sources:
        _merge(str(source), str(target), modes)
    for path in sorted(modes, reverse=True):
        os.chmod(path, modes[path])


def _merge(source: str, target: str, modes: dict[str, int]) -> None:
    modes[target] = os.stat(source).st_mode & _PERMISSIONS
    with os.scandir(source) as entries:
        for entry in entries:
            place = f"{target}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if not os.path.isdir(place) or os.path.islink(place):
                    _clear(place)
                    os.mkdir(place, 0o700)
                _merge(entry.path, place, modes)
            else:
                _clear(place)
                _link(entry.path, place)


def _clear(place: str) -> None:
    if os.path.isdir(place) and not os.path.islink(place):
        shutil.rmtree(place)
    elif os.path.lexists(place):
        os.unlink(place)


def _link(source: str, place: str) -> None:
    try:
        os.link(source, place, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.EMLINK, errno.EPERM, errno.EXDEV):
            raise
        shutil.copy2(source, place, follow_symlinks=False)


def take_tree(source: Path, target: Path) -> list[str]:
    """Copy the regular files and folders of a tree that somebody else wrote; gives the paths of what was left.

    Links and devices are left: what they lead to is not what was written there.
    """
    left: list[str] = []
    for parent, folders, names in os.walk(source):
        place = target / Path(parent).relative_to(source)
        place.mkdir(parents=True, exist_ok=True)
        for name in sorted(folders + names):
            path = Path(parent, name)
            mode = path.lstat().st_mode
            if stat.S_ISREG(mode):
                shutil.copyfile(path, place / name)
            elif not stat.S_ISDIR(mode):
                left.append(path.relative_to(source).as_posix())
    return sorted(left)
