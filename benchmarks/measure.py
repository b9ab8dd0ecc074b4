"""Running a command and saying what it cost, daemons that worked for it included."""

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.process_tree import anonymous_memory, tree, usage_of

INTERVAL = 0.03
"""Seconds between two looks at memory: a look takes about a millisecond of one core."""
_BLOCK = 512


class CommandFailedError(Exception):
    """A command that is measured, or that prepares one, did not end well."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What a command cost."""

    wall: float
    """Seconds from start to end."""
    cpu: float
    """Seconds of CPU: the command, its children, and the daemons' trees meanwhile."""
    memory: int
    """Most bytes of memory without file-backed pages at one time, daemons included."""
    written: int
    """Bytes written to disk by the command, its children and the daemons."""

    def __add__(self, later: "Cost") -> "Cost":
        """The cost of two commands, one after the other."""
        return Cost(
            wall=self.wall + later.wall,
            cpu=self.cpu + later.cpu,
            memory=max(self.memory, later.memory),
            written=self.written + later.written,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Invocation:
    """A command to run."""

    argv: Sequence[str]
    """Program and arguments."""
    environment: Mapping[str, str]
    """The whole environment."""
    cwd: Path | None = None
    """Working directory."""
    daemons: tuple[int, ...] = ()
    """Processes that work for it elsewhere; their trees are counted too."""


def run(invocation: Invocation) -> str:
    """Run without measuring; gives standard output. Raises CommandFailedError."""
    done = subprocess.run(
        invocation.argv,
        env=dict(invocation.environment),
        cwd=invocation.cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise _failed(invocation, done.returncode, done.stdout + done.stderr)
    return done.stdout


def measure(invocation: Invocation) -> tuple[Cost, str]:
    """Run and measure; gives the cost and standard output. Raises CommandFailedError."""
    daemons = [pid for root in invocation.daemons for pid in tree(root)]
    before = usage_of(daemons)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            invocation.argv,
            env=dict(invocation.environment),
            cwd=invocation.cwd,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
        )
        watch = _Watch((process.pid, *invocation.daemons))
        _, status, own = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        memory = watch.end()
        out.seek(0)
        errors.seek(0)
        text = out.read().decode(errors="replace")
        if process.returncode:
            raise _failed(invocation, process.returncode, text + errors.read().decode(errors="replace"))
    after = usage_of([pid for root in invocation.daemons for pid in tree(root)])
    return (
        Cost(
            wall=wall,
            cpu=own.ru_utime + own.ru_stime + after.cpu - before.cpu,
            memory=memory,
            written=own.ru_oublock * _BLOCK + after.written - before.written,
        ),
        text,
    )


class _Watch:
    """Looks at the memory of process trees until it is told to end."""

    def __init__(self, roots: Sequence[int]) -> None:
        self._roots = roots
        self._most = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.is_set():
            pids = [pid for root in self._roots for pid in tree(root)]
            self._most = max(self._most, anonymous_memory(pids))
            self._over.wait(INTERVAL)

    def end(self) -> int:
        self._over.set()
        self._thread.join()
        return self._most


def _failed(invocation: Invocation, status: int, output: str) -> CommandFailedError:
    tail = "\n".join(output.strip().splitlines()[-15:])
    return CommandFailedError(f"{' '.join(invocation.argv)}: exit status {status}\n{tail}")
