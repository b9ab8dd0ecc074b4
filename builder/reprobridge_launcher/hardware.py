"""What the machine offers: read from /proc, /sys and /dev, without starting a process."""

import os

from reprobridge_launcher.record import Record

DRIVER_OF_CUDA = {"11": "450.80.02", "12": "525.60.13", "13": "580.65.06"}
"""Least NVIDIA driver for each CUDA major version (NVIDIA, CUDA compatibility: minor version compatibility)."""


class Hardware(Record):
    """What a run had."""

    machine: "str"
    """Architecture, such as x86_64."""
    kernel: "str"
    """Release of the kernel."""
    cpu: "str | None"
    """Model name."""
    cpus: "int"
    """Cores that the run may use."""
    memory: "int"
    """Bytes of memory, or the container's limit where that is less."""
    gpus: "tuple[str, ...]"
    """Model of each NVIDIA GPU that is visible here."""
    driver: "str | None"
    """Version of the NVIDIA driver."""


def read() -> Hardware:
    """Look at this machine."""
    system = os.uname()
    return Hardware(
        machine=system.machine,
        kernel=system.release,
        cpu=field("/proc/cpuinfo", "model name"),
        cpus=cpus(),
        memory=memory("MemTotal"),
        gpus=gpus(),
        driver=driver(),
    )


def cpus() -> int:
    """Cores that may be used: those of the affinity, cut at the container's quota."""
    return cut(len(os.sched_getaffinity(0)), content("/sys/fs/cgroup/cpu.max"))


def cut(cores: int, limit: str) -> int:
    """Cores under a limit as the kernel words it (cgroup-v2, cpu.max): `150000 100000` are one and a half, so two."""
    quota, period = [*limit.split(), "max", "0"][:2]
    if not quota.isdigit() or not period.isdigit() or int(period) == 0:
        return cores
    return min(cores, max(-(-int(quota) // int(period)), 1))


def content(path: str) -> str:
    """Text of a file of the kernel; empty where there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            return stream.read(1 << 16)
    except OSError:
        return ""


def field(path: str, name: str) -> "str | None":
    """First value of a `name: value` line in a file of the kernel."""
    for line in content(path).splitlines():
        key, _colon, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None


def memory(name: str) -> int:
    """Bytes of MemTotal or MemAvailable, cut at the container's limit; 0 where unknown."""
    words = (field("/proc/meminfo", name) or "0").split()
    size = int(words[0]) * 1024
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        limit = content(path).strip()
        if limit.isdigit():
            size = min(size, int(limit))
    return size


def gpus() -> "tuple[str, ...]":
    """Models of the NVIDIA GPUs whose device files are here."""
    try:
        devices = [name for name in os.listdir("/dev") if name[:6] == "nvidia" and name[6:].isdigit()]
    except OSError:
        devices = []
    if not devices and os.path.exists("/dev/dxg"):
        return ("GPU of the Windows host",)
    minors = {}
    for slot in listed("/proc/driver/nvidia/gpus"):
        information = "/proc/driver/nvidia/gpus/{}/information".format(slot)
        minors["nvidia{}".format(field(information, "Device Minor"))] = field(information, "Model")
    return tuple(minors.get(name) or name for name in sorted(devices))


def driver() -> "str | None":
    """Version of the NVIDIA driver that the kernel has loaded."""
    words = content("/proc/driver/nvidia/version").split()
    numbers = [word for word in words if word[:1].isdigit() and "." in word]
    return numbers[0] if numbers else None


def version_key(version: str) -> "tuple[int, ...]":
    """Numbers of a dotted version, for comparison."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def listed(folder: str) -> "list[str]":
    """Sorted names in a folder; none where it can't be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
