"""Writing what cannot be made again, so that it outlives a crash of the machine: measurements, keys, locks.

A file's bytes are on the disk before it gets its name, and its name is before anybody is told that it is there.
Everything else (`files.py`) does without: a layer is made again in seconds, a measurement of hours is not.
"""

import errno
import os
from pathlib import Path

from reprobridge.system import files


def write_durably(path: Path, data: bytes, *, mode: files.Mode = 0o644) -> None:
    """Replace `path` by these bytes in one step, and bring both to the disk."""
    new_folders = [folder for folder in path.parents if not folder.exists()]
    with files.replacing(path, mode=mode) as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    _sync(path)  # its mode too
    for folder in (path.parent, *(folder.parent for folder in new_folders)):
        _sync_folder(folder)


def create_durably(path: Path, data: bytes, *, mode: files.Mode) -> None:
    """Write a file that nobody has made yet, never readable by more than `mode` says. Raises FileExistsError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            files.finish(stream, mode)
            os.fsync(stream.fileno())
        _sync_folder(path.parent)
    except BaseException:  # also when interrupted
        path.unlink(missing_ok=True)
        raise


def bring_to_disk(tree: Path, *, within: Path) -> None:
    """Bring every file and folder of a tree to the disk, then its name, up to the folder `within` that holds it."""
    for parent, _, names in os.walk(tree, topdown=False):
        for name in names:
            if (path := Path(parent, name)).is_file() and not path.is_symlink():
                _sync(path)
        _sync_folder(Path(parent))
    for folder in tree.parents:
        _sync_folder(folder)
        if folder == within:
            break


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where its file system and mode let us say so."""
    try:
        _sync(folder)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EINVAL, errno.ENOTSUP):
            raise
