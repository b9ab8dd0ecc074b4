"""The manifest's format: read into frozen records, or refused with the place."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reprobridge_launcher.fields import FormatError
from reprobridge_launcher.manifest import form, load, parse, parts
from support.launcher_artifact import manifest, task


def test_a_manifest_is_read_into_records() -> None:
    made = parse(manifest(task(seeds={"option": "--seed", "values": [0, 1]}) | statistic("mean")))
    (read,) = made.tasks
    assert (made.paper.id, made.changes[0].class_, made.environment.variables) == (
        "wine",
        "execution_repair",
        (("OMP_NUM_THREADS", "1"),),
    )
    assert (read.command, read.seeds and read.seeds.values, read.extract.kind) == (
        ("python", "run.py"),
        (0, 1),
        "regex",
    )
    assert made.decisions.ambiguities[0].sensitivity.level == "low"


def test_what_is_written_reads_as_the_same() -> None:
    made = parse(manifest(task(), task(id="qda", smoke=None, published=None)))
    assert parse(json.loads(json.dumps(form(made)))) == made


def statistic(name: str, **more: object) -> dict[str, Any]:
    return {"measurement": task()["measurement"] | {"statistic": name} | more}


def test_parts_are_seeds_times_repeats() -> None:
    seeds = {"option": None, "values": [3, 4, 5]}
    made = parse(manifest(task(seeds=seeds) | statistic("median", repeats=2)))
    assert parts(made.tasks[0]) == 6


def change(*path: str | int, to: object) -> Callable[[dict[str, Any]], None]:
    """Set, or remove with `to=...`, the value at a path."""

    def apply(document: dict[str, Any]) -> None:
        inner: Any = document
        for key in path[:-1]:
            inner = inner[key]
        if to is ...:
            del inner[path[-1]]
        else:
            inner[path[-1]] = to

    return apply


@pytest.mark.parametrize(
    ("wrong", "place", "expected", "found"),
    [
        (change("schema", to="reprobridge.manifest/2"), "schema", "reprobridge.manifest/1", "manifest/2"),
        (change("paper", to=...), "paper", "an object", "nothing"),
        (change("paper", to=[]), "paper", "an object", "[]"),
        (change("paper", "title", to=3), "paper.title", "text", "3"),
        (change("paper", "year", to="1992"), "paper.year", "a whole number", "'1992'"),
        (change("paper", "isbn", to="x"), "paper.isbn", "one of the keys id, title", "'x'"),
        (change("source", "kind", to="svn"), "source.kind", "one of git, archive, pypi, path", "'svn'"),
        (change("tasks", 0, "command", to=[]), "tasks[0].command", "at least one word", "none"),
        (change("tasks", 0, "command", to="run"), "tasks[0].command", "a list", "'run'"),
        (change("tasks", 0, "command", 1, to=None), "tasks[0].command[1]", "text", "null"),
        (change("tasks", 0, "published", "value", to=True), "tasks[0].published.value", "a number", "true"),
        (
            change("tasks", 0, "published", "value", to=1e999),
            "tasks[0].published.value",
            "a finite number",
            "inf",
        ),
        (
            change("tasks", 0, "published", "range", to=[1]),
            "tasks[0].published.range",
            "lower and upper",
            "1",
        ),
        (
            change("tasks", 0, "resources", "memory", to=-1),
            "tasks[0].resources.memory",
            "a whole number",
            "-1",
        ),
        (
            change("tasks", 0, "extract", "regex", to="("),
            "tasks[0].extract.regex",
            "a regular expression",
            "'('",
        ),
        (
            change("tasks", 0, "measurement", "repeats", to=0),
            "tasks[0].measurement.repeats",
            "at least 1",
            "0",
        ),
        (
            change("tasks", 0, "measurement", "repeats", to=2),
            "tasks[0].measurement.statistic",
            "2 parts",
            "value",
        ),
        (change("environment", "variables", to={"A": 1}), "environment.variables.A", "text", "1"),
        (change("decisions", to=None), "decisions", "an object", "nothing"),
    ],
)
def test_what_is_wrong_is_said_with_place_expected_and_found(
    wrong: Callable[[dict[str, Any]], None], place: str, expected: str, found: str
) -> None:
    document = copy.deepcopy(manifest())
    wrong(document)
    with pytest.raises(FormatError) as caught:
        parse(document)
    assert caught.value.place == place
    assert expected in caught.value.expected
    assert found in caught.value.found


def test_two_tasks_of_one_id_are_refused() -> None:
    with pytest.raises(FormatError, match=r"tasks\[1\].id: expected an id of its own, found 'lda'"):
        parse(manifest(task(), task()))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"schema": 1, "schema": 1}'])
def test_a_broken_file_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_text(text)
    with pytest.raises(FormatError, match="expected"):
        load(str(path))
