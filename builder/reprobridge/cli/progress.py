"""Progress of a build: bars on a terminal; elsewhere nothing but a line before what takes a minute and more.

rich is imported when there is something to show, so that a build that has nothing to do is as quick on a terminal.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

from reprobridge.cli.doors import Doors
from reprobridge.cli.streams import shows_bars
from reprobridge.wording import counted

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from reprobridge.assemble.model import Progress
    from reprobridge.lock.fetch import Progress as FetchProgress
    from reprobridge.lock.fetch import Wanted

    class BuildProgress(Progress, FetchProgress, Protocol):
        """Hears of making and of fetching."""


class Quiet:
    """Hears and says nothing."""

    def begin(self, what: str, total: int) -> None:
        """Nothing."""

    def step(self, title: str) -> None:
        """Nothing."""

    def received(self, wanted: "Wanted", size: int) -> None:
        """Nothing."""

    def finished(self, wanted: "Wanted") -> None:
        """Nothing."""


class Plain(Quiet):
    """Says in a line that bytecode is being compiled: all of it in one step."""

    def __init__(self, log: Callable[[str], object]) -> None:
        """`log` takes the line."""
        self._log = log

    def begin(self, what: str, total: int) -> None:
        """A wave begins."""
        from reprobridge.assemble.schedule import COMPILING

        if what == COMPILING:
            self._log(f"{what} of {counted(total, 'package')} in the sandbox")


class Shown:
    """One bar for fetching, one for each wave of making."""

    def __init__(self, bars: Callable[[], "Bars"]) -> None:
        """`bars` opens them; asked for when the first thing is shown, by whichever thread that is."""
        self._open = bars
        self._opened: Bars | None = None
        self._opening = threading.Lock()
        self._wave: TaskID | None = None
        self._fetch: TaskID | None = None
        self._sizes: dict[str, int] = {}

    @property
    def _bars(self) -> "Bars":
        with self._opening:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def begin(self, what: str, total: int) -> None:
        """A wave begins."""
        self._wave = self._bars.add_task(what, total=total)
        self._bars.refresh()

    def step(self, title: str) -> None:
        """A step of the wave is done."""
        if self._wave is not None:
            self._bars.update(self._wave, advance=1, description=title[:40], refresh=True)

    def received(self, wanted: "Wanted", size: int) -> None:
        """So many bytes of a file are here."""
        if self._fetch is None:
            self._fetch = self._bars.add_task("fetching", total=None)
        self._sizes[wanted.sha256.hex] = size
        self._bars.update(self._fetch, completed=sum(list(self._sizes.values())), refresh=True)

    def finished(self, wanted: "Wanted") -> None:
        """A file is complete."""


@contextlib.contextmanager
def build_progress(doors: Doors) -> "Iterator[BuildProgress]":
    """Bars while standard error is a terminal and talk is wanted."""
    if doors.quiet or not shows_bars():
        yield Quiet() if doors.quiet else Plain(doors.log)
        return
    with contextlib.ExitStack() as stack:
        yield Shown(lambda: stack.enter_context(_bars()))


def _bars() -> "Bars":
    from rich.console import Console
    from rich.progress import Progress as Bars

    # No refreshing thread: workers are forked while the bars are shown.
    return Bars(console=Console(stderr=True), transient=True, auto_refresh=False)
