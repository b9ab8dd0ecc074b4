"""The standard streams, as a command uses them: data goes to standard output, talk to standard error.

Who stops reading them is no reason to stop, and makes no failure a success: the command goes on unheard, and its own
outcome decides the exit status. A standard output that is full is an error of its own: afterwards nobody could tell
whether it is full or the store.
"""

import contextlib
import os
import sys
from typing import Any, TextIO

from reprobridge.errors import AssembleError


class StandardOutput:
    """What a command writes its data to; everything but writing is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or hold back. Raises AssembleError where there is no room."""
        try:
            return self._stream.write(text)
        except OSError as error:
            _give_up(error)
            return len(text)

    def flush(self) -> None:
        """Write what is held back. Raises AssembleError where there is no room."""
        try:
            self._stream.flush()
        except OSError as error:
            _give_up(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _give_up(error: OSError) -> None:
    """Let vanish what standard output holds back, and what is written to it from now on; raises when that is a loss."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    if isinstance(error, BrokenPipeError):
        return
    raise AssembleError(
        "standard output cannot be written",
        expected="a file with room, or a pipe",
        found=error.strerror or str(error),
        hint="make room, or send it elsewhere, and run again",
    ) from error


def talk(text: str) -> None:
    """Lines on standard error, in one piece, since several threads may talk; unheard where nobody listens."""
    with contextlib.suppress(OSError):
        print(text, end="", file=sys.stderr, flush=True)


def shows_bars() -> bool:
    """Whether standard error is a terminal that can draw a line again."""
    return sys.stderr.isatty() and os.environ.get("TERM", "") not in ("dumb", "unknown")


def show_printed(block: bytes) -> None:
    """What a program prints is talk, too: on standard error."""
    with contextlib.suppress(OSError):
        sys.stderr.buffer.write(block)
        sys.stderr.flush()


def open_closed() -> None:
    """Put nothing in the place of standard streams that whoever started us has closed.

    Python has None there, and the next file to be opened, of the store for example, would get the stream's number.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode))
