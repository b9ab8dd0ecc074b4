"""Folders of the store that show when somebody, or a crash of the machine, has changed what they hold.

A place holds `root/`, the folder, and `seal`, a digest of what the file system said of each file when the folder was
finished; both appear at once. A folder whose seal does not fit is made again.
A file counts by its path, inode, mode, size and time, a symbolic link by its target too, since reading the bytes of
every file would take longer than what they are wanted for: 12,000 files are looked at in 0.1 s. So a file that was
written again, replaced, cut off, added or removed shows; bytes that went bad on the disk, or were written in place by
somebody who then set the time back, do not. The time of a file's last change of any kind would show the latter, and is
not asked for: each hard link to a file sets it, so folders of links (`system.trees.merge_trees`) would undo each
other's seals. In a copy of a store inodes are others, and everything is made again.
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path

from reprobridge.digest import Digest, Hasher
from reprobridge.system import files

ROOT = "root"
"""The folder itself, in its place."""
SEAL = "seal"
"""The file beside it."""
LOCK = "lock"
"""Held beside the places while a damaged folder is taken away, so that nobody takes away its successor."""


def sealed_folder(place: Path, fill: Callable[[Path], None]) -> Path:
    """The folder of a place, as `fill(folder)` made it: now, or earlier when its seal fits."""
    if not _is_sound(place):
        if place.exists():
            _take_away(place)
        files.publish_folder(place, lambda made: _make(made, fill))
    return place / ROOT


def _make(place: Path, fill: Callable[[Path], None]) -> None:
    files.publish_folder(place / ROOT, fill)
    files.write_file(place / SEAL, f"{_fingerprint(place / ROOT)}\n".encode())


def _take_away(place: Path) -> None:
    with files.locked(place.parent / LOCK, exclusive=True):
        if place.exists() and not _is_sound(place):
            files.take_away(place)


def _is_sound(place: Path) -> bool:
    try:
        return (place / SEAL).read_bytes() == f"{_fingerprint(place / ROOT)}\n".encode()
    except OSError:
        return False


def _fingerprint(folder: Path) -> Digest:
    hasher = Hasher()
    _add(str(folder), hasher)
    return hasher.digest()


def _add(folder: str, hasher: Hasher) -> None:
    rows: list[tuple[str | int, ...]] = []
    folders = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):  # what it holds says more than its time
                    rows.append((entry.name, status.st_mode))
                    folders.append(entry.path)
                    continue
                is_link = stat.S_ISLNK(status.st_mode)
                target = os.readlink(entry.path) if is_link else ""  # noqa: PTH115 - pathlib takes longer
                known = status.st_ino, status.st_mode, status.st_size, status.st_mtime_ns
                rows.append((entry.name, *known, target))
    except PermissionError:  # a layer may close a folder to its owner
        rows = []
    rows.sort()
    hasher.write(ascii(rows).encode())
    for inner in sorted(folders):
        _add(inner, hasher)
