"""Being asked to end: raised where we are, but not in steps that nobody may see half done."""

import contextlib
import itertools
import signal
from collections.abc import Iterator

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks a command to end."""


def heed_interrupts() -> None:
    """Let what asks this process to end raise KeyboardInterrupt where it is, but for the second time.

    Who is in a hurry asks twice, as does a program that passes on what the terminal has told us too: that would cut
    short the cleaning up after the first. The third ends that as well.
    """
    times = itertools.count(1)

    def interrupt(*_: object) -> None:
        if next(times) != 2:
            raise KeyboardInterrupt

    for number in INTERRUPTS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` asks for
            signal.signal(number, interrupt)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Let interrupts wait for the block's end, where they are raised; only for what takes no time worth a word."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)  # raises what has come before
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
