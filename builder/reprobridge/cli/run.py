"""`reprobridge run`: run an image's tasks in the sandbox, with a record of our own beside the launcher's."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.cli.doors import Doors
from reprobridge.cli.streams import show_printed
from reprobridge.cli.values import count, path_word, whole_number
from reprobridge.errors import UsageError, ValidateError
from reprobridge.system import files

if TYPE_CHECKING:
    from reprobridge.validate.runner import RunResult
    from reprobridge.validate.shell import CleanShell
    from reprobridge_launcher.manifest import Task

NAME = "run"
SUMMARY = "run tasks of an image in a sandbox and measure them"


HELD = 64 << 10
"""Bytes that are held back at most: no report of the launcher is longer."""
_ROOM = 64 << 10  # the least evidence is a few files


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument(
        "image", nargs="?", metavar="DIR|oci:PATH|IMAGE", help="the image (default: the artifact here)"
    )
    parser.add_argument(
        "tasks",
        nargs="*",
        metavar="TASK",
        help="tasks to run; without one, or --all, none runs, and the error names them",
    )
    parser.add_argument("--all", action="store_true", help="run every task")
    parser.add_argument(
        "--seed", type=whole_number, metavar="N", help="only this seed: shown, never compared"
    )
    parser.add_argument("--repeat", type=count, metavar="N", help="so many repeats: shown, never compared")
    parser.add_argument(
        "--anyway",
        action="store_true",
        help="run also on a machine that lacks what the task needs by its author's word; recorded",
    )
    parser.add_argument(
        "--out", type=path_word, default=Path("out"), metavar="DIR", help="evidence (default: out)"
    )
    parser.add_argument(
        "--sandbox", metavar="KIND", help="bubblewrap, podman or docker (default: the first that works)"
    )
    parser.add_argument("--json", action="store_true", help="print the results as JSON")


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Run each task; the exit status is that of the first without a value."""
    from reprobridge.cli.images import open_image
    from reprobridge.sandbox.choose import choose, every_sandbox
    from reprobridge.validate.shell import CleanShell
    from reprobridge.validate.subject import open_subject

    image, names = _meant(arguments.image or ".", arguments.tasks)
    _refuse_early(image, names, arguments)
    _require_room(arguments.out)
    parts = open_image(image, doors)
    with doors.store.working():
        sandboxes = every_sandbox(doors.store, doors.processes, as_root=os.geteuid() == 0)
        subject = open_subject(parts, doors.store)
        subject.require_ours()
        every = {task.id: task for task in subject.artifact.tasks}
        chosen = _chosen(tuple(every), names, arguments)
        shell = CleanShell(subject, choose(sandboxes, arguments.sandbox))
        done: list[tuple[Task, RunResult]] = []
        for name in chosen:
            done.append(_run(shell, every[name], arguments, doors))
            if done[-1][1].unwritten is not None:
                break
    if arguments.json:
        _print_json(done, doors)
    unwritten = done[-1][1].unwritten
    if unwritten is not None:  # told after what was measured
        raise unwritten
    return next((result.exit_code for _, result in done if result.exit_code), 0)


def _meant(first: str, others: list[str]) -> tuple[str, list[str]]:
    """The image and the tasks that the words name; the first may be a task of the artifact here.

    Where there is no artifact, a folder, or a word with tasks behind it, can only be meant as an image.
    """
    from reprobridge.cli.images import is_artifact, names_image

    if names_image(first) or (not is_artifact(".") and (others or Path(first).is_dir())):
        return first, others
    return ".", [first, *others]


def _require_room(out: Path) -> None:
    """Raises ValidateError, before anything is measured or made, where no evidence can be written."""
    try:
        with files.unfinished(_nearest(out.absolute())) as (_, stream):
            stream.write(bytes(_ROOM))
    except OSError as error:
        raise ValidateError(
            "the evidence cannot be written",
            where=str(out),
            expected="a folder that may be written, with room",
            found=error.strerror or str(error),
            hint="make room, or name another one: --out DIR",
        ) from error


def _nearest(out: Path) -> Path:
    """What is there of a path: itself, or the folder in which the rest of it will be made."""
    return next(place for place in (out, *out.parents) if place.exists() or place.is_symlink())


def _refuse_early(image: str, names: list[str], arguments: argparse.Namespace) -> None:
    """Raises UsageError for tasks that an artifact's folder does not have, before it is built."""
    if Path(image).is_dir():
        from reprobridge.spec.parse import read_spec

        _chosen(tuple(task.id for task in read_spec(Path(image)).tasks), names, arguments)


def _chosen(every: tuple[str, ...], names: list[str], arguments: argparse.Namespace) -> tuple[str, ...]:
    """The tasks to run. Raises UsageError."""
    if arguments.all and names:
        raise UsageError("--all and names of tasks exclude each other", found=", ".join(names))
    unknown = [name for name in names if name not in every]
    if unknown or not (names or arguments.all):
        raise UsageError(
            "no such task" if unknown else "no task named",
            expected=f"one of {', '.join(every)}",
            found=", ".join(unknown) or "nothing",
            hint="name tasks behind the image, or take all of them with --all",
        )
    return every if arguments.all else tuple(names)


def _run(
    shell: "CleanShell", task: "Task", arguments: argparse.Namespace, doors: Doors
) -> "tuple[Task, RunResult]":
    """Run a task, and say how it went as soon as it has ended."""
    from reprobridge.sandbox.model import STRANGER
    from reprobridge.validate.runner import RunRequest, run_task
    from reprobridge_launcher.plan import Request

    show = _ignore if doors.quiet else show_printed
    output = TaskOutput(task.id, show)
    request = RunRequest(
        task=task,
        options=Request(seed=arguments.seed, repeat=arguments.repeat, anyway=arguments.anyway),
        out=arguments.out,
        # An engine's files belong to the user inside: to ours, so that we can take them.
        user=os.geteuid() or STRANGER,
        show=(output, show),
    )
    result = run_task(shell, request)
    output.close(is_replaced=result.record is not None and not arguments.json)
    if not arguments.json:
        doors.out.write(_report(task, result))
        doors.out.flush()
    return task, result


def _ignore(block: bytes) -> None:
    del block


class TaskOutput:
    """A launcher's standard output on its way to whoever watches, without the report at its end.

    The report is printed once, as the runner has it: the launcher's is held back from its first line on (`lda: …`,
    then indented lines), and shown after all when nothing takes its place.
    """

    def __init__(self, task: str, show: Callable[[bytes], object]) -> None:
        self._first = f"{task}: ".encode()
        self._show = show
        self._held = b""
        self._inside_line = False

    def __call__(self, block: bytes) -> None:
        """Take the next bytes."""
        data = self._held + block
        end = self._report(data) if len(data) <= HELD else len(data)
        self._pass_on(data[:end])
        self._held = data[end:]

    def close(self, *, is_replaced: bool) -> None:
        """There are no more; show what was held back unless it is replaced."""
        if not is_replaced:
            self._pass_on(self._held)
        self._held = b""

    def _pass_on(self, data: bytes) -> None:
        if data:
            self._show(data)
            self._inside_line = not data.endswith(b"\n")

    def _report(self, data: bytes) -> int:
        """Where what may be a report begins; the data's end where nothing may be one."""
        place, start = 0, None
        for number, line in enumerate(data.split(b"\n")):
            is_whole = place + len(line) < len(data)
            begins = line.startswith(self._first) or (not is_whole and self._first.startswith(line))
            if begins and not (number == 0 and self._inside_line):
                start = place if line or start is None else start
            elif not line.startswith(b" "):
                start = None
            place += len(line) + is_whole
        return len(data) if start is None else start


def _report(task: "Task", result: "RunResult") -> str:
    """How a run went, for people."""
    from reprobridge_launcher import campaign

    if result.record is None:
        return f"{task.id}: no value\n  {result.problem}\n"
    return campaign.report(task, result.record, str(result.folder))


def _print_json(done: "list[tuple[Task, RunResult]]", doors: Doors) -> None:
    import json

    from reprobridge_launcher import campaign

    values: list[dict[str, object]] = []
    for task, result in done:
        place = {"evidence": str(result.folder), "exit_code": result.exit_code}
        if result.record is None:
            values.append({"task": task.id, "value": None, "failure": result.problem, **place})
        else:
            values.append({**campaign.result(task, result.record), "witness": result.record.witness, **place})
    print(json.dumps({"schema": campaign.SCHEMA, "results": values}, indent=1), file=doors.out)
