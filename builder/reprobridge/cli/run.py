"""`reprobridge run`: run an image's tasks in the sandbox, with a record of our own beside the launcher's."""

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.cli.doors import Doors

if TYPE_CHECKING:
    from reprobridge.validate.runner import RunResult
    from reprobridge.validate.shell import CleanShell
    from reprobridge.validate.subject import Subject
    from reprobridge_launcher.manifest import Task

NAME = "run"
SUMMARY = "run tasks of an image in a sandbox and measure them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument(
        "words",
        nargs="+",
        metavar="[DIR|oci:PATH|IMAGE] TASK",
        help="the image (default: the artifact here) and tasks to run",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="only this seed: shown, never compared")
    parser.add_argument("--repeat", type=int, metavar="N", help="so many repeats: shown, never compared")
    parser.add_argument(
        "--out", type=Path, default=Path("out"), metavar="DIR", help="evidence (default: out)"
    )
    parser.add_argument(
        "--sandbox", metavar="KIND", help="bubblewrap, podman or docker (default: the first that works)"
    )
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Run each task; the exit status is that of the first without a value."""
    from reprobridge.cli.images import names_image, open_image
    from reprobridge.sandbox.choose import choose, every_sandbox
    from reprobridge.validate.shell import CleanShell
    from reprobridge.validate.subject import open_subject

    first, *rest = arguments.words
    image, tasks = (first, rest) if names_image(first) else (".", arguments.words)
    parts = open_image(image, doors)
    with doors.store.working():
        sandboxes = every_sandbox(doors.store, doors.processes, as_root=os.geteuid() == 0)
        subject = open_subject(parts, doors.store)
        shell = CleanShell(subject, choose(sandboxes, arguments.sandbox))
        chosen = _chosen(subject, tasks)
        done = [(task, _run(shell, task, arguments)) for task in chosen]
    _print(done, arguments, doors)
    return next((result.exit_code for _, result in done if result.exit_code), 0)


def _chosen(subject: "Subject", names: list[str]) -> "list[Task]":
    from reprobridge.errors import UsageError

    tasks = {task.id: task for task in subject.artifact.tasks}
    unknown = [name for name in names if name not in tasks]
    if unknown or not names:
        raise UsageError(
            "no such task" if unknown else "no task named",
            expected=f"one of {', '.join(tasks)}",
            found=", ".join(unknown) or "nothing",
        )
    return [tasks[name] for name in names]


def _run(shell: "CleanShell", task: "Task", arguments: argparse.Namespace) -> "RunResult":
    from reprobridge.sandbox.model import STRANGER
    from reprobridge.validate.runner import RunRequest, run_task
    from reprobridge_launcher.plan import Request

    request = RunRequest(
        task=task,
        options=Request(seed=arguments.seed, repeat=arguments.repeat),
        out=arguments.out,
        # An engine's files belong to the user inside: to ours, so that we can take them.
        user=os.geteuid() or STRANGER,
        show=_show,
    )
    return run_task(shell, request)


def _show(block: bytes) -> None:
    """What a task prints is talk here: standard output is for the results."""
    sys.stderr.buffer.write(block)
    sys.stderr.flush()


def _print(done: "list[tuple[Task, RunResult]]", arguments: argparse.Namespace, doors: Doors) -> None:
    from reprobridge_launcher import campaign

    values: list[dict[str, object]] = []
    for task, result in done:
        place = {"evidence": str(result.folder), "exit_code": result.exit_code}
        if result.record is None:
            values.append({"task": task.id, "value": None, "failure": result.problem, **place})
            text = f"{task.id}: no value\n  {result.problem}\n"
        else:
            values.append({**campaign.result(task, result.record), "witness": "runner", **place})
            text = campaign.report(task, result.record, str(result.folder))
        if not arguments.json:
            doors.out.write(text)
    if arguments.json:
        import json

        print(json.dumps({"schema": campaign.SCHEMA, "results": values}, indent=1), file=doors.out)
