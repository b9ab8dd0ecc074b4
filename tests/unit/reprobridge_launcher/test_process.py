"""One command, supervised to the end of its process group."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from reprobridge_launcher import process

BUILDER = Path(process.__file__).parent.parent

PROGRAM = """\
import sys; sys.path.insert(0, {builder!r})
from reprobridge_launcher import process
process.GRACE, process.LINGER = {grace}, {linger}
interrupts = process.Interrupts()
interrupts.install()
command = process.Command(
    argv=tuple(sys.argv[3:]), cwd={folder!r}, environment=(("PATH", "/usr/bin:/bin"),),
    timeout=float(sys.argv[2]) or None, stdout={folder!r} + "/stdout.log", stderr={folder!r} + "/stderr.log",
)
ended = process.run(command, interrupts, (1, 2))
open({folder!r} + "/ended", "w").write(repr(ended))
"""
"""The supervisor takes over signals and children, so that it gets a process of its own."""
NEVER = 1000.0
"""Seconds that no test waits for: what waits so long fails."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long the supervisor waits, in seconds, so that a test is decided by what happens and not by when."""

    timeout: float = 0
    """For the command; 0: for ever."""
    grace: float = process.GRACE
    """For a group that was asked to end."""
    linger: float = process.LINGER
    """For what a command left behind."""


class Supervised:
    """A supervisor at work in a process of its own."""

    def __init__(
        self, folder: Path, *argv: str, patience: Patience | None = None, limit: int | None = None
    ) -> None:
        patience = patience or Patience()
        program = PROGRAM.format(
            builder=str(BUILDER), folder=str(folder), grace=patience.grace, linger=patience.linger
        )
        command = [sys.executable, "-I", "-S", "-c", program, "-", str(patience.timeout), *argv]
        self.folder = folder
        if limit is not None:
            command = ["prlimit", f"--fsize={limit}", *command]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def end(self) -> process.Ended:
        """Wait for the supervisor and read what it says."""
        self.out, self.err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, self.err.decode()
        ended: process.Ended = eval((self.folder / "ended").read_text(), {"Ended": process.Ended})
        return ended

    def wait_for_output(self, text: str) -> None:
        """Wait until the command has written something to its log."""
        wait_until(lambda: (self.folder / "stdout.log").exists() and text in self.log())

    def log(self, name: str = "stdout.log") -> str:
        return (self.folder / name).read_bytes().decode(errors="backslashreplace")


def wait_until(condition: object) -> None:
    assert callable(condition)
    for _ in range(3000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("it never happened")


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


def shell(folder: Path, script: str, **patience: float) -> Supervised:
    return Supervised(folder, "sh", "-c", script, patience=Patience(**patience))


def test_streams_go_to_terminal_and_logs_byte_for_byte(tmp_path: Path) -> None:
    run = shell(tmp_path, r"printf 'a\377\000b\n'; printf 'e\376' >&2; exit 3")
    ended = run.end()
    assert (ended.exit_code, ended.signal, ended.problem) == (3, None, None)
    assert run.out == (tmp_path / "stdout.log").read_bytes() == b"a\xff\x00b\n"
    assert run.err == (tmp_path / "stderr.log").read_bytes() == b"e\xfe"


def test_streams_are_live(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    run = shell(tmp_path, "echo first; read line < go; echo second")
    assert run.process.stdout is not None
    assert os.read(run.process.stdout.fileno(), 6) == b"first\n"
    (tmp_path / "go").write_text("\n")
    run.end()
    assert run.log() == "first\nsecond\n"


def test_the_command_gets_no_input_no_terminal_and_default_signals(tmp_path: Path) -> None:
    program = "import signal, sys; print(sys.stdin.read(), signal.getsignal(signal.SIGINT))"
    run = Supervised(tmp_path, sys.executable, "-c", program)
    assert run.end().exit_code == 0
    assert "default_int_handler" in run.log()


def test_no_signal_is_ignored_or_blocked_at_the_start(tmp_path: Path) -> None:
    run = Supervised(tmp_path, "grep", "-E", "Sig(Ign|Blk):", "/proc/self/status")
    run.end()
    ordinary = (1 << 31) - 1  # signals 1 to 31; 32 and 33 are the C library's own
    masks = [int(line.split()[1], 16) & ordinary for line in run.log().splitlines()]
    assert masks == [0, 0]


def test_a_command_that_is_missing_or_broken_is_told_not_raised(tmp_path: Path) -> None:
    assert "no such program on PATH=/usr/bin:/bin" in str(
        Supervised(tmp_path, "nonexistent-program").end().problem
    )
    script = tmp_path / "script"
    script.write_text("#!/nonexistent\n")
    script.chmod(0o755)
    assert "No such file" in str(Supervised(tmp_path, "./script").end().problem)


def test_a_time_limit_stops_the_whole_group(tmp_path: Path) -> None:
    for seconds in (0.5, 2, 8, 32):  # on a loaded machine a command has said nothing after a short while
        folder = tmp_path / str(seconds)
        folder.mkdir()
        run = shell(folder, "sleep 1000 & echo $! $$; wait", timeout=seconds)
        ended = run.end()
        if pids := run.log().split():
            break
    assert (ended.timed_out, ended.signal, len(pids)) == (True, signal.SIGTERM, 2)
    assert not any(is_running(int(pid)) for pid in pids)


@pytest.mark.parametrize("seconds", [25 * 86400.0, 1e300])
def test_a_time_limit_may_be_longer_than_the_kernel_waits_at_once(tmp_path: Path, seconds: float) -> None:
    assert shell(tmp_path, "exit 0", timeout=seconds).end().exit_code == 0


def test_what_ignores_the_friendly_signal_is_killed(tmp_path: Path) -> None:
    run = shell(tmp_path, "trap '' TERM; echo deaf; while :; do sleep 0.05; done", grace=0.1)
    run.wait_for_output("deaf")
    run.process.terminate()
    ended = run.end()
    assert (ended.interrupted, ended.signal) == (signal.SIGTERM, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_the_launcher_stops_the_whole_group(tmp_path: Path, number: int) -> None:
    # What runs in the background of a shell ignores SIGINT, and is killed after the grace.
    run = shell(tmp_path, "sleep 1000 & echo $! ready; wait", grace=0.2)
    run.wait_for_output("ready")
    run.process.send_signal(number)
    ended = run.end()
    assert ended.interrupted == number
    assert not is_running(int(run.log().split()[0]))


def test_a_second_signal_kills_at_once(tmp_path: Path) -> None:
    script = "trap 'echo heard' TERM; echo ready; while :; do sleep 0.05; done"
    run = shell(tmp_path, script, grace=NEVER)
    run.wait_for_output("ready")
    run.process.terminate()
    run.wait_for_output("heard")
    run.process.terminate()
    ended = run.end()
    assert (ended.interrupted, ended.signal) == (signal.SIGTERM, signal.SIGKILL)


def test_background_processes_are_stopped_after_the_end_and_told(tmp_path: Path) -> None:
    run = shell(tmp_path, "(trap '' HUP; exec sleep 1000) & echo $!")
    ended = run.end()
    assert (ended.exit_code, ended.left_behind) == (0, True)
    assert not is_running(int(run.log()))


def test_a_short_background_process_may_finish_its_line(tmp_path: Path) -> None:
    run = shell(tmp_path, "(while kill -0 $$; do :; done; echo late) 2>/dev/null &", linger=NEVER)
    ended = run.end()
    assert (run.log(), ended.left_behind) == ("late\n", False)


def test_a_daemon_that_left_the_group_does_not_hold_the_launcher(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "left")
    run = shell(tmp_path, "setsid sh -c 'echo $$; echo >left; exec sleep 1000' & read line <left")
    assert run.end().exit_code == 0
    os.kill(int(run.log()), signal.SIGKILL)


def test_a_command_that_closes_its_streams_is_waited_for(tmp_path: Path) -> None:
    assert shell(tmp_path, "exec >&- 2>&-; sleep 0.3; exit 4").end().exit_code == 4


def test_a_flood_of_output_is_kept_whole_in_bounded_memory(tmp_path: Path) -> None:
    run = shell(tmp_path, "head -c 50000000 /dev/zero")
    assert run.process.stdout is not None
    shown = peak = 0
    while data := os.read(run.process.stdout.fileno(), 1 << 20):
        shown += len(data)
        status = Path(f"/proc/{run.process.pid}/status").read_text()
        peak = max(
            peak, *[int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")] or [0]
        )
    run.end()
    assert shown == (tmp_path / "stdout.log").stat().st_size == 50_000_000
    assert 0 < peak < 60_000, "KiB"


def test_a_slow_terminal_slows_the_command_down_instead_of_filling_memory(tmp_path: Path) -> None:
    run = shell(tmp_path, "head -c 3000000 /dev/zero")
    assert run.process.stdout is not None
    shown = 0
    while data := os.read(run.process.stdout.fileno(), 1000):
        shown += len(data)
        assert (tmp_path / "stdout.log").stat().st_size - shown < 500_000
    run.end()
    assert shown == 3_000_000


def test_a_stuck_terminal_does_not_keep_the_launcher_from_stopping(tmp_path: Path) -> None:
    run = shell(tmp_path, "head -c 3000000 /dev/zero")
    wait_until(
        lambda: (tmp_path / "stdout.log").exists() and (tmp_path / "stdout.log").stat().st_size > 65536
    )
    run.process.terminate()
    wait_until((tmp_path / "ended").exists)
    assert run.end().interrupted == signal.SIGTERM


def test_a_terminal_that_went_away_leaves_the_log_whole(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    run = shell(tmp_path, "read line < go; head -c 300000 /dev/zero")
    assert run.process.stdout is not None
    run.process.stdout.close()
    (tmp_path / "go").write_text("\n")
    assert run.process.stderr is not None
    with run.process.stderr:
        run.process.wait(60)
    assert (tmp_path / "stdout.log").stat().st_size == 300_000


def test_a_full_disk_is_told_and_ends_the_command(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk: writing fails just so."""
    run = Supervised(tmp_path, "sh", "-c", "head -c 200000 /dev/zero; sleep 1000", limit=100_000)
    ended = run.end()
    assert "can't write the log: File too large" in str(ended.problem)
    assert ended.signal == signal.SIGKILL
