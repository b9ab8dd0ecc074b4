"""What both benchmarks take on the command line, and what they make of it."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.cases import SETS
from benchmarks.rig import Settings
from benchmarks.versions import find_uv


def common_parser(program: str, description: str | None, sets: Sequence[str]) -> argparse.ArgumentParser:
    """A parser for sets, rounds, folders and the page; `sets` are taken by default."""
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument(
        "--sets", nargs="+", choices=SETS, default=sets, help=f"default: {' '.join(sets)}; L takes 20 GB"
    )
    parser.add_argument("--rounds", type=int, help="default: what each set says")
    parser.add_argument("--wheels", type=Path, help="a folder of wheels, instead of the user's index")
    cache = Path.home() / ".cache" / "reprobridge-benchmarks"
    parser.add_argument("--cache", type=Path, default=cache, help="where wheels are kept for the next time")
    parser.add_argument("--work", type=Path, help="where to build: on a disk (default: the temporary folder)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="put the tables into this page")
    return parser


def settings_of(chosen: argparse.Namespace, work: Path, builders: Sequence[str]) -> Settings:
    """What was chosen, for everything that is made below `work`."""
    return Settings(
        work=work,
        cache=chosen.cache,
        given=chosen.wheels,
        rounds=chosen.rounds,
        builders=builders,
        uv=find_uv(),
        say=lambda text: print(text, file=sys.stderr, flush=True),
    )
