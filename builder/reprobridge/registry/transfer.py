"""Moving many blobs side by side; one after the other once the server stumbled.

How many move at once is the registry's `turns`; here are the threads that wait for them.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from reprobridge.frozen import frozen
from reprobridge.oci.model import Descriptor
from reprobridge.registry.client import Registry
from reprobridge.registry.model import SILENT, Blob, Outcome, Progress, Wanted

Item = TypeVar("Item", Blob, Wanted)


@frozen(kw_only=True)
class Moved:
    """What a transfer did."""

    bytes: int = 0
    """Sent or fetched, without what was sent in vain."""
    uploaded: int = 0
    """Blobs sent; for a pull, blobs fetched."""
    mounted: int = 0
    """Blobs taken over from another repository."""
    present: int = 0
    """Blobs that were there already."""


def push_blobs(
    registry: Registry, repository: str, blobs: Iterable[Blob], progress: Progress = SILENT
) -> Moved:
    """See that the repository holds all blobs. Raises the first error; what arrived stays there."""

    def push(blob: Blob, told: Progress) -> tuple[int, Outcome]:
        return blob.descriptor.size, registry.push_blob(repository, blob, told)

    done = _side_by_side(registry, blobs, push, progress)
    outcomes = [outcome for _, outcome in done]
    return Moved(
        bytes=sum(size for size, outcome in done if outcome is Outcome.UPLOADED),
        uploaded=outcomes.count(Outcome.UPLOADED),
        mounted=outcomes.count(Outcome.MOUNTED),
        present=outcomes.count(Outcome.EXISTS),
    )


def pull_blobs(
    registry: Registry, repository: str, wanted: Iterable[Wanted], progress: Progress = SILENT
) -> Moved:
    """Fetch all blobs, each verified. Raises the first error; what was kept stays."""

    def pull(item: Wanted, told: Progress) -> int:
        with registry.server.turns.take():
            item.keep(_told(registry.blob_blocks(repository, item.descriptor), item.descriptor, told))
        told.done(item.descriptor, None)
        return item.descriptor.size

    sizes = _side_by_side(registry, wanted, pull, progress)
    return Moved(bytes=sum(sizes), uploaded=len(sizes))


class _Stopped(Exception):
    """Ends a transfer in the middle, because another one failed."""


class _Stoppable:
    """Progress that ends a transfer when it is told of it and must stop."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.stop = threading.Event()

    def advance(self, blob: Descriptor, count: int) -> None:
        if self.stop.is_set():
            raise _Stopped
        self._progress.advance(blob, count)

    def done(self, blob: Descriptor, outcome: Outcome | None) -> None:
        self._progress.done(blob, outcome)


Result = TypeVar("Result")


def _side_by_side(
    registry: Registry, items: Iterable[Item], move: Callable[[Item, Progress], Result], progress: Progress
) -> list[Result]:
    """Move each blob once, the largest first. An error, also an interrupt, stops all others."""
    every = {item.descriptor.digest: item for item in items}
    ordered = sorted(every.values(), key=lambda item: (-item.descriptor.size, item.descriptor.digest))
    if not ordered:
        return []
    from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait

    told = _Stoppable(progress)

    def work(item: Item) -> Result:
        if told.stop.is_set():
            raise _Stopped
        try:
            return move(item, told)
        except BaseException:
            told.stop.set()  # here and now: who waits below may wake up late
            raise

    with ThreadPoolExecutor(min(registry.server.turns.width, len(ordered))) as pool:
        futures = [pool.submit(work, item) for item in ordered]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            told.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
    for future in futures:
        if not future.cancelled() and (error := future.exception()) and not isinstance(error, _Stopped):
            raise error
    return [future.result() for future in futures]


def _told(blocks: Iterator[bytes], blob: Descriptor, progress: Progress) -> Iterator[bytes]:
    for block in blocks:
        progress.advance(blob, len(block))
        yield block
