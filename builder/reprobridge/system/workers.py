"""Worker processes for work that one core would take long for."""

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

PATIENCE = 5.0
"""Seconds that a worker has to delete what it left unfinished."""


@contextlib.contextmanager
def workers(count: int) -> Iterator[ProcessPoolExecutor]:
    """Forked workers that leave interrupts to us and die with us.

    All are forked here, so call this before anything starts a thread. An exception inside ends them at once.
    """
    pool = ProcessPoolExecutor(
        count, mp_context=multiprocessing.get_context("fork"), initializer=_begin_worker
    )
    # Held back until each worker knows what to do: our own handler would print a traceback in it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        pool.submit(os.getpid).result()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    children = multiprocessing.active_children()
    try:
        yield pool
    except BaseException:
        _end(children)
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _end(children: Sequence[multiprocessing.process.BaseProcess]) -> None:
    """Ask them to leave, which lets them clean up; who has not left after a while is killed."""
    for child in children:
        child.terminate()
    for child in children:
        child.join(PATIENCE)
        if child.is_alive():
            child.kill()


def _begin_worker() -> None:
    import ctypes

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: a killed parent takes them along


def _leave(*_: object) -> None:
    """End quietly, and let what is unfinished be deleted on the way out."""
    raise SystemExit(1)
