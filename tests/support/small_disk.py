"""A disk that is soon full: a small file system in memory, mounted for a test."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.require import require_tool, unavailable


@contextmanager
def small_disk(place: Path, size: int = 1 << 20) -> Iterator[Path]:
    """A folder with room for so many bytes. Mounting it takes root, or a sudo that asks nothing."""
    place.mkdir()
    options = f"size={size},mode=0777"
    done = _as_root(require_tool("mount"), "-t", "tmpfs", "-o", options, "reprobridge-test", place)
    if done.returncode:
        unavailable(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        _as_root(require_tool("umount"), place).check_returncode()


def fill(disk: Path, *, but: int) -> Path:
    """Leave so many bytes of a disk, in whole blocks; gives the file that takes the others."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as stream:
        free = os.statvfs(disk)
        stream.write(bytes(free.f_bavail * free.f_bsize - but))
    return filler


def _as_root(*argv: str | Path) -> "subprocess.CompletedProcess[str]":
    prefix = () if os.geteuid() == 0 else (require_tool("sudo"), "--non-interactive")
    return subprocess.run([*prefix, *argv], capture_output=True, text=True, check=False)
