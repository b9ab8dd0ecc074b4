"""`python -m benchmarks.publishing`: bring images to a registry on this machine, with ReproBridge and with skopeo.

Both push the same bytes, in turns, each into an emptied registry. Then what only we can leave out: the same again,
a second paper that shares the big layers, and a paper whose layers are all known to the registry, from an empty
store. Needs docker-registry, skopeo, and network or a folder of wheels.
"""

import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.cases import SETS, PackageSet
from benchmarks.figures import median_cost, ratio
from benchmarks.machine import this_machine
from benchmarks.measure import CommandFailedError
from benchmarks.page import write_page
from benchmarks.pushes import SKOPEO, Push, open_room
from benchmarks.report import table
from benchmarks.rig import Settings
from benchmarks.versions import require
from benchmarks.words import common_parser, settings_of
from reprobridge.wording import counted

HEADINGS = ("## Publishing\n", "## What publishing leaves out\n")
"""Above and below the tables in the page."""


def main() -> int:
    """Measure and report; gives the exit status."""
    chosen = common_parser("python -m benchmarks.publishing", __doc__, ["M"]).parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that registry and folders are cleaned up
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir=chosen.work) as work:
        settings = settings_of(chosen, Path(work), ["skopeo"])
        try:
            require(settings.builders)
            tables = "\n".join(_lines(chosen.sets, settings)) + "\n"
        except CommandFailedError as error:
            print(f"benchmarks: {error}", file=sys.stderr)
            return 1
    print(tables, end="")
    if chosen.write:
        write_page(chosen.write, tables, HEADINGS)
    return 0


def _lines(names: Sequence[str], settings: Settings) -> Iterator[str]:
    today = time.strftime("%Y-%m-%d", time.gmtime())
    yield f"Measured on {today}: {this_machine()}."
    for name in names:
        yield ""
        yield from _set_lines(SETS[name], settings)


def _set_lines(package_set: PackageSet, settings: Settings) -> Iterator[str]:
    with open_room(package_set, settings) as room:
        done: list[Push] = []
        rounds = settings.rounds or package_set.rounds
        for number in range(rounds):
            settings.say(f"{package_set.name}: round {number + 1}")
            done += room.round()
    yield f"### {package_set.name}: {package_set.title}: an image of {room.size / 1e6:.0f} MB, {counted(rounds, 'round')}"
    yield ""
    head = ["", "wall s (CPU s)", "peak memory, MB", "moved, MB", "of the image", "skopeo's push / this"]
    yield from table(head, list(rows(done, room.size)))


def rows(done: Sequence[Push], size: int) -> Iterator[list[str]]:
    """A row for each title, in order of first appearance; `size`: the image's bytes."""
    peer = median_cost(push.cost for push in done if push.title == SKOPEO)
    for title in dict.fromkeys(push.title for push in done):
        pushes = [push for push in done if push.title == title]
        cost, moved = median_cost(push.cost for push in pushes), pushes[-1].moved
        if cost is None or peer is None:
            raise LookupError(f"{SKOPEO} was never run")
        yield [
            title,
            f"{cost.wall:.2f} ({cost.cpu:.2f})",
            f"{cost.memory / 1e6:.0f}",
            "-" if moved is None else f"{moved / 1e6:.3f}",
            "-" if moved is None else f"{100 * moved / size:.2f} %",
            ratio(peer.wall, cost.wall),
        ]


if __name__ == "__main__":
    raise SystemExit(main())
