"""Opening what a specification names: files and folders below the artifact's, however their paths are spelled.

Apart from the parser, since a build that finds everything as it was opens them without parsing anything.
"""

import os
import stat

FILE_NAME = "reprobridge.yaml"
"""Name of the specification in an artifact's folder."""
LARGEST_FILE = 16 << 20
"""Bytes of a patch, guide or requirements file: what is larger is data, not text that people read."""


def told_size(data: bytes) -> str:
    """How large a file is whose bytes `read_regular` gave: of a larger one it has one byte too many, not all."""
    return f"more than {LARGEST_FILE >> 20} MiB" if len(data) > LARGEST_FILE else f"{len(data)} bytes"


class OutsideError(ValueError):
    """A path that leads out of the artifact's folder through a link."""


def real_path(folder: str, path: str) -> str:
    """Where a path below a folder leads, links followed, proven to lie below that folder or to be it.

    Raises OSError when there is nothing, OutsideError when it lies elsewhere.
    """
    top = os.path.realpath(folder)
    real = os.path.realpath(f"{top}/{path}", strict=True)
    if real != top and not real.startswith(f"{top.rstrip('/')}/"):
        raise OutsideError(real)
    return real


def read_regular(path: str) -> bytes | None:
    """At most one byte more than LARGEST_FILE of a regular file; None for pipes, devices and folders."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return stream.read(LARGEST_FILE + 1)
