"""What processes have used, read from /proc: CPU time, bytes written, memory that no file backs.

A process's own counters include those of children that it has waited for, so the difference between two
looks at a daemon's tree counts whatever ran and ended below it in between. Linux only (`proc(5)`).
"""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
_KIBIBYTE = 1024


class Usage(NamedTuple):
    """What a process has used since it began, ended children included."""

    cpu: float
    """Seconds of CPU, in user mode and in the kernel."""
    written: int
    """Bytes that it caused to be written to a file system with a disk behind it."""


def tree(root: int) -> Iterator[int]:
    """A process and everything below it that is alive."""
    yield root
    for task in _threads(root):
        for child in _text(task / "children").split():
            yield from tree(int(child))


def usage_of(pids: Iterable[int]) -> Usage:
    """Sum over processes; one that has ended meanwhile counts nothing."""
    cpu, written = 0.0, 0
    for pid in pids:
        cpu += parse_cpu(_text(Path(f"/proc/{pid}/stat")))
        written += parse_field(_text(Path(f"/proc/{pid}/io")), "write_bytes")
    return Usage(cpu, written)


def anonymous_memory(pids: Iterable[int]) -> int:
    """Bytes of resident memory that no file backs (RssAnon), summed over processes.

    Pages that a forked child still shares with its parent count twice.
    """
    return sum(parse_field(_text(Path(f"/proc/{pid}/status")), "RssAnon") for pid in pids) * _KIBIBYTE


def parse_cpu(stat: str) -> float:
    """CPU seconds in a line of /proc/PID/stat: utime, stime and both of ended children; 0 for no line."""
    if not stat:
        return 0.0
    fields = stat.rpartition(")")[2].split()  # the program's name before may hold anything
    return sum(int(ticks) for ticks in fields[11:15]) / _TICKS


def parse_field(text: str, name: str) -> int:
    """The first number behind `name:`; 0 when there is none."""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0])
    return 0


def _text(path: Path) -> str:
    with contextlib.suppress(OSError):
        return path.read_text()
    return ""


def _threads(pid: int) -> list[Path]:
    with contextlib.suppress(OSError):
        return list(Path(f"/proc/{pid}/task").iterdir())
    return []
