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
    folder = _folder(given)
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


def _folder(given: arguments.Arguments) -> str:
    """Folder of the run that the command line names; StopError where there is none."""
    if len(given.operands) < 2:
        raise outcome.StopError(outcome.USAGE, "expected the folder of a run", "extract TASK FOLDER")
    folder = given.operands[1]
    if not os.path.isdir(folder):
        said = "{} is no folder" if os.path.exists(folder) else "{} doesn't exist"
        hint = "the folder of a run as the container sees it: docker run -v FOLDER:/out:ro"
        raise outcome.StopError(outcome.USAGE, said.format(folder), hint)
    return folder


def _record(folder: str) -> evidence.Evidence:
    """Record of a run; one that is broken is no fault of the image."""
    path = os.path.join(folder, evidence.NAME)
    try:
        return evidence.load(folder)
    except fields.FormatError as error:
        place = path if error.place == path else "{}: {}".format(path, error.place or "document")
        said = "{}: expected {}, found {}".format(place, error.expected, error.found)
        hint = "the record of this run is broken, or another release wrote it: run the task again"
        raise outcome.StopError(outcome.NOT_EXTRACTED, said, hint) from None


def _parts(folder: str, task: manifest.Task) -> "list[str]":
    """Folders of the parts; the folder itself where there is no record."""
    if not os.path.exists(os.path.join(folder, evidence.NAME)):
        return ["."]
    record = _record(folder)
    if record.task != task.id:
        raise outcome.StopError(
            outcome.USAGE, "{} is a run of {}, not of {}".format(folder, record.task, task.id)
        )
    if record.mode == "smoke":
        terminal.talk("note: this was a smoke run, its value doesn't count\n")
    elif record.state != "finished":
        terminal.talk("note: this run is {}, its value is of a part\n".format(record.state))
    elif record.failure is not None:
        terminal.talk("note: this run gave no value: {}\n".format(record.failure.message))
    elif record.deviations:
        terminal.talk("note: this run deviates: {}\n".format("; ".join(record.deviations)))
    return [part.folder for part in record.parts] or ["."]
