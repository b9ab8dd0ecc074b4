"""`reprobridge validate` and `reprobridge run` on images of the store and on layouts, in the real sandbox."""

import argparse
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from reprobridge.cli import run, validate
from reprobridge.cli.doors import Doors
from reprobridge.errors import SandboxError, UsageError, ValidateError
from reprobridge.oci.layout import write_layout
from reprobridge.validate.kept import kept_report
from reprobridge.validate.model import CheckId, Report
from reprobridge_launcher import evidence
from support.artifact_image import RUN, ArtifactImage, task
from support.bookkeeping_disk import BookkeepingDisk
from support.command import reprobridge
from support.small_disk import small_disk

IMAGE = "reprobridge/tiny:1.0.0"


@pytest.fixture(scope="module")
def doors(module_folder: Path) -> Doors:
    made = Doors(store_root=module_folder / "store", offline=True, quiet=True)
    parts = ArtifactImage().build(made.store)
    made.store.refer("reprobridge/tiny", "1.0.0", parts.manifest.digest)
    write_layout(made.store.root / "layout", parts)
    return made


def call(command: ModuleType, doors: Doors, *words: str) -> tuple[int, str]:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    doors.out = io.StringIO()
    status = command.execute(parser.parse_args(words), doors)
    return status, printed_by(doors)


def printed_by(doors: Doors) -> str:
    """Everything that the last call has printed."""
    assert isinstance(doors.out, io.StringIO)
    return doors.out.getvalue()


def test_validate_prints_the_report_and_keeps_it(doors: Doors) -> None:
    status, printed = call(validate, doors, IMAGE, "--json")
    report = Report.from_json(json.loads(printed))
    assert (status, report.passed) == (0, True)
    assert kept_report(doors.store, report.image) == report


def test_validate_of_a_layout_gives_a_table_with_every_check(doors: Doors) -> None:
    status, printed = call(validate, doors, f"oci:{doors.store.root}/layout", "--sandbox", "bubblewrap")
    assert status == 0
    assert all(check.value in printed for check in CheckId)
    assert "15 of 15 checks passed" in printed


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["table", "json"])
def test_each_check_is_told_to_people_once(options: tuple[str, ...], doors: Doors) -> None:
    done = reprobridge("validate", IMAGE, *options, "--offline", store=doors.store.root)
    told = done.stderr if options else done.stdout + done.stderr
    assert (
        done.returncode,
        [told.count(f"{check.value}\n") + told.count(f"{check.value} ") for check in CheckId],
    ) == (
        0,
        [1] * len(CheckId),
    )


def test_on_a_terminal_a_bar_counts_the_checks_and_vanishes(doors: Doors) -> None:
    ours, its = os.openpty()
    words = ["validate", IMAGE, "--offline", "--store", str(doors.store.root)]
    argv = [sys.executable, "-m", "reprobridge", *words]
    terminal = {**os.environ, "TERM": "xterm"}
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=its, env=terminal) as process:
        os.close(its)
        shown = b""
        with contextlib.suppress(OSError):  # EIO: the terminal is closed
            while block := os.read(ours, 1 << 16):
                shown += block
        table, _ = process.communicate()
    os.close(ours)
    assert process.returncode == 0
    assert CheckId.SMOKE.value.encode() in shown
    assert shown.endswith(b"\x1b[2K")  # the line is erased
    assert b"15 of 15 checks passed" in table


def test_what_is_named_must_exist(doors: Doors) -> None:
    with pytest.raises(UsageError, match=r"in the store: reprobridge/tiny:1\.0\.0"):
        call(validate, doors, "reprobridge/other:1")
    with pytest.raises(SandboxError, match="no sandbox named vm"):
        call(validate, doors, IMAGE, "--sandbox", "vm")
    with pytest.raises(UsageError, match="one of accuracy"):
        call(run, doors, IMAGE, "acuracy")


def test_all_evidence_of_a_run_is_on_the_disk_when_it_ends(
    doors: Doors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = BookkeepingDisk(monkeypatch)
    _, printed = call(run, doors, IMAGE, "accuracy", "--out", str(tmp_path / "out"), "--json")
    (result,) = json.loads(printed)["results"]
    everything = [tmp_path, *(tmp_path / "out").rglob("*")]
    assert [path for path in everything if not disk.holds(path)] == []
    assert Path(result["evidence"]) / "runner.json" in everything
    (kept,) = (doors.store.root / "results" / "scored").iterdir()
    assert disk.holds(kept)


def test_run_measures_and_leaves_two_records(doors: Doors, tmp_path: Path) -> None:
    status, printed = call(run, doors, IMAGE, "accuracy", "--out", str(tmp_path), "--json")
    (result,) = json.loads(printed)["results"]
    assert status == 0
    assert (result["value"], result["published"], result["witness"]) == (98.8764, 98.9, "runner")
    folder = Path(result["evidence"])
    assert folder.parent == tmp_path / "accuracy"
    inside, outside = (record(folder / name) for name in ("evidence.json", "runner.json"))
    assert (inside.witness, outside.witness) == ("launcher", "runner")
    assert outside.value == inside.value == 98.8764
    assert outside.deviations == ()
    assert inside.artifact.image is not None
    assert (folder / "stdout.log").read_text() == "accuracy: 98.8764\n"
    assert {file.path for file in outside.files} == {
        "stdout.log",
        "stderr.log",
        "runner-stdout.log",
        "runner-stderr.log",
    }


def record(path: Path) -> evidence.Evidence:
    return evidence.parse(json.loads(path.read_bytes()))


def test_run_as_text_names_value_and_published_value(doors: Doors, tmp_path: Path) -> None:
    status, printed = call(run, doors, IMAGE, "accuracy", "--out", str(tmp_path))
    assert status == 0
    assert "98.8764 percent" in printed
    assert "98.9% (Table 1)" in printed


def other(doors: Doors, **fields: Any) -> str:
    parts = ArtifactImage(**fields).build(doors.store)
    return f"{parts.name}@{parts.manifest.digest}"


def test_run_of_a_failing_task_gives_the_launchers_code(doors: Doors, tmp_path: Path) -> None:
    image = other(doors, tasks=[{**task(), "command": ["python", "run.py", "--fail"]}])
    status, printed = call(run, doors, image, "accuracy", "--out", str(tmp_path), "--json")
    (result,) = json.loads(printed)["results"]
    assert (status, result["value"], result["failure"]) == (5, None, "ended with exit status 3")


def test_run_on_a_machine_that_is_too_small_says_what_is_needed(doors: Doors, tmp_path: Path) -> None:
    needs = task()["resources"] | {"memory": 1 << 50}
    image = other(doors, tasks=[{**task(), "resources": needs}])
    status, printed = call(run, doors, image, "accuracy", "--out", str(tmp_path), "--json")
    (result,) = json.loads(printed)["results"]
    assert (status, result["value"]) == (4, None)
    assert "accuracy needs 1024.0 TiB" in result["failure"]
    assert "a larger machine" in result["failure"]


def test_run_takes_every_task_when_asked(doors: Doors, tmp_path: Path) -> None:
    image = other(doors, tasks=[task("one"), task("two")])
    status, printed = call(run, doors, image, "--all", "--out", str(tmp_path), "--json")
    assert (status, [result["task"] for result in json.loads(printed)["results"]]) == (0, ["one", "two"])
    for words in ([], ["one", "--all"]):
        with pytest.raises(UsageError, match="--all"):
            call(run, doors, image, *words)


def test_run_shows_the_report_once(doors: Doors, tmp_path: Path) -> None:
    words = ("run", IMAGE, "accuracy", "--out", tmp_path)
    done = reprobridge(*words, store=doors.store.root)
    assert "accuracy: accuracy 98.8764 percent" in done.stdout
    assert done.stderr == "accuracy: 98.8764\n"
    assert reprobridge(*words, "--quiet", store=doors.store.root).stderr == ""


def test_an_interrupted_run_leaves_a_record_that_says_so(doors: Doors, tmp_path: Path) -> None:
    image = other(doors, code={"run.py": "import time\nprint('begun', flush=True)\ntime.sleep(600)\n"})
    argv = [sys.executable, "-m", "reprobridge", "run", image, "accuracy", "--out", str(tmp_path)]
    argv += ["--store", str(doors.store.root)]
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"begun\n"
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
    assert (process.returncode, told) == (130, b"reprobridge: interrupted\n")
    (folder,) = (tmp_path / "accuracy").iterdir()
    left = record(folder / "runner.json")
    assert (left.state, left.witness, left.value) == ("interrupted", "runner", None)
    assert left.failure is not None
    assert left.failure.class_ == "infrastructure"
    assert (folder / "runner-stdout.log").read_bytes() == b"begun\n"


FORGER = (
    RUN
    + """
import glob, os
sys.stdout.flush()
(log,) = glob.glob("/out/accuracy/*/stdout.log")
while "98.8764" not in open(log).read():
    pass
with open(log + ".forged", "w") as stream:
    stream.write("accuracy: 99.9\\n")
os.replace(log + ".forged", log)
"""
)


def test_a_log_that_was_changed_inside_is_not_believed(doors: Doors, tmp_path: Path) -> None:
    image = other(doors, code={"run.py": FORGER})
    _, printed = call(run, doors, image, "accuracy", "--out", str(tmp_path), "--json")
    (result,) = json.loads(printed)["results"]
    assert "stdout.log is not what came out of the sandbox" in result["deviations"]
    assert result["compatible"] is None


def test_the_launchers_warning_of_a_small_machine_is_no_deviation_of_a_task_that_writes_errors(
    doors: Doors, tmp_path: Path
) -> None:
    needs = task()["resources"] | {"cpus": 1 << 20}
    code = {"run.py": RUN + "print('slow', file=sys.stderr)\n"}
    image = other(doors, tasks=[{**task(), "resources": needs}], code=code)
    _, printed = call(run, doors, image, "accuracy", "--out", str(tmp_path), "--json")
    (result,) = json.loads(printed)["results"]
    (said,) = (tmp_path / "accuracy").glob("*/runner-stderr.log")
    assert said.read_text().startswith("warning: cpus: ")
    assert said.read_text().endswith("\nslow\n")
    assert result["deviations"] == []


def test_evidence_that_cannot_be_written_is_kept_in_the_store_and_none_of_it_is_left(
    doors: Doors, tmp_path: Path
) -> None:
    (tmp_path / "accuracy").touch()
    with pytest.raises(ValidateError, match="the evidence cannot be written") as caught:
        call(run, doors, IMAGE, "accuracy", "--out", str(tmp_path))
    printed = printed_by(doors)
    assert printed.startswith("accuracy: accuracy 98.8764 percent\n")
    assert "--out DIR" in str(caught.value.hint)
    assert [path.name for path in tmp_path.iterdir()] == ["accuracy"]
    (kept,) = (doors.store.root / "evidence").iterdir()
    assert str(kept) in str(caught.value.hint)
    (run_folder,) = (kept / "accuracy").iterdir()
    assert record(run_folder / "runner.json").value == 98.8764
    assert printed.endswith(f"  evidence   {run_folder}\n")


def test_values_whose_evidence_cannot_be_written_are_among_the_results_for_machines(
    doors: Doors, tmp_path: Path
) -> None:
    image = other(doors, tasks=[task("first"), task("second"), task("third")])
    (tmp_path / "second").touch()
    with pytest.raises(ValidateError, match="the evidence cannot be written"):
        call(run, doors, image, "--all", "--out", str(tmp_path), "--json")
    results = json.loads(printed_by(doors))["results"]
    assert [(told["task"], told["value"]) for told in results] == [("first", 98.8764), ("second", 98.8764)]
    assert [Path(told["evidence"]).is_relative_to(doors.store.root) for told in results] == [False, True]


LARGE = (
    RUN
    + """
import os
with open(os.path.join(os.environ["RRA_OUT"], "model"), "wb") as stream:
    stream.write(os.urandom(2 << 20))
"""
)


def test_a_disk_that_fills_up_late_loses_no_measurement(doors: Doors, tmp_path: Path) -> None:
    image = other(doors, code={"run.py": LARGE})
    before = (
        set((doors.store.root / "evidence").iterdir()) if (doors.store.root / "evidence").is_dir() else set()
    )
    with small_disk(tmp_path / "disk") as disk:
        with pytest.raises(ValidateError, match="the evidence cannot be written") as caught:
            call(run, doors, image, "accuracy", "--out", str(disk / "out"))
        assert [path for path in disk.rglob("*") if path.is_file()] == []
    assert caught.value.found == "No space left on device"
    (kept,) = set((doors.store.root / "evidence").iterdir()) - before
    assert str(kept) in str(caught.value.hint)
    (run_folder,) = (kept / "accuracy").iterdir()
    assert record(run_folder / "runner.json").value == 98.8764
    assert sum(path.stat().st_size >= 2 << 20 for path in run_folder.rglob("model")) == 1
