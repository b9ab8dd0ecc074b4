"""Steps that nobody sees half done: interrupts wait until they are over."""

import contextlib
import signal
from collections.abc import Iterator

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks a command to end (`cli/main.py`)."""


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Let interrupts wait for the block's end, where they are raised; only for what takes no time worth a word."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)  # raises what has come before
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
