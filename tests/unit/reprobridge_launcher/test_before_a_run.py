"""What must hold before anything runs: data as declared, GPUs, and a machine that is large enough."""

import hashlib
import json
from pathlib import Path

import pytest

from reprobridge_launcher import evidence
from support.launcher_artifact import Artifact, artifact, manifest, task


def test_missing_data_stops_before_anything_runs(tmp_path: Path) -> None:
    entry = {"id": "d", "path": "d.bin", "sha256": "0" * 64, "size": 4, "delivery": "mount"}
    made = Artifact(tmp_path).write(manifest(data=[entry]))
    result = made.call("run", "lda")
    assert (result.returncode, "docker run -v FILE:" in result.stderr) == (3, True)
    assert not list(made.out.iterdir())


def test_other_data_than_declared_stops_before_anything_runs(tmp_path: Path) -> None:
    entry = {"id": "d", "path": "d.bin", "sha256": "0" * 64, "size": 4, "delivery": "mount"}
    made = Artifact(tmp_path).write(manifest(data=[entry]))
    (tmp_path / "data/d.bin").write_bytes(b"data")
    result = made.call("run", "lda")
    found = hashlib.sha256(b"data").hexdigest()
    assert result.returncode == 3
    assert f"d.bin has SHA-256 {found}, expected {'0' * 64}" in result.stderr
    assert not list(made.out.iterdir())


def test_a_missing_gpu_stops_before_anything_runs(tmp_path: Path) -> None:
    made = artifact(tmp_path, resources={"gpus": 99})
    result = made.call("run", "lda")
    assert (result.returncode, "--gpus all" in result.stderr) == (4, True)


@pytest.mark.parametrize("need", ["memory", "disk"])
def test_a_machine_that_is_too_small_for_one_task_stops_all_before_any_runs(
    tmp_path: Path, need: str
) -> None:
    large = task(id="qda", resources={"gpus": 0, need: 1 << 60})
    made = Artifact(tmp_path).write(manifest(task(), large))
    result = made.call("run", "--all")
    assert result.returncode == 4
    assert f"rra: {need}: " in result.stderr
    assert "qda needs 1048576.0 TiB" in result.stderr
    assert "hint: " in result.stderr
    assert not list(made.out.iterdir())
    assert made.call("run", "lda").returncode == 0


@pytest.mark.parametrize("need", ["memory", "disk"])
def test_a_task_runs_anyway_on_a_machine_too_small_for_it_and_its_record_says_so(
    tmp_path: Path, need: str
) -> None:
    made = artifact(tmp_path, resources={"gpus": 0, need: 1 << 60})
    assert "--anyway" in made.call("run", "lda").stderr
    result = made.call("run", "lda", "--anyway", "--json")
    assert (result.returncode, f"warning: {need}: " in result.stderr) == (0, True)
    (told,) = json.loads(result.stdout)["results"]
    record = evidence.parse(made.evidence())
    (lacking,) = record.unfit
    assert lacking.startswith(f"{need}: ")
    assert lacking.endswith("lda needs 1048576.0 TiB")
    assert (told["unfit"], told["compatible"], record.deviations) == ([lacking], True, ())


def test_of_several_tasks_that_run_anyway_each_record_says_only_what_its_own_task_lacks(
    tmp_path: Path,
) -> None:
    large = task(id="qda", resources={"gpus": 0, "memory": 1 << 60})
    made = Artifact(tmp_path).write(manifest(task(), large))
    assert made.call("run", "--all", "--anyway").returncode == 0
    assert [len(made.evidence(name)["unfit"]) for name in ("lda", "qda")] == [0, 1]


def test_a_smoke_run_goes_on_anyway_without_the_gpu_that_its_task_needs(tmp_path: Path) -> None:
    made = artifact(tmp_path, resources={"gpus": 99})
    assert made.call("smoke", "lda").returncode == 4
    assert made.call("smoke", "lda", "--anyway").returncode == 0
    (lacking,) = made.evidence()["unfit"]
    assert "lda needs 99 NVIDIA GPUs" in lacking


def test_a_fit_machine_lacks_nothing_whatever_is_asked_for(tmp_path: Path) -> None:
    made = artifact(tmp_path)
    assert made.call("run", "lda", "--anyway").returncode == 0
    assert made.evidence()["unfit"] == []


def test_missing_data_stop_a_run_that_goes_on_anyway(tmp_path: Path) -> None:
    entry = {"id": "d", "path": "d.bin", "sha256": "0" * 64, "size": 4, "delivery": "mount"}
    made = Artifact(tmp_path).write(manifest(data=[entry]))
    assert made.call("run", "lda", "--anyway").returncode == 3


def test_fewer_cores_are_told_and_stop_nothing(tmp_path: Path) -> None:
    made = artifact(tmp_path, resources={"gpus": 0, "cpus": 4096})
    result = made.call("run", "lda", "--json")
    assert result.returncode == 0
    assert "warning: cpus: " in result.stderr
    assert "lda is meant for 4096" in result.stderr
    assert json.loads(result.stdout)["results"][0]["value"] == 98.5


def test_a_machine_too_small_for_the_whole_task_takes_its_short_command(tmp_path: Path) -> None:
    needs = {"gpus": 0, "memory": 1 << 60, "disk": 1 << 60, "cpus": 4096}
    result = artifact(tmp_path, resources=needs).call("smoke", "lda")
    assert (result.returncode, "warning" in result.stderr) == (0, False)
