"""A disk that keeps book: which files and folders were brought to it, and as what."""

import os
from pathlib import Path

import pytest


class BookkeepingDisk:
    """Stands before the system's own `fsync` and notes what each call brought to the disk."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._synced: dict[tuple[int, int], os.stat_result] = {}
        self._real = os.fsync
        monkeypatch.setattr(os, "fsync", self._fsync)

    def _fsync(self, descriptor: int) -> None:
        self._real(descriptor)
        status = os.fstat(descriptor)
        self._synced[status.st_dev, status.st_ino] = status

    def holds(self, path: Path) -> bool:
        """Whether it is on the disk as it is now: a file with its bytes and mode, a folder with its names."""
        now = path.stat()
        then = self._synced.get((now.st_dev, now.st_ino))
        if then is None:
            return False
        return (then.st_size, then.st_mode, then.st_mtime_ns) == (now.st_size, now.st_mode, now.st_mtime_ns)
