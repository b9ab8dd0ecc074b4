"""Standard output that says itself when it takes no more.

Afterwards nobody could tell whether it is full or the store, and what is still held back at the interpreter's end
would fail once more, without a word on what to do.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any, TextIO

from reprobridge.errors import AssembleError


class StandardOutput:
    """What a command writes its data to; everything but writing is the stream's own."""

    def __init__(self, stream: TextIO | None) -> None:
        """None: whoever started us closed it, and wants nothing."""
        self._stream = stream

    def write(self, text: str) -> int:
        """Write, or hold back. Raises AssembleError; BrokenPipeError when nobody reads any more."""
        with self._telling():
            return self._stream.write(text) if self._stream else 0

    def flush(self) -> None:
        """Write what is held back; raises the same."""
        with self._telling():
            if self._stream:
                self._stream.flush()

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            drop_output()
            raise AssembleError(
                "standard output cannot be written",
                expected="a file with room, or a pipe",
                found=error.strerror or str(error),
                hint="make room, or send it elsewhere, and run again",
            ) from error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def drop_output() -> None:
    """Let vanish what standard output holds back, and what is written to it from now on."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
