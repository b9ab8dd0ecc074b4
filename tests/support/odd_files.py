"""What may stand where a file is expected."""

import os
from pathlib import Path

KINDS = ("folder", "pipe", "endless link")
"""Everything that is no file; `too long` is one, with a hole of a gigabyte."""


def make_odd(path: Path, kind: str) -> None:
    """Put it there."""
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "endless link":
            path.symlink_to(path.name)
        case "too long":
            with path.open("wb") as stream:
                stream.truncate(1 << 30)
        case _:
            raise ValueError(kind)
