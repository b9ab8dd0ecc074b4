"""Being asked to end: raised where we are, but not in steps that nobody may see half done."""

import contextlib
import itertools
import signal
import sys
from collections.abc import Callable, Iterator

INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks a command to end."""

_HEEDED = (*INTERRUPTS, signal.SIGALRM)
"""Those, and what says it again a moment later."""
_A_MOMENT = 0.001
"""Seconds."""
_first_of_all: list[Callable[[], object]] = []


class ThreadInterrupted(BaseException):
    """An interrupt has ended what this thread was doing; no error, and nobody need hear of it."""


def at_interrupt(act: Callable[[], object]) -> None:
    """Have this called at the first interrupt, right before that is raised, in the midst of whatever is going on."""
    _first_of_all.append(act)


def heed_interrupts() -> None:
    """Let what asks this process to end raise KeyboardInterrupt where it is, but for the second time.

    Who is in a hurry asks twice, as does a program that passes on what the terminal has told us too: that would cut
    short the cleaning up after the first. The third ends that as well. None is lost where Python calls what cannot
    raise (callbacks of weak references, finalizers): it is raised a moment later.
    """
    times = itertools.count(1)

    def interrupt(number: int, _: object) -> None:
        time = 0 if number == signal.SIGALRM else next(times)
        if time == 1:
            for act in _first_of_all:
                act()
        if time != 2:
            raise KeyboardInterrupt

    for number in _HEEDED:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as `nohup` asks for
            signal.signal(number, interrupt)
    if sys.unraisablehook is sys.__unraisablehook__:
        sys.unraisablehook = _raise_later


def _raise_later(lost: "sys.UnraisableHookArgs") -> None:
    if lost.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, _A_MOMENT)
    else:
        sys.__unraisablehook__(lost)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Let interrupts wait for the block's end, where they are raised; only for what takes no time worth a word."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, _HEEDED)  # raises what has come before
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
