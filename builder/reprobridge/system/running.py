"""Running a program to its end, in a process group of its own: what is behind the door to processes.

Apart from `processes.py`, since a command that runs no program should not import `subprocess`.

Python raises an interrupt in the main thread only, which may be waiting for others that run programs. So the first
interrupt ends all programs, and with each the thread that runs it, which starts none any more but to clean up.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from reprobridge.frozen import replace
from reprobridge.system.interrupts import ThreadInterrupted, at_interrupt
from reprobridge.system.processes import Command, Completed, ProgramNotFound


class _Running:
    """The process groups that run now, and whether an interrupt has ended them."""

    def __init__(self) -> None:
        self.groups: set[int] = set()
        self.interrupted = False

    def end_all(self) -> None:
        """Kill all of them; may be called at any moment of the main thread."""
        self.interrupted = True
        for group in tuple(self.groups):
            with contextlib.suppress(OSError):  # the interrupt itself is raised behind this
                _kill_group(group)

    def add(self, group: int, *, anyway: bool) -> None:
        """Enter a group that has just begun; `end_all` may have been called meanwhile, and it is ended unless `anyway`."""
        self.groups.add(group)
        if self.interrupted and not anyway:
            _kill_group(group)


_running = _Running()
at_interrupt(_running.end_all)


def run_to_end(command: Command) -> Completed:
    """Run and keep the output; a time-out or an interrupt ends the whole process group.

    After an interrupt, which the main thread raises, any other thread ends here (ThreadInterrupted).
    """
    cleans_up = sys.exc_info()[0] is not None
    if not cleans_up:
        _leave_if_interrupted()
    with _readable(command.stdin) as stdin:
        process = _start(command, stdin)
    _running.add(process.pid, anyway=cleans_up)
    try:
        completed = _finish(process, command)
    finally:
        _running.groups.discard(process.pid)
    if not cleans_up:
        _leave_if_interrupted()
    return completed


def _leave_if_interrupted() -> None:
    if _running.interrupted and threading.current_thread() is not threading.main_thread():
        raise ThreadInterrupted


@contextlib.contextmanager
def _readable(given: bytes | BinaryIO | None) -> Iterator[BinaryIO | int]:
    """What a process can read: a file. Bytes lie in one that has no name, so that nobody has to feed them."""
    if not isinstance(given, bytes):
        yield given or subprocess.DEVNULL
        return
    with os.fdopen(os.memfd_create("stdin"), "w+b") as stream:
        stream.write(given)
        stream.seek(0)
        yield stream


def _start(command: Command, stdin: BinaryIO | int) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            command.argv,
            cwd=command.cwd,
            env=None if command.environment is None else dict(command.environment),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=command.pass_fds,
            start_new_session=True,
        )
    except OSError as error:
        name = Path(command.argv[0]).name
        missing = isinstance(error, FileNotFoundError)
        raise ProgramNotFound(
            f"cannot start {command.argv[0]}",
            expected="a program on this machine",
            found=str(error),
            hint=f"install {name} or put its folder on PATH"
            if missing
            else f"does `{name}` start in a shell?",
        ) from error


def _finish(process: "subprocess.Popen[bytes]", command: Command) -> Completed:
    timed_out = False
    try:
        stdout, stderr = _output(process, command)
    except subprocess.TimeoutExpired:
        timed_out = True
        _kill_group(process.pid)
        stdout, stderr = _output(process, replace(command, timeout=None))
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


def _output(process: "subprocess.Popen[bytes]", command: Command) -> tuple[bytes, bytes]:
    """Both streams to their ends: kept, or nothing where sinks took them as they came."""
    if command.on_stdout is None or command.on_stderr is None:
        return process.communicate(timeout=command.timeout)
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
