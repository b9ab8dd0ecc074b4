"""Worker processes for work that one core would take long for."""

import contextlib
import multiprocessing
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from reprobridge.system.interrupts import uninterrupted


def can_have_workers() -> bool:
    """Whether this machine lets processes wait for each other: they need semaphores, which need a writable /dev/shm."""
    try:
        multiprocessing.get_context("fork").Lock()
    except (OSError, ImportError):
        return False
    return True


@contextlib.contextmanager
def workers(count: int) -> Iterator[ProcessPoolExecutor]:
    """Forked workers that leave interrupts to us and die with us.

    All are forked here, so call this before anything starts a thread. An exception inside kills them at once:
    a worker that is asked to leave may hold a lock. What they leave unfinished carries their process ids, and
    is whoever's who gave them the work (`store.prune.sweep`).
    """
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_begin_worker)
    try:
        with (
            uninterrupted()
        ):  # else workers may be left that nobody knows of, and that our end would wait for
            pool.submit(os.getpid).result()
        yield pool
    except BaseException:
        for child in multiprocessing.active_children():
            child.kill()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _begin_worker() -> None:
    import ctypes

    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: a killed parent takes them along
