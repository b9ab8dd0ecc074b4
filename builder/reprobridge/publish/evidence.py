"""Finding what the gate asks for: the validation report and each task's scored evidence.

Evidence lies in the store, where `reprobridge run` kept it, or in a folder that a run wrote, on this machine or
another: FOLDER/<task>/<run>/runner.json.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reprobridge.digest import Digest
from reprobridge.errors import PublishError
from reprobridge.store.store import Store
from reprobridge.system.files import read_named
from reprobridge.validate.kept import kept_report
from reprobridge.validate.model import SCHEMA, Report
from reprobridge.validate.scored import RECORD, Scored, kept_scored, shortcomings
from reprobridge.wording import complaint
from reprobridge_launcher.fields import FormatError
from reprobridge_launcher.manifest import Manifest, Task

_LARGEST = 64 << 20
"""Most bytes of a report or record that is read."""


def find_report(store: Store, image: Digest, file: Path | None) -> Report | None:
    """The report in the file that the user names, else the last one about exactly this image. Raises PublishError."""
    if file is None:
        return kept_report(store, image)
    try:
        return Report.from_json(_of_our_schema(json.loads(read_named(file, _LARGEST))))
    except (OSError, ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise PublishError(
            "the validation report cannot be read",
            where=str(file),
            expected=f"what `reprobridge validate --json` prints, of schema {SCHEMA}",
            found=complaint(error),
        ) from error


def _of_our_schema(value: object) -> object:
    """The value, unless it says another schema. Raises ValueError with what it is instead."""
    match value:
        case {"schema": found} if found == SCHEMA:
            return value
        case {"schema": found}:
            raise ValueError(f"JSON of schema {found}")
    raise ValueError("JSON that says no schema")


def find_evidence(
    store: Store, artifact: Manifest, folders: Sequence[Path], offered: Mapping[str, Scored]
) -> dict[str, Scored]:
    """For each task the best record there is, by the task's id; where none counts, one that does not.

    `offered`: records from elsewhere, by the task's id. Raises PublishError for what is no folder of evidence.
    """
    for folder in folders:
        _require_evidence(folder)
    best: dict[str, Scored] = {}
    for task in artifact.tasks:
        found = [*_records(store, artifact, task, folders), *filter(None, [offered.get(task.id)])]
        if (scored := _best(found, artifact, task)) is not None:
            best[task.id] = scored
    return best


def _require_evidence(folder: Path) -> None:
    if next(folder.glob(f"*/*/{RECORD}"), None) is None:
        raise PublishError(
            "there is no evidence",
            where=str(folder),
            expected=f"a folder that `reprobridge run` wrote: TASK/RUN/{RECORD}",
            found="a folder without one" if folder.is_dir() else "a file" if folder.exists() else "nothing",
            hint="`reprobridge run --out FOLDER` writes one",
        )


def _best(found: Sequence[Scored], artifact: Manifest, task: Task) -> Scored | None:
    """A value before a failure before what does not count; the later of two alike."""

    def rank(scored: Scored) -> tuple[bool, bool, float]:
        counts = not shortcomings(scored.record, artifact, task)
        return (counts, scored.record.value is not None, scored.record.start)

    return max(found, key=rank, default=None)


def _records(store: Store, artifact: Manifest, task: Task, folders: Sequence[Path]) -> Iterator[Scored]:
    if kept := kept_scored(store, artifact, task):
        yield kept
    for folder in folders:
        for path in sorted((folder / task.id).glob(f"*/{RECORD}")):
            try:
                yield Scored.parse(read_named(path, _LARGEST))
            except (FormatError, OSError, ValueError, TypeError, RecursionError) as error:
                raise PublishError(
                    "a record of a run cannot be read",
                    where=str(path),
                    expected="a runner's record",
                    found=str(error),
                ) from error
