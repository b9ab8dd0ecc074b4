"""What the machine offers: read from /proc, /sys and /dev; `nvidia-smi` is asked for what stands nowhere.

`root` is the folder below which the files of kernel and driver are looked for: empty for /, another one in tests.
Limits of a container are those of cgroup-v2, or of the older hierarchy where a host still has that.
"""

import os

from reprobridge_launcher.record import Record, replaced

DRIVER_OF_CUDA = {"11": "450.80.02", "12": "525.60.13", "13": "580.65.06"}
"""Least NVIDIA driver for each CUDA major version (NVIDIA, CUDA compatibility: minor version compatibility)."""
MEMORY_FILES = (
    ("/sys/fs/cgroup/", "memory.max", "memory.current", "inactive_file"),
    ("/sys/fs/cgroup/memory/", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""Folder, limit, usage, and the name in memory.stat of what can be let go, of cgroup-v2 and the older hierarchy."""


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
    gpu_memory: "tuple[int, ...]" = ()
    """Bytes of each GPU; empty where they aren't known, and for tasks that use none."""
    cuda: "str | None" = None
    """Newest CUDA version that the driver serves; None likewise."""


def read(*, uses_gpus: bool = False, root: str = "") -> Hardware:
    """Look at this machine; `uses_gpus` is worth the time that asking the driver takes."""
    system = os.uname()
    found = gpus(root)
    seen = Hardware(
        machine=system.machine,
        kernel=system.release,
        cpu=field(root + "/proc/cpuinfo", "model name"),
        cpus=cpus(root),
        memory=memory(root),
        gpus=tuple(model for model, _address in found),
        driver=driver(root),
    )
    return _asked(seen, [address for _model, address in found], root) if uses_gpus and found else seen


def _asked(seen: Hardware, addresses: "list[str | None]", root: str) -> Hardware:
    """Add what only the driver's own program knows."""
    from reprobridge_launcher import nvidia_smi

    told = nvidia_smi.ask(root)
    sizes = dict(told.memory)
    if any(address in sizes for address in addresses):
        sizes = {address: sizes[address] for address in addresses if address in sizes}
    known = tuple(sizes.values()) if len(sizes) == len(addresses) else ()
    return replaced(seen, driver=seen.driver or told.driver, cuda=told.cuda, gpu_memory=known)


def cpus(root: str = "") -> int:
    """Cores that may be used: those of the affinity, cut at the container's quota."""
    older = root + "/sys/fs/cgroup/cpu/cpu.cfs_{}_us"
    limit = content(root + "/sys/fs/cgroup/cpu.max")
    limit = limit or " ".join(content(older.format(name)) for name in ("quota", "period"))
    return cut(len(os.sched_getaffinity(0)), limit)


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


def memory(root: str = "") -> int:
    """Bytes of memory, cut at the container's limit; 0 where unknown."""
    return min([_host_memory("MemTotal", root), *(limit for limit, _used in _memory_limits(root))])


def free_memory(root: str = "") -> int:
    """Bytes that a program could get now, of the host's and of what the container may still use; 0 where unknown."""
    left = [max(limit - used, 0) for limit, used in _memory_limits(root)]
    return min([_host_memory("MemAvailable", root), *left])


def _host_memory(name: str, root: str) -> int:
    words = (field(root + "/proc/meminfo", name) or "0").split()
    return int(words[0]) * 1024


def _memory_limits(root: str) -> "list[tuple[int, int]]":
    """Limit of the container and what it uses, without the files' contents that the kernel would let go for others."""
    found = []
    for stem, limit, usage, idle in MEMORY_FILES:
        most, used = (content(root + stem + name).strip() for name in (limit, usage))
        if most.isdigit():
            lines = [line.split() for line in content(root + stem + "memory.stat").splitlines()]
            cached = sum(int(words[1]) for words in lines if len(words) == 2 and words[0] == idle)
            found.append((int(most), max(int(used or 0) - cached, 0)))
    return found


def gpus(root: str = "") -> "tuple[tuple[str, str | None], ...]":
    """Model and PCI address of the NVIDIA GPUs whose device files are here, by their numbers."""
    devices = [name for name in listed(root + "/dev") if name[:6] == "nvidia" and name[6:].isdigit()]
    if not devices and os.path.exists(root + "/dev/dxg"):
        return (("GPU of the Windows host", None),)
    known = {}
    for address in listed(root + "/proc/driver/nvidia/gpus"):
        information = "{}/proc/driver/nvidia/gpus/{}/information".format(root, address)
        name = "nvidia{}".format(field(information, "Device Minor"))
        known[name] = (field(information, "Model") or name, address.lower())
    return tuple(known.get(name, (name, None)) for name in sorted(devices, key=lambda name: int(name[6:])))


def driver(root: str = "") -> "str | None":
    """Version of the NVIDIA driver that the kernel has loaded."""
    words = content(root + "/proc/driver/nvidia/version").split()
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
