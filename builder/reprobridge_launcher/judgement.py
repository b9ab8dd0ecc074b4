"""What a finished run is worth: the comparison of its value, or the reason why there is none."""

import os

from reprobridge_launcher import evidence, interval, references
from reprobridge_launcher.layout import Layout
from reprobridge_launcher.manifest import Task

ERROR_WORDS = ("error", "exception", "fatal", "killed", "no such file", "not found", "denied", "traceback")
"""What the first lines of a failure look like, in lower case."""
OUT_OF_RESOURCES = (
    "memoryerror",
    "out of memory",
    "no space left",
    "file too large",
    "cannot allocate memory",
)
"""What a failure for want of memory or disk says, in lower case."""
READ = 1 << 18
"""Bytes at the end of a log that are searched for errors."""


def comparison(layout: Layout, task: Task, value: float) -> evidence.Comparison:
    """Hold a value against the published one and, where there are references, against their interval."""
    reference = references.load(layout.references).get(task.id)
    published = task.published.value if task.published else None
    if reference is None:
        return evidence.Comparison(published=published)
    span = interval.derive(reference.observations, reference.policy)
    verdict = interval.compare(value, span, task.published.decimals if task.published else None)
    return evidence.Comparison(
        published=published,
        verdict=verdict.verdict,
        low=span.low,
        high=span.high,
        n=span.n,
        policy=span.policy,
        kind=span.kind,
        relative_half_width=span.relative_half_width,
        low_power=span.low_power,
        cut=span.cut,
        degenerate=span.degenerate,
        rounding_only=verdict.rounding_only,
        published_in_interval=None if published is None else interval.compare(published, span).compatible,
    )


def failure(part: evidence.Part, folder: str) -> evidence.Failure:
    """Say why a part gave no value, or why no further part was run."""
    lines = error_lines(os.path.join(folder, part.folder))
    return evidence.Failure(class_=_class(part, lines), message=_message(part), lines=lines)


def error_lines(place: str) -> "tuple[str, ...]":
    """At most five lines of a part's logs that look like errors, else the last line."""
    text = "".join(_tail(os.path.join(place, name)) for name in ("stderr.log", "stdout.log"))
    lines = [line.strip()[:300] for line in text.splitlines() if line.strip()]
    found = [line for line in lines if any(word in line.lower() for word in ERROR_WORDS)]
    return tuple(found[:5] or lines[-1:])


def _tail(path: str) -> str:
    if not os.path.isfile(path):  # a task may have put a pipe there, whose end never comes
        return ""
    try:
        with open(path, "rb") as stream:
            stream.seek(max(os.path.getsize(path) - READ, 0))
            return stream.read(READ).decode("utf-8", "backslashreplace") + "\n"
    except OSError:
        return ""


def _class(part: evidence.Part, lines: "tuple[str, ...]") -> "evidence.FailureClass":
    if part.interrupted is not None or part.value is not None:
        return "infrastructure"
    said = (part.problem or "", *lines)
    if part.timed_out or any(word in line.lower() for line in said for word in OUT_OF_RESOURCES):
        return "resource_or_access"
    if part.exit_code == 0 and part.problem is None:
        return "extraction_error"
    return "execution_blocked"


def _message(part: evidence.Part) -> str:
    if part.interrupted is not None or part.value is not None:
        return "stopped by signal {} to the launcher".format(part.interrupted or "")
    if part.problem is not None:
        return part.problem
    if part.timed_out:
        return "stopped after its limit of {:g} s".format(part.timeout or 0)
    if part.signal is not None:
        killed = " (SIGKILL: often the kernel, for want of memory)" if part.signal == 9 else ""
        return "ended by signal {}{}".format(part.signal, killed)
    if part.exit_code != 0:
        return "ended with exit status {}".format(part.exit_code)
    return part.no_value or "no value"
