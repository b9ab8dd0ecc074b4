"""Running other programs: the only door to processes."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO, Protocol

from reprobridge.errors import ReproBridgeError
from reprobridge.frozen import frozen, replace


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
    """Bytes or an open file for standard input; closed when None."""
    timeout: float | None = None
    """Seconds after which the whole process group is killed."""
    pass_fds: tuple[int, ...] = ()
    """File descriptors that stay open in the child."""
    on_stdout: Callable[[bytes], object] | None = None
    """Takes standard output in pieces as it arrives, instead of keeping it; needs `on_stderr` too."""
    on_stderr: Callable[[bytes], object] | None = None
    """Takes standard error likewise; standard input can't be bytes then."""


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
        """One readable line on why it failed: the last line of its errors, or its exit status."""
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
        """Run to the end and keep the output. Raises ProgramNotFound."""


class RealProcesses:
    """Runs programs of this machine, each in a process group of its own."""

    def run(self, command: Command) -> Completed:
        """Run to the end; a time-out or an interrupt ends the whole process group."""
        try:
            process = subprocess.Popen(
                command.argv,
                cwd=command.cwd,
                env=None if command.environment is None else dict(command.environment),
                stdin=subprocess.PIPE
                if isinstance(command.stdin, bytes)
                else (command.stdin or subprocess.DEVNULL),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=command.pass_fds,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise ProgramNotFound(
                f"cannot start {command.argv[0]}",
                expected="a program on this machine",
                found=str(error),
                hint=f"install {Path(command.argv[0]).name} or put its folder on PATH",
            ) from error
        return _finish(process, command)


def _finish(process: "subprocess.Popen[bytes]", command: Command) -> Completed:
    data = command.stdin if isinstance(command.stdin, bytes) else None
    timed_out = False
    try:
        stdout, stderr = _output(process, command, data)
    except subprocess.TimeoutExpired:
        timed_out = True
        _kill_group(process.pid)
        stdout, stderr = _output(process, replace(command, timeout=None), None)
    except BaseException:
        _kill_group(process.pid)
        process.wait()
        raise
    return Completed(
        argv=command.argv,
        returncode=process.returncode,
        stdout=stdout,
        stderr=stderr,
        timed_out=timed_out,
    )


def _output(process: "subprocess.Popen[bytes]", command: Command, data: bytes | None) -> tuple[bytes, bytes]:
    """Both streams to their ends: kept, or nothing where sinks took them as they came."""
    if command.on_stdout is None or command.on_stderr is None:
        return process.communicate(data, timeout=command.timeout)
    deadline = None if command.timeout is None else time.monotonic() + command.timeout
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, command.on_stdout)  # type: ignore[arg-type]
        selector.register(process.stderr, selectors.EVENT_READ, command.on_stderr)  # type: ignore[arg-type]
        while selector.get_map():
            for key, _ in selector.select(_left(deadline, command)):
                if block := os.read(key.fd, 1 << 16):
                    key.data(block)
                else:
                    selector.unregister(key.fileobj)
    process.wait(_left(deadline, command))
    return process.communicate()


def _left(deadline: float | None, command: Command) -> float | None:
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise subprocess.TimeoutExpired(command.argv, command.timeout or 0)
    return left


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        return
