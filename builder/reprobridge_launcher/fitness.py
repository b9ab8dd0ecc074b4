"""Does a machine offer what tasks need?  Each answer is a finding, with the exact remedy if it failed.

Pure but for `offer`: what tasks declare and what was found of the machine in, findings out.
What is sold as 16 GiB shows a few percent less, as firmware, kernel or error correction take theirs: only a machine
that is clearly smaller than declared is refused.
"""

import os

from reprobridge_launcher import hardware, outcome
from reprobridge_launcher.finding import Finding
from reprobridge_launcher.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Iterator

    from reprobridge_launcher.hardware import Hardware
    from reprobridge_launcher.manifest import Manifest, Task

IDS = ("gpu", "gpu memory", "cpus", "memory", "disk")
"""Findings that speak of the machine."""
NOMINAL = 0.9
"""What of a declared size is enough: NVIDIA's A10G of 24 GiB shows 22.5."""


class Offer(Record):
    """What a machine offers to a run."""

    machine: "Hardware"
    """What it has."""
    free_memory: "int"
    """Bytes that nobody uses now; 0 where unknown."""
    free_disk: "int | None"
    """Bytes where the evidence goes; None where its file system has no limit of its own, such as a tmpfs without."""


def uses_gpus(tasks: "tuple[Task, ...]") -> bool:
    """Is there a task that says so?"""
    return any(task.resources.gpus for task in tasks)


def offer(machine: "Hardware", out: str) -> Offer:
    """What this machine offers now to a run with its evidence in the folder `out`, which may not be there yet."""
    while not os.path.isdir(out):
        out = os.path.dirname(os.path.abspath(out))
    status = os.statvfs(out)
    return Offer(
        machine=machine,
        free_memory=hardware.free_memory(),
        free_disk=status.f_bavail * status.f_frsize if status.f_blocks else None,
    )


def findings(manifest: "Manifest", tasks: "tuple[Task, ...]", offer: Offer) -> "Iterator[Finding]":
    """Hold everything that tasks declare against what there is."""
    yield gpu(manifest, tasks, offer.machine)
    yield _gpu_memory(tasks, offer.machine)
    yield _cpus(tasks, offer.machine)
    yield _memory(tasks, offer)
    yield _disk(tasks, offer)


def unfit(found: "tuple[Finding, ...]") -> "tuple[str, ...]":
    """Say in words what keeps tasks from running."""
    return tuple(
        "{}: {}".format(finding.id, finding.detail) for finding in found if finding.verdict == "failed"
    )


def gpu(manifest: "Manifest", tasks: "tuple[Task, ...]", machine: "Hardware") -> Finding:
    """Are there enough GPUs, and is the driver new enough for the environment's CUDA?"""
    task, wanted = _most(tasks, "gpus")
    if wanted == 0:
        return _passed("gpu", "no task needs one")
    needs, found, driver = manifest.environment.gpu, machine.gpus, machine.driver
    if len(found) < wanted:
        remedy = "docker run --gpus all … (needs the NVIDIA Container Toolkit on the host)"
        if driver is None:
            remedy = "run on a machine with an NVIDIA GPU and its driver, by docker run --gpus all …"
        return _failed("gpu", "{} needs {} NVIDIA GPUs, found {}".format(task, wanted, len(found)), remedy)
    least = needs and (needs.driver or hardware.DRIVER_OF_CUDA.get(needs.cuda.split(".")[0]))
    if needs and least and driver and hardware.version_key(driver) < hardware.version_key(least):
        detail = "CUDA {} needs driver {} or later, found {}".format(needs.cuda, least, driver)
        return _failed("gpu", detail, "install NVIDIA driver {} or later on the host".format(least))
    return _passed("gpu", "{}; driver {}".format(", ".join(found), driver or "unknown"))


def _gpu_memory(tasks: "tuple[Task, ...]", machine: "Hardware") -> Finding:
    """Hold each task against the GPUs, since fewer large ones suffice for one and not for another."""
    asking = [task for task in tasks if task.resources.gpus and task.resources.gpu_memory]
    if not asking:
        return _passed("gpu memory", "no task says what it needs")
    asking.sort(key=lambda task: task.resources.gpu_memory or 0, reverse=True)
    found = [_gpu_memory_for(task, machine) for task in asking]
    return next((finding for finding in found if finding.verdict == "failed"), found[0])


def _gpu_memory_for(task: "Task", machine: "Hardware") -> Finding:
    name = "gpu memory"
    count, wanted = task.resources.gpus, task.resources.gpu_memory or 0
    if not machine.gpu_memory:
        detail = "{} needs {}; how much there is isn't known".format(task.id, _size(wanted))
        remedy = (
            "docker run --gpus all … -e NVIDIA_DRIVER_CAPABILITIES=compute,utility, which brings nvidia-smi"
        )
        return Finding(id=name, verdict="warning", detail=detail, remedy=remedy)
    there = ", ".join(_size(size) for size in machine.gpu_memory)
    detail = "{}; {} needs {} in each of {}".format(there, task.id, _size(wanted), count)
    if sum(size >= NOMINAL * wanted for size in machine.gpu_memory) < count:
        return _failed(name, detail, "run on a machine with larger GPUs")
    return _passed(name, detail)


def _cpus(tasks: "tuple[Task, ...]", machine: "Hardware") -> Finding:
    task, wanted = _most(tasks, "cpus")
    detail = "{}; {} is meant for {}".format(machine.cpus, task, wanted) if wanted else str(machine.cpus)
    if machine.cpus < wanted:
        remedy = "it takes longer: docker run --cpus {} … or a larger machine".format(wanted)
        return Finding(id="cpus", verdict="warning", detail=detail, remedy=remedy)
    return _passed("cpus", detail)


def _memory(tasks: "tuple[Task, ...]", offer: Offer) -> Finding:
    task, wanted = _most(tasks, "memory")
    total = offer.machine.memory
    if wanted == 0:
        return _passed("memory", "no task says what it needs")
    detail = "{}, free {}; {} needs {}".format(_size(total), _size(offer.free_memory), task, _size(wanted))
    if 0 < total < NOMINAL * wanted:
        return _failed("memory", detail, "docker run --memory … or a larger machine")
    if offer.free_memory < NOMINAL * wanted:
        return Finding(id="memory", verdict="warning", detail=detail, remedy="end other programs")
    return _passed("memory", detail)


def _disk(tasks: "tuple[Task, ...]", offer: Offer) -> Finding:
    task, wanted = _most(tasks, "disk")
    if wanted == 0 or offer.free_disk is None:
        return _passed("disk", "no limit is known" if wanted else "no task says what it needs")
    detail = "free {}; {} needs {}".format(_size(offer.free_disk), task, _size(wanted))
    if offer.free_disk < wanted:
        return _failed("disk", detail, "mount a folder with more room: docker run -v FOLDER:/out")
    return _passed("disk", detail)


def _most(tasks: "tuple[Task, ...]", name: str) -> "tuple[str, int]":
    """Id of the task that needs most of something, and how much; 0 where none says that it needs any."""
    needs = [(getattr(task.resources, name) or 0, task.id) for task in tasks]
    amount, task = max(needs, default=(0, ""))
    return task, amount


def _size(size: int) -> str:
    """Show bytes as people say it."""
    for unit, power in (("TiB", 40), ("GiB", 30)):
        if size >= 1 << power:
            return "{:.1f} {}".format(size / (1 << power), unit)
    return "{:.0f} MiB".format(size / (1 << 20)) if size >= 1 << 20 else "{:.0f} KiB".format(size / (1 << 10))


def _passed(name: str, detail: str) -> Finding:
    return Finding(id=name, verdict="passed", detail=detail)


def _failed(name: str, detail: str, remedy: str) -> Finding:
    return Finding(id=name, verdict="failed", detail=detail, remedy=remedy, code=outcome.UNFIT)
