"""A disk that is nearly full, for what this process writes."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nearly_full(room: int) -> Iterator[None]:
    """Let no file grow beyond so many bytes: what is written then is cut off there, and the next write fails."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
