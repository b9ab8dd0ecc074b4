"""Signals to the launcher in the middle of a run: everything stops, and the evidence says so."""

import os
import signal
import time
from pathlib import Path

import pytest

from support.launcher_artifact import Artifact, manifest, task

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


def test_nothing_more_is_started_after_a_signal(tmp_path: Path) -> None:
    document = manifest(task(), task(id="next"))
    made = Artifact(tmp_path).write(document, {"run.py": FORKING})
    process = made.start("run", "--all")
    wait_for_children(made)
    process.terminate()
    process.communicate(timeout=60)
    assert not (made.out / "next").exists()
