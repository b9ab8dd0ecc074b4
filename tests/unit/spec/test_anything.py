"""Whatever stands in the file: a specification or problems, never another exception; each fault at its place."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reprobridge.errors import SpecError
from reprobridge.spec.document import DOCUMENT
from reprobridge.spec.model import Spec
from reprobridge.spec.parse import read_spec
from reprobridge.spec.shapes import ListOf, Record, Shape, Variants
from support.artifact_on_disk import FILES, FULL, TEMPLATES, ArtifactOnDisk

Path_ = tuple[str | int, ...]
"""Keys and numbers that lead to a value."""

ANY_FOLDER = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None
)


def mappings(value: object, path: Path_ = ()) -> Iterator[tuple[Path_, dict[str, Any]]]:
    """Every mapping in a value, with the way to it."""
    if isinstance(value, dict):
        yield path, value
        for key, item in value.items():
            yield from mappings(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from mappings(item, (*path, number))


def at(value: Any, path: Path_) -> Any:
    """What a way leads to."""
    for step in path:
        value = value[step]
    return value


def records(shape: Shape[object], value: object, path: Path_ = ()) -> Iterator[tuple[Path_, Record[object]]]:
    """Every record of the format that a valid value has, with the way to it."""
    match shape:
        case Record():
            assert isinstance(value, dict)
            yield path, shape
            for key, item in value.items():
                yield from records(shape.keys[key].shape, item, (*path, key))
        case Variants():
            assert isinstance(value, dict)
            kind = next(name for name in shape.records if name in value)
            yield from records(shape.records[kind], value, path)
        case ListOf():
            assert isinstance(value, list)
            for number, item in enumerate(value):
                yield from records(shape.item, item, (*path, number))


RECORDS = list(records(DOCUMENT, FULL))
KEYS = [(path, key) for path, record in RECORDS for key in record.keys if key in at(FULL, path)]
REQUIRED = [(path, key) for path, record in RECORDS for key, rule in record.keys.items() if rule.required]
UNIONS: list[Path_] = [("source",), ("tasks", 0, "extract")]
"""Mappings that one of their keys tells apart: without it the mapping's own place is named."""


def test_the_sample_has_every_key_of_the_format() -> None:
    missing = [(path, key) for path, record in RECORDS for key in record.keys if key not in at(FULL, path)]
    assert missing == []


@pytest.mark.parametrize(("path", "key"), REQUIRED)
def test_a_missing_key_is_named(artifact: ArtifactOnDisk, path: Path_, key: str) -> None:
    del at(artifact.spec, path)[key]
    assert any(names(problem.where, path, key) for problem in artifact.problems())


@pytest.mark.parametrize(("path", "key"), KEYS)
def test_a_renamed_key_is_named(artifact: ArtifactOnDisk, path: Path_, key: str) -> None:
    target = at(artifact.spec, path)
    target[f"{key}x"] = target.pop(key)
    assert any(names(problem.where, path, f"{key}x") for problem in artifact.problems())


@pytest.mark.parametrize("wrong", [[[]], {"unexpected": [[]]}], ids=["list", "mapping"])
@pytest.mark.parametrize(("path", "key"), KEYS)
def test_a_value_of_the_wrong_type_is_named(
    artifact: ArtifactOnDisk, path: Path_, key: str, wrong: object
) -> None:
    at(artifact.spec, path)[key] = wrong
    assert any(names(problem.where, path, key) for problem in artifact.problems())


def names(where: str, path: Path_, key: str) -> bool:
    """Whether a place is that of a key or below it, or of its mapping where a key tells what the mapping is."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
    place = f"{steps}.{key}".lstrip(".")
    return (
        (where == steps and path in UNIONS) or where == place or where.startswith((f"{place}.", f"{place}["))
    )


def outcome(folder: Path, data: bytes) -> Spec | SpecError:
    """What reading gives; anything but a specification or a SpecError rises."""
    for name, content in FILES.items():
        path = folder / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    (folder / "reprobridge.yaml").write_bytes(data)
    try:
        return read_spec(folder, templates=TEMPLATES)
    except SpecError as error:
        refusal = error
    assert refusal.problems
    for problem in refusal.problems:
        assert problem.where
        assert problem.expected
        assert "".join([problem.where, problem.expected, problem.found, problem.hint or ""]).isprintable()
    return refusal


YAML_LIKE = st.text(st.sampled_from("ab: -[]{},#&*!|>'\"%@`\n\t?~0=.\\é\u2028\x85"), max_size=60)


@ANY_FOLDER
@given(st.binary(max_size=60) | YAML_LIKE.map(str.encode))
def test_any_bytes_give_a_specification_or_problems(tmp_path: Path, data: bytes) -> None:
    assert isinstance(outcome(tmp_path, data), SpecError)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from(["1", "-1", "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@ANY_FOLDER
@given(st.sampled_from(KEYS), VALUES)
def test_any_value_at_any_key_gives_a_specification_or_problems(
    tmp_path: Path, target: tuple[Path_, str], value: object
) -> None:
    spec = copy.deepcopy(FULL)
    at(spec, target[0])[target[1]] = value
    outcome(tmp_path, json.dumps(spec).encode())


def test_a_large_hostile_file_does_not_cost_minutes(artifact: ArtifactOnDisk) -> None:
    many = 3_000
    unknown = "".join(f" k{number}: x\n" for number in range(many))
    tasks = ",".join(f"{{id: t{number}, scope: x{number}}}" for number in range(many))
    changes = ",".join(f"u{number}" for number in range(many))
    text = f"paper:\n{unknown}tasks: [{tasks}]\nchanges: [{{tasks: [{changes}]}}]\n"
    assert len(artifact.problems(text)) > 3 * many
