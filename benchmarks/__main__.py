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
from dataclasses import replace
from pathlib import Path

from benchmarks.cases import SETS, Case
from benchmarks.engine import Engine, own_engine
from benchmarks.figures import Series
from benchmarks.machine import this_machine
from benchmarks.measure import CommandFailedError
from benchmarks.page import write_page
from benchmarks.report import Report, StartUp
from benchmarks.rig import BUILDERS, Settings, prepare, run_set
from benchmarks.start_up import starts, starts_inside
from benchmarks.versions import client_with_buildkit, require, versions
from benchmarks.words import common_parser, settings_of


def main() -> int:
    """Measure and report; gives the exit status."""
    chosen = _parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that engine and folders are cleaned up
    with tempfile.TemporaryDirectory(prefix="benchmark-", dir=chosen.work) as work:
        settings = replace(settings_of(chosen, Path(work), chosen.builders), last=chosen.until)
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
    parser = common_parser("python -m benchmarks", __doc__, ["S", "M"])
    parser.add_argument("--builders", nargs="+", choices=BUILDERS, default=list(BUILDERS))
    parser.add_argument(
        "--until",
        type=Case,
        choices=list(Case),
        default=Case.SECOND,
        help="the case after which a round ends",
    )
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
