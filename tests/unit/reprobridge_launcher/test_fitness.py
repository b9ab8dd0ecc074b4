"""Whether a machine offers what tasks declare: what is refused, what is only warned of, and what to do."""

from typing import Any

import pytest

from reprobridge_launcher import fitness
from reprobridge_launcher.finding import Finding
from reprobridge_launcher.hardware import Hardware
from reprobridge_launcher.manifest import parse
from support.launcher_artifact import manifest, task

GIB = 1 << 30
MACHINE = {
    "machine": "x86_64",
    "kernel": "6.1",
    "cpu": None,
    "cpus": 4,
    "memory": 16 * GIB,
    "gpus": ("NVIDIA A10G",),
    "driver": "550.54.15",
    "gpu_memory": (int(22.5 * GIB),),
    "cuda": "12.4",
}


def found(
    *needs: dict[str, int], environment: dict[str, Any] | None = None, **machine: Any
) -> dict[str, Finding]:
    """Findings by name for tasks with these needs, named a, b, and so on."""
    tasks = [task(id=name, resources={"gpus": 0} | need) for name, need in zip("abc", needs, strict=False)]
    given = manifest()["environment"] | (environment or {})
    made = parse(manifest(*tasks, environment=given))
    free = {name: machine.pop(name, 12 * GIB) for name in ("free_memory", "free_disk")}
    offer = fitness.Offer(machine=Hardware(**(MACHINE | machine)), **free)
    return {finding.id: finding for finding in fitness.findings(made, made.tasks, offer)}


def verdict(name: str, *needs: dict[str, int], **machine: Any) -> str:
    return found(*needs, **machine)[name].verdict


def test_a_task_that_says_nothing_fits_everywhere() -> None:
    assert {finding.verdict for finding in found({}, cpus=1, memory=1, gpus=(), free_disk=0).values()} == {
        "passed"
    }


def test_every_finding_that_there_may_be_is_listed() -> None:
    assert tuple(found({})) == fitness.IDS


def test_the_most_demanding_task_decides_and_is_named() -> None:
    finding = found({"memory": GIB}, {"memory": 64 * GIB})["memory"]
    assert (finding.verdict, finding.code) == ("failed", 4)
    assert finding.detail == "16.0 GiB, free 12.0 GiB; b needs 64.0 GiB"
    assert "a larger machine" in str(finding.remedy)


@pytest.mark.parametrize(
    ("memory", "free", "expected"),
    [(16, 16, "passed"), (15.3, 15.3, "passed"), (14, 14, "failed"), (32, 4, "warning")],
)
def test_a_machine_is_refused_for_its_memory_and_warned_of_what_others_use(
    memory: float, free: float, expected: str
) -> None:
    need = {"memory": 16 * GIB}
    assert verdict("memory", need, memory=int(memory * GIB), free_memory=int(free * GIB)) == expected


def test_fewer_cores_are_a_warning() -> None:
    finding = found({"cpus": 8})["cpus"]
    assert (finding.verdict, finding.code, finding.detail) == ("warning", 0, "4; a is meant for 8")
    assert "--cpus 8" in str(finding.remedy)
    assert verdict("cpus", {"cpus": 4}) == "passed"


def test_too_little_disk_is_refused_with_the_line_that_helps() -> None:
    finding = found({"disk": 13 * GIB})["disk"]
    assert (finding.verdict, finding.code) == ("failed", 4)
    assert "docker run -v FOLDER:/out" in str(finding.remedy)
    assert verdict("disk", {"disk": 12 * GIB}) == "passed"
    assert verdict("disk", {"disk": 12 * GIB}, free_disk=None) == "passed"


def test_a_gpu_too_small_is_refused_and_a_nominal_size_is_no_lie() -> None:
    assert verdict("gpu memory", {"gpus": 1, "gpu_memory": 24 * GIB}) == "passed"
    finding = found({"gpus": 1, "gpu_memory": 40 * GIB})["gpu memory"]
    assert (finding.verdict, finding.code) == ("failed", 4)
    assert finding.detail == "22.5 GiB; a needs 40.0 GiB in each of 1"


def test_as_many_gpus_as_needed_must_be_large_enough() -> None:
    need = {"gpus": 2, "gpu_memory": 24 * GIB}
    two = {"gpus": ("A100", "T4"), "gpu_memory": (40 * GIB, 15 * GIB)}
    assert verdict("gpu memory", need, **two) == "failed"
    assert verdict("gpu memory", need | {"gpus": 1}, **two) == "passed"


def test_each_task_is_held_against_the_gpus_and_not_only_the_one_that_needs_the_largest() -> None:
    needs = {"gpus": 1, "gpu_memory": 40 * GIB}, {"gpus": 4, "gpu_memory": 20 * GIB}
    four: dict[str, Any] = {
        "gpus": ("A100", "T4", "T4", "T4"),
        "gpu_memory": (40 * GIB, 10 * GIB, 10 * GIB, 10 * GIB),
    }
    finding = found(*needs, **four)["gpu memory"]
    assert (finding.verdict, "b needs 20.0 GiB in each of 4" in finding.detail) == ("failed", True)
    finding = found(*needs, **four | {"gpu_memory": (40 * GIB,) * 4})["gpu memory"]
    assert (finding.verdict, "a needs 40.0 GiB in each of 1" in finding.detail) == ("passed", True)


def test_an_unknown_driver_is_called_so() -> None:
    assert found({"gpus": 1}, driver=None)["gpu"].detail == "NVIDIA A10G; driver unknown"


@pytest.mark.parametrize(
    ("free", "shown"),
    [(0, "0 KiB"), (300 << 10, "300 KiB"), (1 << 20, "1 MiB"), (GIB, "1.0 GiB"), (3 << 39, "1.5 TiB")],
)
def test_sizes_are_shown_in_the_unit_that_people_would_use(free: int, shown: str) -> None:
    assert found({"disk": 1 << 50}, free_disk=free)["disk"].detail == f"free {shown}; a needs 1024.0 TiB"


def test_unknown_gpu_memory_is_a_warning() -> None:
    finding = found({"gpus": 1, "gpu_memory": GIB}, gpu_memory=())["gpu memory"]
    assert (finding.verdict, "utility" in str(finding.remedy)) == ("warning", True)


def test_missing_gpus_and_old_drivers_are_refused() -> None:
    assert "--gpus all" in str(found({"gpus": 1}, gpus=())["gpu"].remedy)
    old = found({"gpus": 1}, environment={"gpu": {"cuda": "13.0", "driver": "580.65.06"}})["gpu"]
    assert (old.verdict, old.detail) == (
        "failed",
        "CUDA 13.0 needs driver 580.65.06 or later, found 550.54.15",
    )
    assert verdict("gpu", {"gpus": 1}, environment={"gpu": {"cuda": "12.4"}}) == "passed"


def test_the_folder_of_the_evidence_need_not_be_there_yet(tmp_path: Any) -> None:
    here = fitness.offer(Hardware(**MACHINE), str(tmp_path))  # type: ignore[arg-type]
    later = fitness.offer(Hardware(**MACHINE), str(tmp_path / "a" / "b"))  # type: ignore[arg-type]
    assert here.free_disk
    assert later.free_disk
