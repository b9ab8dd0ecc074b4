"""`python -m benchmarks`: build the same papers with ReproBridge, umoci and docker in turns, and print the table.

Needs umoci, docker with dockerd and root, docker-registry, and network or a folder of wheels. Builders that
this machine lacks are left out by naming the others with --builders.
"""

import argparse
import contextlib
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.cases import SETS
from benchmarks.engine import Engine, own_engine
from benchmarks.figures import Series
from benchmarks.machine import this_machine
from benchmarks.measure import CommandFailedError
from benchmarks.page import write_page
from benchmarks.report import Report, StartUp
from benchmarks.rig import BUILDERS, Settings, prepare, run_set
from benchmarks.start_up import starts, starts_inside
from benchmarks.versions import client_with_buildkit, find_uv, require, versions


def main() -> int:
    """Measure and report; gives the exit status."""
    chosen = _parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that engine and folders are cleaned up
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir=chosen.work) as work:
        settings = Settings(
            work=Path(work),
            cache=chosen.cache,
            given=chosen.wheels,
            rounds=chosen.rounds,
            builders=chosen.builders,
            uv=find_uv(),
            say=lambda text: print(text, file=sys.stderr, flush=True),
        )
        try:
            require(chosen.builders)
            report = _measure(chosen.sets, settings)
        except CommandFailedError as error:
            print(f"benchmarks: {error}", file=sys.stderr)
            return 1
    print(report.tables(), end="")
    if chosen.write:
        write_page(chosen.write, report.tables())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--sets", nargs="+", choices=SETS, default=["S", "M"], help="default: S M; L takes 20 GB"
    )
    parser.add_argument("--rounds", type=int, help="default: what each set says")
    parser.add_argument("--builders", nargs="+", choices=BUILDERS, default=list(BUILDERS))
    parser.add_argument("--wheels", type=Path, help="a folder of wheels, instead of the user's index")
    cache = Path.home() / ".cache" / "reprobridge-benchmarks"
    parser.add_argument("--cache", type=Path, default=cache, help="where wheels are kept for the next time")
    parser.add_argument("--work", type=Path, help="where to build: on a disk (default: the temporary folder)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables into this page")
    return parser


def _measure(names: list[str], settings: Settings) -> Report:
    with contextlib.ExitStack() as stack:
        engine: Engine | None = None
        if "docker" in settings.builders:
            engine = stack.enter_context(own_engine(client_with_buildkit()))
        series: list[Series] = []
        for name in names:
            prepared = prepare(SETS[name], settings)
            series.append(run_set(SETS[name], prepared, settings, engine))
            archive, environment = prepared.archive, prepared.environment
            if name != names[-1]:
                shutil.rmtree(prepared.folder)
        bare, helped = starts(environment)
        inside = starts_inside(engine, archive) if engine else (None, None, None)
        return Report(
            date=time.strftime("%Y-%m-%d", time.gmtime()),
            machine=this_machine(),
            programs=versions(settings.builders),
            series=series,
            start_up=StartUp(
                python=bare, help=helped, image_python=inside[0], task=inside[1], launched=inside[2]
            ),
        )


if __name__ == "__main__":
    raise SystemExit(main())
