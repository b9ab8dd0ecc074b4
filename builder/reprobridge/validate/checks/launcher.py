"""The launcher's contract: commands, JSON, exit codes, as the reference of the launcher says."""

import json
from collections.abc import Iterator

from reprobridge.system.processes import Completed
from reprobridge.validate.model import Finding, judged
from reprobridge.validate.shell import CleanShell
from reprobridge.wording import counted
from reprobridge_launcher import fitness, outcome

UNKNOWN_TASK = "no-such-task"
"""A task that no artifact has: ids begin with a letter, and this one is reserved by the check."""
MACHINE = frozenset({*fitness.IDS, "tmp"})
"""Findings of the launcher's `check` that speak of the machine and not of the image."""


def check_launcher(shell: CleanShell) -> Finding:
    """Run every command that measures nothing."""
    artifact = shell.subject.artifact
    tasks = [task.id for task in artifact.tasks]
    problems = [
        *_listing(shell, tasks),
        *(problem for task in tasks for problem in _show(shell, task)),
        *_refusals(shell),
        *_documents(shell),
        *_environment(shell),
        *_own_check(shell),
    ]
    return judged(
        problems,
        f"{counted(len(tasks), 'task')} listed and shown; env, check, documents and exit codes as documented",
    )


def _listing(shell: CleanShell, tasks: list[str]) -> Iterator[str]:
    plain = shell.launcher()
    yield from _ended("without a command", plain, outcome.MEASURED)
    if plain.returncode == 0:
        missing = [task for task in tasks if task.encode() not in plain.stdout]
        yield from (f"without a command: expected the task {task} in the list" for task in missing)
    machine = shell.launcher("list", "--json")
    yield from _ended("list --json", machine, outcome.MEASURED)
    value = _json(machine)
    listed = [item.get("id") for item in value.get("tasks", [])] if isinstance(value, dict) else None
    if machine.returncode == 0 and listed != tasks:
        yield f"list --json: expected the tasks {', '.join(tasks)}, found {listed}"


def _show(shell: CleanShell, task: str) -> Iterator[str]:
    shown = shell.launcher("show", task, "--json")
    yield from _ended(f"show {task} --json", shown, outcome.MEASURED)
    value = _json(shown)
    if shown.returncode == 0 and (not isinstance(value, dict) or value.get("id") != task):
        yield f"show {task} --json: expected the task as a JSON object"


def _refusals(shell: CleanShell) -> Iterator[str]:
    yield from _ended(f"show {UNKNOWN_TASK}", shell.launcher("show", UNKNOWN_TASK), outcome.USAGE)
    yield from _ended(f"run {UNKNOWN_TASK}", shell.launcher("run", UNKNOWN_TASK), outcome.USAGE)
    yield from _ended("an unknown command", shell.launcher("no-such-command"), outcome.USAGE)


def _documents(shell: CleanShell) -> Iterator[str]:
    for command in ("guide", "changes", "decisions"):
        shown = shell.launcher(command)
        yield from _ended(command, shown, outcome.MEASURED)
        if shown.returncode == 0 and not shown.stdout.strip():
            yield f"{command}: expected text, found nothing"


def _environment(shell: CleanShell) -> Iterator[str]:
    shown = shell.launcher("env", "--json")
    yield from _ended("env --json", shown, outcome.MEASURED)
    value = _json(shown)
    python = shell.subject.artifact.environment.python
    if shown.returncode == 0 and (not isinstance(value, dict) or value.get("python") != python):
        yield f"env --json: expected the interpreter {python}"


def _own_check(shell: CleanShell) -> Iterator[str]:
    """The launcher's `check`: what it finds about the image must be good, what it finds about the machine may not."""
    checked = shell.launcher("check", "--json", timeout=600)
    value = _json(checked)
    findings = value.get("findings") if isinstance(value, dict) else None
    if not isinstance(findings, list) or not findings:
        yield f"check --json: expected findings, found {_shown(checked)}"
        return
    failed = [finding for finding in findings if finding.get("verdict") == "failed"]
    expected = failed[0].get("code") if failed else outcome.MEASURED
    if checked.returncode != expected:
        yield f"check --json: expected exit status {expected}, found {checked.returncode}"
    for finding in failed:
        if finding.get("id") not in MACHINE and not str(finding.get("id")).startswith("data "):
            yield f"check: {finding.get('id')}: {finding.get('detail')}"


def _ended(what: str, ended: Completed, expected: int) -> Iterator[str]:
    if ended.returncode != expected:
        yield f"{what}: expected exit status {expected}, found {_shown(ended)}"


def _shown(ended: Completed) -> str:
    status = "a time-out" if ended.timed_out else str(ended.returncode)
    return f"{status} ({ended.failure})" if ended.stderr.strip() else status


def _json(ended: Completed) -> object:
    try:
        return json.loads(ended.stdout)
    except ValueError:
        return None
