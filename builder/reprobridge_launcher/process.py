"""One command, supervised: its own process group, its streams live to terminal and log, and a sure end.

The command runs in a new session, so that the whole process group can be stopped and a Ctrl-C reaches the
launcher alone, which passes it on.  Both streams go through pipes; at most 128 KiB of each are held for a slow
terminal, then the command waits.  The end is the end of the whole group: what a command leaves behind in the
background gets a second to finish, then SIGTERM, then SIGKILL.  A command reads nothing: its standard input is
/dev/null, whatever the launcher's is, since a number must not depend on what somebody types or pipes.

`subprocess` would do less and costs 0.2 s to import without bytecode.
"""

import os
import select
import time

from reprobridge_launcher import cparts
from reprobridge_launcher.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Callable

GRACE = 5.0
"""Seconds from SIGTERM to SIGKILL; less than the 10 s after which `docker stop` kills the container."""
LINGER = 1.0
"""Seconds that background processes get after the command itself has ended."""
PIECE = 4096
"""Bytes that a ready pipe takes without blocking (PIPE_BUF)."""
LONGEST_WAIT = 86400.0
"""Seconds after which a wait begins anew: the kernel counts milliseconds and takes 24 days at most."""
HELD_PIECES = 32
"""Pieces of a stream that wait for the terminal before the command has to."""


class Command(Record):
    """What to run."""

    argv: "tuple[str, ...]"
    """Program and arguments; a program without a slash is looked up on the command's own PATH."""
    cwd: "str"
    """Folder to run in."""
    environment: "tuple[tuple[str, str], ...]"
    """All its variables."""
    timeout: "float | None"
    """Seconds until it's stopped; None for no limit."""
    stdout: "str"
    """Log file of its standard output."""
    stderr: "str"
    """Log file of its standard error."""


class Ended(Record):
    """How a command ended."""

    exit_code: "int | None" = None
    """Exit status; None where a signal ended it or it never started."""
    signal: "int | None" = None
    """Number of the signal that ended it."""
    timed_out: "bool" = False
    """Was it stopped since its time was over?"""
    interrupted: "int | None" = None
    """Number of the signal that reached the launcher and stopped it."""
    left_behind: "bool" = False
    """Were background processes stopped after its end?"""
    cpu_seconds: "float" = 0.0
    """User and system time of the command and the children that it waited for."""
    peak_memory: "int" = 0
    """Greatest resident set of one of its processes in bytes."""
    problem: "str | None" = None
    """Why it couldn't be started or recorded."""


class Interrupts:
    """Signals that ask the launcher to stop; from `install` on they're only noted, until somebody insists."""

    def __init__(self) -> None:
        self.number = 0
        """First signal that came; 0 for none."""
        self.count = 0
        """How many came."""
        self.wake = -1
        """Descriptor that becomes readable with each signal and with each child's end."""

    def install(self) -> None:
        """Note SIGTERM, SIGINT and SIGHUP from now on, and wake up by SIGCHLD; `nohup` ignores SIGHUP, and so do we."""
        module = cparts.signals()
        self.wake, write_end = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(write_end, False)
        module.set_wakeup_fd(write_end)
        for number in (module.SIGTERM, module.SIGINT, module.SIGHUP):
            if number != module.SIGHUP or module.getsignal(number) != module.SIG_IGN:
                module.signal(number, self._note)
        module.signal(module.SIGCHLD, lambda _number, _frame: None)

    def _note(self, number: int, _frame: object) -> None:
        """Note a signal; the first stops the command, the second kills it, the third ends the launcher's own work too."""
        self.number = self.number or number
        self.count += 1
        if self.count > 2:
            raise KeyboardInterrupt


def run(
    command: Command,
    interrupts: Interrupts,
    echo: "tuple[int, int]",
    meanwhile: "Callable[[], None] | None" = None,
) -> Ended:
    """Run a command to the end of its process group.

    `echo` are the descriptors that show its two streams; `meanwhile` is called once it runs, for work that can
    be done beside it.
    """
    program = find_program(command)
    if program is None:
        path = dict(command.environment).get("PATH", "")
        return Ended(problem="{}: no such program on PATH={}".format(command.argv[0], path))
    streams = [_Stream(command.stdout, echo[0]), _Stream(command.stderr, echo[1])]
    try:
        child, problem = _start(program, command, streams)
        if problem:
            os.waitpid(child, 0)
            return Ended(problem="{}: {}".format(program, problem))
        if meanwhile is not None:
            meanwhile()
        return _Supervisor(child, command.timeout, streams, interrupts).supervise()
    finally:
        for stream in streams:
            stream.close()


def find_program(command: Command) -> "str | None":
    """Path of the command's program, looked up on the command's own PATH."""
    name = command.argv[0]
    if "/" in name:
        return os.path.join(command.cwd, name)
    for folder in dict(command.environment).get("PATH", "").split(":"):
        path = os.path.join(folder, name)
        if folder and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _start(program: str, command: Command, streams: "list[_Stream]") -> "tuple[int, str]":
    """Fork and execute; returns the child and why the execution failed, empty where it didn't."""
    report, child_report = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _become(program, command, streams)
        except (OSError, ValueError) as error:
            os.write(
                child_report, (getattr(error, "strerror", None) or str(error)).encode("utf-8", "replace")
            )
        finally:
            os._exit(127)
    os.close(child_report)
    for stream in streams:
        os.close(stream.child_end)
    problem = os.read(report, 4096)  # ends with the execution, which closes the child's end
    os.close(report)
    return child, problem.decode("utf-8", "replace")


def _become(program: str, command: Command, streams: "list[_Stream]") -> None:
    module = cparts.signals()
    os.setsid()
    # Python ignores SIGPIPE and SIGXFSZ; the command gets the system's defaults back.
    for number in (
        module.SIGTERM,
        module.SIGINT,
        module.SIGHUP,
        module.SIGCHLD,
        module.SIGPIPE,
        module.SIGXFSZ,
    ):
        module.signal(number, module.SIG_DFL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(streams[0].child_end, 1)
    os.dup2(streams[1].child_end, 2)
    os.chdir(command.cwd)
    os.execve(program, list(command.argv), dict(command.environment))  # noqa: S606 - no shell is what we want


class _Stream:
    """One stream of the command on its way to log and terminal."""

    def __init__(self, log: str, echo: int) -> None:
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        self.source, self.child_end = os.pipe()
        self.echo = echo
        self.held = []  # type: list[bytes]

    def take(self) -> None:
        """Move what is there to the log, and hold it for the terminal; OSError when the log is full."""
        data = os.read(self.source, 1 << 16)
        if not data:
            os.close(self.source)
            self.source = -1
        if self.echo >= 0:
            self.held += [data[i : i + PIECE] for i in range(0, len(data), PIECE)]
        while data:
            data = data[os.write(self.log, data) :]

    def show(self) -> None:
        """Give the terminal one piece; a terminal that went away is given up."""
        try:
            written = os.write(self.echo, self.held[0])
            self.held[0:1] = [self.held[0][written:]] if written < len(self.held[0]) else []
        except OSError:
            self.echo, self.held = -1, []

    def close(self) -> None:
        """Close what is open."""
        if self.source >= 0:
            os.close(self.source)
        os.close(self.log)


class _Supervisor:
    """Watches one process group to its end."""

    def __init__(
        self, child: int, timeout: "float | None", streams: "list[_Stream]", interrupts: Interrupts
    ) -> None:
        self._group = child
        self._streams = streams
        self._interrupts = interrupts
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._status = None  # type: int | None
        self._ended_at = 0.0
        self._kill_at = None  # type: float | None
        self._facts = {}  # type: dict[str, object]

    def supervise(self) -> Ended:
        """Pass streams on and enforce limits until the group is gone."""
        try:
            while not self._over():
                self._wait(self._pause())
                self._reap()
                self._enforce(time.monotonic())
            while any(stream.held for stream in self._streams) and not self._interrupts.number:
                self._wait(0.25)
        except BaseException:  # somebody insists, or a fault of ours: nothing goes on without us
            self._signal(cparts.signals().SIGKILL)
            raise
        return Ended(**self._facts, **self._ending())  # type: ignore[arg-type]

    def _over(self) -> bool:
        if self._status is None or self._is_alive():
            return False
        open_streams = [stream for stream in self._streams if stream.source >= 0]
        return not open_streams or time.monotonic() > self._ended_at + LINGER

    def _is_alive(self) -> bool:
        """Has the group a member left that isn't just a zombie waiting for a careless process 1?"""
        return self._signal(0) and any(_is_member(process, self._group) for process in os.listdir("/proc"))

    def _signal(self, number: int) -> bool:
        try:
            os.killpg(self._group, number)
        except OSError:  # nobody is left, or nobody that we may reach
            return False
        return True

    def _pause(self) -> "float | None":
        """Seconds until something has to be decided, or less; None for until something happens."""
        if self._status is not None:
            return 0.02  # no event tells that a group is empty
        if self._kill_at is not None:
            return max(self._kill_at - time.monotonic(), 0.02)
        return (
            None if self._deadline is None else min(max(self._deadline - time.monotonic(), 0.0), LONGEST_WAIT)
        )

    def _wait(self, seconds: "float | None") -> None:
        """Wait for the streams, the terminal, a signal or the time, and do what is ready."""
        poll = select.poll()
        poll.register(self._interrupts.wake, select.POLLIN)
        for stream in self._streams:
            if stream.source >= 0 and (len(stream.held) < HELD_PIECES or self._status is not None):
                poll.register(stream.source, select.POLLIN)
            if stream.held:
                poll.register(stream.echo, select.POLLOUT)
        ready = dict(poll.poll(None if seconds is None else int(seconds * 1000) + 1))
        if self._interrupts.wake in ready:
            os.read(self._interrupts.wake, 4096)
        for stream in self._streams:
            if stream.source in ready:
                self._take(stream)
            if stream.held and stream.echo in ready:
                stream.show()

    def _take(self, stream: _Stream) -> None:
        try:
            stream.take()
        except OSError as error:
            self._facts["problem"] = "can't write the log: {}".format(error.strerror)
            self._stop(cparts.signals().SIGKILL)

    def _reap(self) -> None:
        """Collect ended children: the command, and as process 1 of a container any orphan."""
        while True:
            try:
                process, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            if process == self._group:
                self._status, self._ended_at = status, time.monotonic()
                self._facts["cpu_seconds"] = round(usage.ru_utime + usage.ru_stime, 3)
                self._facts["peak_memory"] = usage.ru_maxrss * 1024

    def _enforce(self, now: float) -> None:
        """Stop the group when asked to, when its time is over, or when only leftovers remain."""
        module = cparts.signals()
        if self._kill_at is not None:
            if now >= self._kill_at or self._interrupts.count > 1:
                self._signal(module.SIGKILL)
        elif self._interrupts.number:
            self._facts["interrupted"] = self._interrupts.number
            self._stop(self._interrupts.number)
        elif self._status is None and self._deadline is not None and now >= self._deadline:
            self._facts["timed_out"] = True
            self._stop(module.SIGTERM)
        elif self._status is not None and now > self._ended_at + LINGER and self._is_alive():
            self._facts["left_behind"] = True
            self._stop(module.SIGTERM)

    def _stop(self, number: int) -> None:
        self._signal(number)
        self._kill_at = time.monotonic() + GRACE

    def _ending(self) -> "dict[str, object]":
        status = self._status or 0
        if os.WIFSIGNALED(status):
            return {"signal": os.WTERMSIG(status)}
        return {"exit_code": os.WEXITSTATUS(status)}


def _is_member(process: str, group: int) -> bool:
    """Does a process belong to the group, and is it no zombie?"""
    if not process.isdigit():
        return False
    try:
        with open("/proc/{}/stat".format(process), "rb", 0) as stream:
            # Behind the name, which may hold anything: state, parent, group (proc(5)).
            state, _parent, its_group = stream.read(1024).rsplit(b")", 1)[1].split()[:3]
    except OSError:
        return False
    return int(its_group) == group and state not in b"ZX"
