"""`extract`: read a task's value again from what a run left behind."""

import os

from reprobridge_launcher import (
    arguments,
    cparts,
    evidence,
    extraction,
    fields,
    manifest,
    outcome,
    plan,
    selection,
    terminal,
)
from reprobridge_launcher.layout import Layout

USAGE = """Usage: extract TASK FOLDER [--json]

Reads the task's value from the folder of a run (stdout.log, stderr.log, outputs/), or of all its parts.
"""
FLAGS = ("--json",)
VALUED = ()  # type: tuple[str, ...]


def execute(layout: Layout, given: arguments.Arguments) -> int:
    """Print the value, or value and places as JSON; exit code 6 if there is none."""
    arguments.none_left(given, 2)
    (task,) = selection.chosen(manifest.load(layout.manifest), given.operands[:1])
    if len(given.operands) < 2 or not os.path.isdir(given.operands[1]):
        raise outcome.StopError(outcome.USAGE, "expected the folder of a run", "extract TASK FOLDER")
    folder = given.operands[1]
    values, places = [], []  # type: list[float], list[object]
    for part in _parts(folder, task):
        found = extraction.extract(task.extract, os.path.join(folder, part))
        if isinstance(found, extraction.NotExtracted):
            raise outcome.StopError(
                outcome.NOT_EXTRACTED, "{}: {}".format(os.path.join(folder, part), found.reason)
            )
        values.append(found.value)
        places.append(
            {"folder": part, "value": found.value, "matches": [fields.form(m) for m in found.matches]}
        )
    value = plan.combined(task, values)
    if given.has("--json"):
        unit = task.measurement.unit
        terminal.out(
            cparts.json_text({"task": task.id, "value": value, "unit": unit, "parts": places}) + "\n"
        )
    else:
        terminal.out("{!r}\n".format(value))
    return outcome.MEASURED


def _parts(folder: str, task: manifest.Task) -> "list[str]":
    """Folders of the parts; the folder itself where there is no record."""
    if not os.path.exists(os.path.join(folder, evidence.NAME)):
        return ["."]
    record = evidence.load(folder)
    if record.task != task.id:
        raise outcome.StopError(
            outcome.USAGE, "{} is a run of {}, not of {}".format(folder, record.task, task.id)
        )
    if record.mode == "smoke":
        terminal.talk("note: this was a smoke run, its value doesn't count\n")
    elif record.state != "finished":
        terminal.talk("note: this run is {}, its value is of a part\n".format(record.state))
    elif record.deviations:
        terminal.talk("note: this run deviates: {}\n".format("; ".join(record.deviations)))
    return [part.folder for part in record.parts] or ["."]
