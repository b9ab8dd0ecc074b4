"""The command `reprobridge` in a process of its own, as a user runs it."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The repository."""


def reprobridge(
    *words: str | Path,
    store: Path,
    environment: Mapping[str, str] | None = None,
    umask: int = 0o022,
    wrapper: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    """Run the command with a store of its own; `environment` is added to ours, `wrapper` runs it."""
    argv = [*wrapper, sys.executable, "-m", "reprobridge", *map(str, words), "--store", str(store)]
    return subprocess.run(
        argv,
        capture_output=True,
        text=True,
        check=False,
        umask=umask,
        env={**os.environ, **(environment or {})},
    )


def succeed(done: subprocess.CompletedProcess[str]) -> str:
    """Standard output of a command that must have succeeded."""
    assert done.returncode == 0, done.stderr
    return done.stdout


def digest_of(done: subprocess.CompletedProcess[str]) -> str:
    """The digest that `reprobridge build` printed."""
    return succeed(done).strip().rpartition("@")[2]
