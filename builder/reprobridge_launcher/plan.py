"""Which commands make one observation of a task, and how a request differs from that.

Pure: a task and what the user asked for in, commands and deviations out.
"""

from reprobridge_launcher import extraction
from reprobridge_launcher.manifest import Task, parts
from reprobridge_launcher.outcome import USAGE, StopError
from reprobridge_launcher.record import Record

PATIENCE = 10
"""A command is stopped after so many times what it takes by its author's word, since machines differ."""


class Request(Record):
    """What the user asked for beyond the task's own definition."""

    smoke: "bool" = False
    """Only show that the task starts and measures."""
    seed: "int | None" = None
    """Only this seed."""
    repeat: "int | None" = None
    """So many repeats."""
    extra: "tuple[str, ...]" = ()
    """Arguments to add to the command."""
    anyway: "bool" = False
    """Run also on a machine that isn't what the task needs by its author's word."""


class Step(Record):
    """One command to run."""

    argv: "tuple[str, ...]"
    """Program and arguments."""
    seed: "int | None"
    """None where the task has no seeds."""
    repeat: "int"
    """Counts from 1."""
    folder: "str"
    """Below the run's folder; `.` for the only step."""
    timeout: "float | None"
    """Seconds."""


def steps(task: Task, request: Request) -> "tuple[Step, ...]":
    """Commands of one observation, or of the part of it that was asked for."""
    if request.smoke:
        if task.smoke is None:
            raise StopError(USAGE, "{} has no smoke run".format(task.id))
        argv = task.smoke.command + request.extra
        return (Step(argv=argv, seed=None, repeat=1, folder=".", timeout=task.smoke.timeout),)
    repeats = range(1, (request.repeat or task.measurement.repeats) + 1)
    wanted = [(seed, repeat) for seed in _seeds(task, request) for repeat in repeats]
    return tuple(
        Step(
            argv=task.command + _seed_words(task, seed) + request.extra,
            seed=seed,
            repeat=repeat,
            folder="." if len(wanted) == 1 else "part-{}".format(number),
            timeout=limit(task),
        )
        for number, (seed, repeat) in enumerate(wanted, 1)
    )


def deviations(task: Task, request: Request) -> "tuple[str, ...]":
    """How the request differs from the task's own observation."""
    found = []
    own = task.seeds.values if task.seeds else ()
    if request.seed is not None and own != (request.seed,):
        defined = ", ".join(str(seed) for seed in own) or "none"
        found.append("seed {} only; the task defines {}".format(request.seed, defined))
    if request.repeat is not None and request.repeat != task.measurement.repeats:
        found.append("repeats: {}; the task defines {}".format(request.repeat, task.measurement.repeats))
    if request.extra:
        found.append("arguments added: " + " ".join(request.extra))
    return tuple(found)


def expected(task: Task) -> "float | None":
    """Seconds that one observation takes by its author's word; None where there is none."""
    time = task.resources.time
    return None if time is None else time * parts(task)


def limit(task: Task) -> "float | None":
    """Seconds after which each of its commands is stopped; None for no limit."""
    time = task.resources.time
    return None if time is None else time * PATIENCE


def combined(task: Task, values: "list[float]") -> float:
    """Value of an observation from those of its parts, in their order."""
    statistic = task.measurement.statistic
    if statistic in ("value", "last"):
        return values[-1]
    if statistic == "best":
        return max(values) if task.measurement.direction == "higher" else min(values)
    return extraction.reduced(values, statistic)


def _seeds(task: Task, request: Request) -> "tuple[int | None, ...]":
    if request.seed is not None:
        if task.seeds is None:
            raise StopError(USAGE, "{} takes no seed".format(task.id), "leave --seed out")
        return (request.seed,)
    return (task.seeds.values if task.seeds else ()) or (None,)


def _seed_words(task: Task, seed: "int | None") -> "tuple[str, ...]":
    if seed is None or task.seeds is None or task.seeds.option is None:
        return ()
    return (task.seeds.option, str(seed))
