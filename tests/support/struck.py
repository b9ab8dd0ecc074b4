"""The command `reprobridge`, hit by a signal in the midst of its work.

    ended = struck("build", artifact, store=store, strike=Strike(signal=SIGKILL, names=20))
    ended = cut_off("build", artifact, store=store, size=1 << 20)

When, is decided by the work and not by a clock: each finished file gets its name by a link or a rename, and Python
tells a hook of each (PEP 578), in the command and in its workers. In the midst of a file, the system itself kills
who writes more than it lets a file grow to.
"""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_PROGRAM = """\
import os, runpy, sys

number, left, who, below, *words = sys.argv[1:]
main, left = os.getpid(), int(left)

def counts(name):
    return (who == "any" or os.getpid() != main) and (not below or os.fspath(name).startswith(below + "/"))

def strike(event, arguments):
    global left
    if event in ("os.link", "os.rename") and counts(arguments[1]):
        left -= 1
        if left == 0:
            os.kill(main, int(number))

sys.addaudithook(strike)
sys.argv[1:] = words
runpy.run_module("reprobridge", run_name="__main__", alter_sys=True)
"""

_GROWING = """\
import resource, runpy, signal, sys

size, *words = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(size), int(size)))
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which Python ignores
sys.argv[1:] = words
runpy.run_module("reprobridge", run_name="__main__", alter_sys=True)
"""


@dataclass(frozen=True, kw_only=True)
class Strike:
    """A signal, and when it comes."""

    signal: int
    names: int
    """It comes right before one of the command's processes gives so many finished files their names."""
    by_worker: bool = False
    """Only what workers do counts."""
    below: Path | None = None
    """Only names below this folder count."""


def struck(*words: str | Path, store: Path, strike: Strike) -> "subprocess.CompletedProcess[str]":
    """Run the command until it and all its workers have ended."""
    who = "worker" if strike.by_worker else "any"
    where = strike.below or ""
    argv = [_PROGRAM, str(int(strike.signal)), str(strike.names), who, str(where), *map(str, words)]
    return _run(argv, store)


def cut_off(*words: str | Path, store: Path, size: int) -> "subprocess.CompletedProcess[str]":
    """Run the command until it has written the first `size` bytes of a longer file: SIGXFSZ kills it as SIGKILL does."""
    return _run([_GROWING, str(size), *map(str, words)], store)


def _run(program: list[str], store: Path) -> "subprocess.CompletedProcess[str]":
    argv = [sys.executable, "-c", *program, "--store", str(store)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)
