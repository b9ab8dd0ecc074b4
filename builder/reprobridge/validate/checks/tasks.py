"""Does every task start and measure, and for every user? The scored commands are only looked at (`commands.py`)."""

import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from reprobridge.frozen import frozen
from reprobridge.sandbox.model import STRANGER
from reprobridge.system.processes import Completed, cores
from reprobridge.validate.checks.commands import command_problems
from reprobridge.validate.model import Finding, Verdict, judged
from reprobridge.validate.shell import ANY_USER, CleanShell
from reprobridge.validate.subject import CODE
from reprobridge_launcher.manifest import Task

GRACE = 60.0
"""Seconds that the launcher may take besides the smoke runs, each of which it stops itself."""
SHOWN = 12
"""Last lines of standard error that the evidence shows of a failed task, where few have failed."""
SHOWN_LEAST = 3
"""The same where many have."""
SHOWN_TOGETHER = 48
"""Lines that all failed tasks share."""
WIDTH = 300
"""Characters of each such line."""
FOREIGN = "note: no folder of the host is mounted"
"""How the launcher's note begins that is meant for readers who start a container: here nothing is to be kept."""
STOPPED = "rra: "
"""How the launcher's line begins that says what stops it; hints follow."""

_CHANGING = ("memory", "disk")


@frozen
class SmokeRuns:
    """What the launcher says of all smoke runs."""

    values: Mapping[str, float]
    """By task."""
    failures: Mapping[str, str]
    """Why there is none, by task."""
    talk: Mapping[str, tuple[str, ...]]
    """The last lines of standard error, where tasks say what is wrong, by task."""


def check_smoke(shell: CleanShell) -> Finding:
    """Run every task's smoke command by the launcher and look for its value; look at its scored command."""
    tasks = shell.subject.artifact.tasks
    runs = run_smoke(shell, tasks, STRANGER)
    problems = [f"{task.id}: expected a smoke run, found none declared" for task in tasks if not task.smoke]
    problems += command_problems(shell)
    problems += [
        f"{task.id}: checkpoints: expected a trained model at /{CODE}/{path}, found none"
        for task in tasks
        for path in task.checkpoints
        if f"{CODE}/{path}" not in shell.subject.root
    ]
    values = ", ".join(f"{task} {value:.6g}" for task, value in runs.values.items())
    return _judged(tasks, runs, problems, f"values of the smoke runs (they never count): {values}")


def check_any_user(shell: CleanShell) -> Finding:
    """Repeat the launcher's check and the smoke runs as a user that no image knows."""
    tasks = shell.subject.artifact.tasks
    differences = list(_other_check(shell))
    runs = run_smoke(shell, tasks, ANY_USER)
    return _judged(tasks, runs, differences, f"check and {len(runs.values)} smoke runs as user {ANY_USER}")


def run_smoke(shell: CleanShell, tasks: tuple[Task, ...], user: int) -> SmokeRuns:
    """Run all smoke commands as a user, each in a sandbox of its own, as many at once as there are cores."""
    able = [task for task in tasks if task.smoke]
    with ThreadPoolExecutor(cores()) as pool:
        runs = list(pool.map(lambda task: _run_one(shell, task, user), able))
    return SmokeRuns(
        {task: value for run in runs for task, value in run.values.items()},
        {task: why for run in runs for task, why in run.failures.items()},
        {task: lines for run in runs for task, lines in run.talk.items()},
    )


def _run_one(shell: CleanShell, task: Task, user: int) -> SmokeRuns:
    limit = (task.smoke.timeout if task.smoke else 0) + GRACE
    ended = shell.launcher("smoke", task.id, "--json", user=user, timeout=limit)
    talk = {task.id: _last_lines(task, ended.stderr)}
    try:
        results = json.loads(ended.stdout)["results"]
        values = {item["task"]: float(item["value"]) for item in results if item["value"] is not None}
        failures = {item["task"]: str(item["failure"]) for item in results if item["value"] is None}
        return SmokeRuns(values, failures, talk)
    except (ValueError, KeyError, TypeError):
        return SmokeRuns({}, {task.id: f"the launcher gives no results: {_reason(ended)}"}, talk)


def _reason(ended: Completed) -> str:
    """What the launcher says is wrong, without its hints, which are for whoever starts a container; else how it ended."""
    lines = ended.stderr.decode("utf-8", "replace").splitlines()
    said = [line.removeprefix(STOPPED) for line in lines if line.startswith(STOPPED)]
    return said[-1] if said and not ended.timed_out else ended.failure


def _last_lines(task: Task, stderr: bytes) -> tuple[str, ...]:
    """What the task itself said last: the launcher's own report on it, which ends the stream, is told already."""
    lines = [line.rstrip() for line in stderr.decode("utf-8", "replace").splitlines()]
    report = f"{task.id}: {task.measurement.name}: no value"
    if report in lines:
        del lines[len(lines) - 1 - lines[::-1].index(report) :]
    told = [line[:WIDTH] for line in lines if line and not line.startswith(FOREIGN)]
    return tuple(told[-SHOWN:])


def _judged(tasks: tuple[Task, ...], runs: SmokeRuns, problems: list[str], otherwise: str) -> Finding:
    """Failed with all problems; not run when all that is missing are GPUs."""
    lacking = [task for task in tasks if task.smoke and task.id not in runs.values]
    unfit = [
        f"{_no_value(task, runs)}; it needs {task.resources.gpus} GPUs, and the clean shell has none"
        for task in lacking
        if task.resources.gpus
    ]
    if unfit and not problems and all(task.resources.gpus for task in lacking):
        return Finding(Verdict.NOT_RUN, tuple(unfit))
    shown = max(SHOWN_LEAST, min(SHOWN, SHOWN_TOGETHER // max(1, len(lacking))))
    failed = [
        line
        for task in lacking
        if not task.resources.gpus
        for line in (_no_value(task, runs), *(f"  {line}" for line in runs.talk.get(task.id, ())[-shown:]))
    ]
    return judged([*problems, *failed, *unfit], otherwise)


def _no_value(task: Task, runs: SmokeRuns) -> str:
    return f"{task.id}: no value: {runs.failures.get(task.id, 'the launcher says nothing of it')}"


def _other_check(shell: CleanShell) -> Iterator[str]:
    usual, other = (_verdicts(shell, user) for user in (STRANGER, ANY_USER))
    for name, verdict in usual.items():
        if other.get(name) != verdict:
            yield f"check: {name} {verdict} as the usual user, {other.get(name, 'missing')} as user {ANY_USER}"


def _verdicts(shell: CleanShell, user: int) -> dict[str, str]:
    """The launcher's findings by name, without those on the machine's memory and disk, which change."""
    ended = shell.launcher("check", "--json", user=user, timeout=600)
    try:
        findings = json.loads(ended.stdout)["findings"]
        return {str(item["id"]): str(item["verdict"]) for item in findings if item["id"] not in _CHANGING}
    except (ValueError, KeyError, TypeError):
        return {"output": ended.failure}
