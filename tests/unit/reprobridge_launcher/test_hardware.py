"""What is found of a machine, and of NVIDIA's GPUs: on a fake of what their driver shows."""

import os
import signal
from pathlib import Path

import pytest

from reprobridge_launcher import hardware, nvidia_smi

TALK = """
==============NVSMI LOG==============

Timestamp                                 : Thu Jan  1 00:00:00 2026
Driver Version                            : 550.54.15
CUDA Version                              : 12.4

Attached GPUs                             : 2
GPU 00000000:01:00.0
    FB Memory Usage
        Total                             : 40960 MiB
        Reserved                          : 612 MiB
        Used                              : 0 MiB
        Free                              : 40347 MiB
    BAR1 Memory Usage
        Total                             : 65536 MiB
        Used                              : 1 MiB
    Conf Compute Protected Memory Usage
        Total                             : 0 MiB

GPU 00000000:C1:00.0
    FB Memory Usage
        Total                             : 23028 MiB
    BAR1 Memory Usage
        Total                             : 32768 MiB
"""
"""What `nvidia-smi -q -d MEMORY` prints: by address on the bus, here the other way round than the devices' numbers."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A machine with two GPUs, whose driver numbers them against their addresses."""
    for minor, (address, model) in enumerate(
        [("0000:c1:00.0", "NVIDIA A10G"), ("0000:01:00.0", "NVIDIA A100")]
    ):
        folder = tmp_path / "proc/driver/nvidia/gpus" / address
        folder.mkdir(parents=True)
        (folder / "information").write_text(
            f"Model: \t\t {model}\nIRQ:   \t\t 44\nDevice Minor: \t {minor}\n"
        )
        device = tmp_path / f"dev/nvidia{minor}"
        device.parent.mkdir(exist_ok=True)
        device.touch()
    (tmp_path / "dev/nvidiactl").touch()
    version = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\n"
    (tmp_path / "proc/driver/nvidia/version").write_text(version)
    return tmp_path


def install(root: Path, script: str) -> None:
    """Put a driver's program onto the machine."""
    program = root / "usr/bin/nvidia-smi"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def test_gpus_have_model_memory_driver_and_cuda_in_the_order_of_their_numbers(root: Path) -> None:
    install(root, f"[ \"$*\" = '-q -d MEMORY' ] && cat <<'END'\n{TALK}\nEND")
    found = hardware.read(uses_gpus=True, root=str(root))
    assert found.gpus == ("NVIDIA A10G", "NVIDIA A100")
    assert found.gpu_memory == (23028 << 20, 40960 << 20)
    assert (found.driver, found.cuda) == ("550.54.15", "12.4")


def test_a_task_without_gpus_does_not_wait_for_the_driver(root: Path) -> None:
    install(root, f"touch {root}/asked")
    found = hardware.read(uses_gpus=False, root=str(root))
    assert (found.gpus, found.driver) == (("NVIDIA A10G", "NVIDIA A100"), "550.54.15")
    assert (found.gpu_memory, found.cuda) == ((), None)
    assert not (root / "asked").exists()


@pytest.mark.parametrize("script", ["exit 9", "echo no devices", "kill -9 $$"])
def test_a_driver_that_does_not_say_leaves_unknown_what_only_it_knows(root: Path, script: str) -> None:
    install(root, script)
    found = hardware.read(uses_gpus=True, root=str(root))
    assert (len(found.gpus), found.driver, found.gpu_memory, found.cuda) == (2, "550.54.15", (), None)


def test_memory_is_unknown_unless_it_is_known_of_every_gpu(root: Path) -> None:
    install(root, f"cat <<'END'\n{TALK.replace('23028 MiB', 'N/A')}\nEND")
    found = hardware.read(uses_gpus=True, root=str(root))
    assert (found.gpu_memory, found.cuda) == ((), "12.4")


def test_without_what_the_kernel_shows_the_program_is_believed(tmp_path: Path) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/dxg").touch()
    install(tmp_path, f"cat <<'END'\n{TALK.split('GPU 00000000:C1', maxsplit=1)[0]}\nEND")
    found = hardware.read(uses_gpus=True, root=str(tmp_path))
    assert found.gpus == ("GPU of the Windows host",)
    assert (found.gpu_memory, found.driver, found.cuda) == ((40960 << 20,), "550.54.15", "12.4")


def test_a_machine_without_gpus_asks_nobody(tmp_path: Path) -> None:
    install(tmp_path, f"touch {tmp_path}/asked")
    found = hardware.read(uses_gpus=True, root=str(tmp_path))
    assert (found.gpus, found.driver, found.gpu_memory) == ((), None, ())
    assert not (tmp_path / "asked").exists()


def test_a_program_that_never_ends_is_given_up_and_killed(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    for patience in (0.3, 3.0, 30.0):  # until the machine lets it begin in time
        argv = ("/bin/sh", "-c", f"echo half; echo $$ > {told}; exec sleep 1000")
        assert nvidia_smi.answer(argv, patience) == ""
        if told.exists() and told.read_text().endswith("\n"):
            break
    _, status = os.waitpid(int(told.read_text()), 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


def test_a_program_that_is_not_there_says_nothing() -> None:
    assert nvidia_smi.answer(("/nonexistent",), 60.0) == ""


GIB = 1 << 30
V2 = {"memory.max": 4 * GIB, "memory.current": 3 * GIB, "memory.stat": f"anon 1\ninactive_file {GIB}"}
V1 = {
    "memory/memory.limit_in_bytes": 4 * GIB,
    "memory/memory.usage_in_bytes": 3 * GIB,
    "memory/memory.stat": f"inactive_file 7\ntotal_inactive_file {GIB}",
}


def host(root: Path, available: int, limits: dict[str, object]) -> str:
    """A machine of 16 GiB whose container has limits."""
    proc = root / "proc/meminfo"
    proc.parent.mkdir()
    proc.write_text(f"MemTotal: {16 << 20} kB\nMemAvailable: {available >> 10} kB\n")
    for name, text in limits.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    return str(root)


@pytest.mark.parametrize("limits", [V2, V1])
def test_free_memory_is_what_the_container_may_still_use(tmp_path: Path, limits: dict[str, object]) -> None:
    root = host(tmp_path, 12 * GIB, limits)
    assert (hardware.memory(root), hardware.free_memory(root)) == (4 * GIB, 2 * GIB)


@pytest.mark.parametrize(
    "limits", [{}, V2 | {"memory.max": "max"}, V1 | {"memory/memory.limit_in_bytes": (1 << 63) - 4096}]
)
def test_without_a_limit_memory_is_that_of_the_host(tmp_path: Path, limits: dict[str, object]) -> None:
    root = host(tmp_path, 12 * GIB, limits)
    assert (hardware.memory(root), hardware.free_memory(root)) == (16 * GIB, 12 * GIB)


def test_a_host_that_is_short_of_memory_has_no_more_for_the_container(tmp_path: Path) -> None:
    assert hardware.free_memory(host(tmp_path, GIB, V2)) == GIB


@pytest.mark.parametrize(
    ("limits", "least"),
    [
        ({"cpu.max": "100000 100000"}, True),
        ({"cpu/cpu.cfs_quota_us": 100000, "cpu/cpu.cfs_period_us": 100000}, True),
        ({"cpu/cpu.cfs_quota_us": -1, "cpu/cpu.cfs_period_us": 100000}, False),
        ({}, False),
    ],
)
def test_cores_are_cut_at_the_quota_of_either_hierarchy(
    tmp_path: Path, limits: dict[str, object], least: bool
) -> None:
    root = host(tmp_path, GIB, limits)
    assert hardware.cpus(root) == (1 if least else len(os.sched_getaffinity(0)))
