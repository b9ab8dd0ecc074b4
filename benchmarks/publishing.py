"""`python -m benchmarks.publishing`: bring images to a registry on this machine, with ReproBridge and with skopeo.

Both push the same bytes, in turns, each into an emptied registry. Then what only we can leave out: the same again,
a second paper that shares the big layers, and a paper whose layers are all known to the registry, from an empty
store. Needs docker-registry, skopeo, and network or a folder of wheels.
"""

import argparse
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
from benchmarks.versions import find_uv, require

HEADINGS = ("## Publishing\n", "## What publishing leaves out\n")
"""Above and below the tables in the page."""


def main() -> int:
    """Measure and report; gives the exit status."""
    chosen = _parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that registry and folders are cleaned up
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir=chosen.work) as work:
        settings = Settings(
            work=Path(work),
            cache=chosen.cache,
            given=chosen.wheels,
            rounds=chosen.rounds,
            builders=("skopeo",),
            uv=find_uv(),
            say=lambda text: print(text, file=sys.stderr, flush=True),
        )
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.publishing", description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=["M"], help="default: M; L takes 20 GB")
    parser.add_argument("--rounds", type=int, default=3, help="default: 3")
    parser.add_argument("--wheels", type=Path, help="a folder of wheels, instead of the user's index")
    cache = Path.home() / ".cache" / "reprobridge-benchmarks"
    parser.add_argument("--cache", type=Path, default=cache, help="where wheels are kept for the next time")
    parser.add_argument("--work", type=Path, help="where to build: on a disk (default: the temporary folder)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables into this page")
    return parser


def _lines(names: Sequence[str], settings: Settings) -> Iterator[str]:
    today = time.strftime("%Y-%m-%d", time.gmtime())
    yield f"Measured on {today}: {this_machine()}; medians of {settings.rounds} rounds."
    for name in names:
        yield ""
        yield from _set_lines(SETS[name], settings)


def _set_lines(package_set: PackageSet, settings: Settings) -> Iterator[str]:
    with open_room(package_set, settings) as room:
        done: list[Push] = []
        for number in range(settings.rounds or 1):
            settings.say(f"{package_set.name}: round {number + 1}")
            done += room.round()
    yield f"### {package_set.name}: {package_set.title}: an image of {room.size / 1e6:.0f} MB"
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
