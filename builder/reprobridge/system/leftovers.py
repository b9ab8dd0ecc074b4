"""Unfinished files and folders, and what is left of them when the process that makes them is killed.

A name tells which process makes it. That process is known by its id in the store, which one machine uses; in a folder
of the user's, which other machines and containers may share, it has to hold no lock either.
"""

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator
from pathlib import Path

TEMPORARY = ".tmp-"
"""Prefix of what is unfinished."""

_OURS = re.compile(rf"{re.escape(TEMPORARY)}[0-9]+-[0-9a-f]{{12}}")


def unfinished_name(folder: Path) -> Path:
    """A name for something unfinished: says which process makes it, and is nobody else's."""
    return folder / f"{TEMPORARY}{os.getpid()}-{os.urandom(6).hex()}"


def hold(descriptor: int) -> None:
    """Show that somebody is at work on an open file or folder, where the file system has locks for it."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_abandoned(path: Path) -> bool:
    """Whether the process that makes this (its name says which) is gone, or never was: no process has such an id."""
    pid = path.name.removeprefix(TEMPORARY).partition("-")[0]
    try:
        if int(pid) <= 0:  # to the system our own group of processes, or others
            return True
        os.kill(int(pid), 0)
    except PermissionError:
        return False
    except (ProcessLookupError, ValueError, OverflowError):
        return True
    return False


def leftovers(folder: Path) -> Iterator[Path]:
    """What killed processes of this user left in a folder: named as we name it, by nobody at work, not held."""
    for path in folder.glob(f"{TEMPORARY}*"):
        if _OURS.fullmatch(path.name) and is_abandoned(path) and _is_ours_and_free(path):
            yield path


def _is_ours_and_free(path: Path) -> bool:
    """Whether it is this user's, and nobody holds it, for certain: not where the file system has no locks."""
    access = os.O_RDONLY if path.is_dir() else os.O_RDWR  # NFS locks only what may be written
    try:
        descriptor = os.open(path, access | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(descriptor).st_uid == os.geteuid()
    except OSError:
        return False
    finally:
        os.close(descriptor)
