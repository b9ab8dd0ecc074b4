"""Progress of blobs on their way to or from a registry: a bar on a terminal, nothing elsewhere."""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from reprobridge.cli.doors import Doors
from reprobridge.cli.streams import shows_bars
from reprobridge.oci.model import Descriptor
from reprobridge.registry.model import SILENT, Outcome, Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bars


class MovingBar:
    """One bar over all blobs; what needs not move shortens it."""

    def __init__(self, bars: "Bars", title: str, total: int) -> None:
        self._bars = bars
        self._task = bars.add_task(title, total=total)

    def advance(self, blob: Descriptor, count: int) -> None:
        """So many more bytes moved."""
        del blob
        self._bars.update(self._task, advance=count)

    def done(self, blob: Descriptor, outcome: Outcome | None) -> None:
        """The blob is there; it counts as moved when it was there, or was mounted."""
        if outcome in (Outcome.EXISTS, Outcome.MOUNTED):
            self._bars.update(self._task, advance=blob.size)


@contextlib.contextmanager
def moving(doors: Doors, title: str, total: int) -> Iterator[Progress]:
    """A bar for `total` bytes while standard error is a terminal and talk is wanted."""
    if doors.quiet or not total or not shows_bars():
        yield SILENT
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        yield MovingBar(bars, title, total)
