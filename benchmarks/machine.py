"""What a reader must know of the machine: processor, cores, memory, kernel; no names, no paths."""

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from benchmarks.process_tree import parse_field


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """Where a benchmark ran."""

    processor: str
    """Model."""
    cores: int
    """That we may use."""
    memory: int
    """Bytes."""
    kernel: str
    """Name and release."""

    def __str__(self) -> str:
        """One phrase."""
        gib = self.memory / (1 << 30)
        return f"{self.cores} cores of {self.processor}, {gib:.0f} GiB of memory, {self.kernel}"


def this_machine() -> Machine:
    """The one that we run on."""
    return Machine(
        processor=processor_of(Path("/proc/cpuinfo").read_text()),
        cores=len(os.sched_getaffinity(0)),
        memory=parse_field(Path("/proc/meminfo").read_text(), "MemTotal") * 1024,
        kernel=f"{platform.system()} {platform.release().partition('-')[0]}",
    )


def processor_of(cpuinfo: str) -> str:
    """The model's name in /proc/cpuinfo."""
    for line in cpuinfo.splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return " ".join(value.split())
    return "an unknown processor"
