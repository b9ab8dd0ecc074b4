"""Evidence that finds no place: before anything runs, while it runs, and afterwards."""

import json
import subprocess
from pathlib import Path

import pytest

from support.launcher_artifact import Artifact, artifact, manifest, task
from support.nearly_full import nearly_full

IN_THE_WAY = "import os\nos.mkdir(os.environ['RRA_OUT'] + '/../evidence.json.new')\nprint('accuracy: 98.5')\n"


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_value_whose_record_cannot_be_written_is_told_and_then_why(
    tmp_path: Path, words: list[str]
) -> None:
    made = artifact(tmp_path, IN_THE_WAY)
    result = made.call("run", "lda", *words)
    assert result.returncode == 5
    (report, _, after) = (result.stderr if words else result.stdout + result.stderr).partition("  evidence")
    assert "lda: accuracy 98.5 percent" in report
    assert "rra: the evidence can't be written: [Errno 21] Is a directory" in after
    assert "--out FOLDER" in after
    assert made.evidence()["state"] == "running"
    for told in json.loads(result.stdout)["results"] if words else []:
        assert (told["value"], told["exit_code"], told["evidence"]) == (98.5, 5, None)


def test_a_log_that_finds_no_room_is_a_want_of_resources(tmp_path: Path) -> None:
    made = artifact(tmp_path, "print('x' * 200_000, 'accuracy: 98.5')\n")
    with nearly_full(100_000):
        assert made.call("run", "lda").returncode == 5
    failure = made.evidence()["failure"]
    assert failure["class"] == "resource_or_access"
    assert failure["message"] == "can't write the log: File too large"


def test_results_that_cannot_be_kept_are_a_failure_of_the_run(tmp_path: Path) -> None:
    code = (
        "import os\nos.rmdir(os.environ['RRA_OUT'])\nopen(os.environ['RRA_OUT'], 'x')\nopen('r.json', 'x')\n"
    )
    made = artifact(tmp_path, code, extract={"kind": "json", "file": "r.json", "json": "/acc"})
    result = made.call("run", "lda")
    assert (result.returncode, "  failed" in result.stdout) == (5, True)
    assert "File exists" in made.evidence()["failure"]["message"]


def test_what_was_measured_is_told_when_the_next_task_cannot_even_start(tmp_path: Path) -> None:
    code = "import os\nopen(os.environ['RRA_OUT'] + '/../../../next', 'x')\nprint('accuracy: 98.5')\n"
    made = Artifact(tmp_path).write(manifest(task(), task(id="next")), {"run.py": code})
    result = made.call("run", "--all", "--json")
    assert result.returncode == 5
    assert [told["value"] for told in json.loads(result.stdout)["results"]] == [98.5]
    assert "next" in result.stderr.splitlines()[-2]


def test_a_tasks_folder_that_takes_no_evidence_is_told_before_anything_runs(tmp_path: Path) -> None:
    made = Artifact(tmp_path).write(manifest(task(), task(id="next")))
    (made.out / "next").touch()
    result = made.call("run", "--all")
    assert (result.returncode, f"can't write to {made.out}/next" in result.stderr) == (2, True)
    assert not (made.out / "lda").exists()


def test_a_folder_that_takes_no_evidence_is_told(tmp_path: Path) -> None:
    made = artifact(tmp_path)
    result = made.call("run", "lda", "--out", str(made.root / "GUIDE.md" / "x"))
    assert result.returncode == 2
    assert "docker run -v FOLDER:" in result.stderr


@pytest.mark.parametrize("left", ["pipe", "link"])
def test_what_a_task_left_in_the_place_of_its_record_is_put_aside(tmp_path: Path, left: str) -> None:
    make = {"pipe": "os.mkfifo(place)", "link": "os.symlink('/rra-is-not-there/record', place)"}[left]
    code = f"import os\nplace = os.environ['RRA_OUT'] + '/../evidence.json.new'\n{make}\nprint('accuracy: 98.5')\n"
    made = artifact(tmp_path, code)
    assert made.call("run", "lda").returncode == 0
    record = made.evidence()
    assert (record["state"], record["value"]) == ("finished", 98.5)


def test_folders_too_deep_to_be_listed_take_no_value_away(tmp_path: Path) -> None:
    deep = "import os\nos.chdir(os.environ['RRA_OUT'])\nfor _ in range(1900): os.mkdir('a'); os.chdir('a')\n"
    made = artifact(tmp_path, deep + "print('accuracy: 98.5')\n")
    result = made.call("run", "lda")
    subprocess.run(["rm", "-rf", str(made.out)], check=True)  # Python's own may not list them either
    assert "lda: accuracy 98.5 percent" in result.stdout
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("log", ["stdout", "stderr"])
def test_a_log_that_a_task_made_a_pipe_holds_up_nothing(tmp_path: Path, log: str) -> None:
    place = f"place = os.environ['RRA_OUT'] + '/../{log}.log'\n"
    made = artifact(tmp_path, f"import os\n{place}os.unlink(place)\nos.mkfifo(place)\nraise SystemExit(3)\n")
    assert made.call("run", "lda").returncode == 5
    assert made.evidence()["failure"]["message"] == "ended with exit status 3"
