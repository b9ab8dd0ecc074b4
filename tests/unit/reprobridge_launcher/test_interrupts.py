"""Signals to the launcher in the middle of a run: everything stops, and the evidence says so."""

import os
import signal
import time
from pathlib import Path

import pytest

from support.launcher_artifact import Artifact, artifact, manifest, task

FORKING = """\
import os, subprocess, time
children = [subprocess.Popen(["sleep", "1000"]) for _ in range(3)]
print("children", *[child.pid for child in children], os.getpid(), flush=True)
time.sleep(1000)
"""


def wait_for_children(made: Artifact) -> list[int]:
    """Process ids that the forking task has printed to its log."""
    for _ in range(3000):
        for path in made.out.glob("lda/*/stdout.log"):
            if path.read_text().endswith("\n"):
                return [int(word) for word in path.read_text().split()[1:]]
        time.sleep(0.01)
    pytest.fail("the task never started")


def wait_for_end_of_command(made: Artifact) -> None:
    """Wait until a task that prints its own process id has been reaped."""
    for _ in range(3000):
        words = "".join(path.read_text() for path in made.out.glob("lda/*/stdout.log")).split()
        if words and not Path(f"/proc/{words[1]}").exists():
            return
        time.sleep(0.01)
    pytest.fail("the task never ended")


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_every_process_and_leaves_evidence(tmp_path: Path, number: int) -> None:
    made = Artifact(tmp_path).write(files={"run.py": FORKING})
    process = made.start("run", "lda")
    pids = wait_for_children(made)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == 5
    assert len(pids) == 4
    assert not any(is_running(pid) for pid in pids)
    record = made.evidence()
    assert (record["state"], record["value"]) == ("interrupted", None)
    assert record["parts"][0]["interrupted"] == number
    assert record["failure"]["class"] == "infrastructure"
    assert {f["path"] for f in record["files"]} == {"stdout.log", "stderr.log"}


def test_a_killed_launcher_leaves_a_record_that_says_so(tmp_path: Path) -> None:
    made = Artifact(tmp_path).write(files={"run.py": FORKING})
    process = made.start("run", "lda")
    pids = wait_for_children(made)
    process.kill()
    process.communicate(timeout=60)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    record = made.evidence()
    assert (record["state"], record["end"], record["value"], record["parts"]) == (
        "running",
        None,
        None,
        [],
    )


def test_a_run_outlives_the_terminal_where_hang_ups_are_ignored(tmp_path: Path) -> None:
    go = tmp_path / "go"
    waiting = f"""\
import os, time
print("children", os.getpid(), flush=True)
while not os.path.exists({str(go)!r}):
    time.sleep(0.01)
print("accuracy: 98.5")
"""
    made = Artifact(tmp_path).write(files={"run.py": waiting})
    usual = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        process = made.start("run", "lda")
    finally:
        signal.signal(signal.SIGHUP, usual)
    wait_for_children(made)
    process.send_signal(signal.SIGHUP)
    go.touch()
    process.communicate(timeout=60)
    assert (process.returncode, made.evidence()["value"]) == (0, 98.5)


def test_three_signals_at_once_leave_no_process_behind(tmp_path: Path) -> None:
    made = Artifact(tmp_path).write(files={"run.py": FORKING})
    process = made.start("run", "lda")
    pids = wait_for_children(made)
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCONT):
        process.send_signal(number)
    process.communicate(timeout=60)
    for _ in range(500):
        left = [pid for pid in pids if is_running(pid)]
        if not left:
            break
        time.sleep(0.01)
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert (process.returncode, left) == (5, [])


def test_whoever_insists_ends_an_extraction_that_takes_for_ever(tmp_path: Path) -> None:
    code = "import os\nprint('children', os.getpid(), 'a' * 60)\nprint()"
    for_ever = {"kind": "regex", "file": "stdout", "regex": "(?P<value>(?:a|a)+)b"}
    made = artifact(tmp_path, code, extract=for_ever)
    process = made.start("run", "lda")
    wait_for_end_of_command(made)
    for _ in range(600):  # more than three times, since two at once are one
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
        if process.poll() is not None:
            break
    else:
        process.kill()
    process.communicate()
    assert (process.returncode, made.evidence()["state"]) == (5, "running")


def test_nothing_more_is_started_after_a_signal(tmp_path: Path) -> None:
    document = manifest(task(), task(id="next"))
    made = Artifact(tmp_path).write(document, {"run.py": FORKING})
    process = made.start("run", "--all")
    wait_for_children(made)
    process.terminate()
    process.communicate(timeout=60)
    assert not (made.out / "next").exists()
