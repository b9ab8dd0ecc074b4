"""Running other programs: the only door to processes."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, Protocol

from reprobridge.errors import ReproBridgeError
from reprobridge.frozen import frozen


@frozen(kw_only=True)
class Command:
    """What to run and in which surroundings."""

    argv: tuple[str, ...]
    """Program and arguments; never a shell's line."""
    cwd: Path | None = None
    """Working directory; ours when None."""
    environment: Mapping[str, str] | None = None
    """The whole environment; ours when None."""
    stdin: bytes | BinaryIO | None = None
    """Bytes or an open file for standard input; /dev/null when None, whatever our own is."""
    timeout: float | None = None
    """Seconds after which the whole process group is killed."""
    pass_fds: tuple[int, ...] = ()
    """File descriptors that stay open in the child."""
    on_stdout: Callable[[bytes], object] | None = None
    """Takes standard output in pieces as it arrives, instead of keeping it; needs `on_stderr` too."""
    on_stderr: Callable[[bytes], object] | None = None
    """Takes standard error likewise."""


@frozen(kw_only=True)
class Completed:
    """How a command ended."""

    argv: tuple[str, ...]
    """What ran."""
    returncode: int
    """Exit status; negative: the signal that ended it."""
    stdout: bytes
    """All of its standard output."""
    stderr: bytes
    """All of its standard error."""
    timed_out: bool = False
    """True when it was killed for its time."""

    @property
    def failure(self) -> str:
        """One readable line: that it was killed for its time, the last line of its errors, or its exit status."""
        if self.timed_out:
            return "no answer in time"
        lines = self.stderr.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit status {self.returncode}"


def cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0))


class ProgramNotFound(ReproBridgeError):
    """The program to run is not on this machine."""

    exit_code = 8


class Processes(Protocol):
    """The door to processes."""

    def run(self, command: Command) -> Completed:
        """Run to the end and keep the output. Raises ProgramNotFound, and after an interrupt ThreadInterrupted in a thread."""


class RealProcesses:
    """Runs programs of this machine, each in a process group of its own."""

    def run(self, command: Command) -> Completed:
        """Run to the end; a time-out or an interrupt ends the whole process group."""
        from reprobridge.system.running import run_to_end

        return run_to_end(command)
