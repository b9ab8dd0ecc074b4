"""The JSON Schema for editors says what the parser says, and the committed files are the generated ones."""

import copy
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from reprobridge.errors import SpecError
from reprobridge.spec.named import FILE_NAME
from reprobridge.spec.nodes import Entries, Node, Scalar, Sequence, is_null
from reprobridge.spec.parse import read_spec
from reprobridge.spec.reference import reference_text
from reprobridge.spec.scaffold import create_artifact
from reprobridge.spec.schema import json_schema, schema_text
from reprobridge.spec.yaml_tree import read_tree
from support.artifact_on_disk import FILES, FULL, TEMPLATES, ArtifactOnDisk
from support.source_tree import ROOT

ARTIFACTS = sorted(
    path.parent for place in ("examples", "tests/artifacts") for path in (ROOT / place).glob(f"*/{FILE_NAME}")
)


@cache
def validator() -> Draft202012Validator:
    """A validator of the generated schema."""
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def as_texts(node: Node) -> object:
    """A tree as JSON whose scalars are texts."""
    match node:
        case Scalar():
            return None if is_null(node) else node.text
        case Sequence():
            return [as_texts(item) for item in node.items]
        case Entries():
            return {key: as_texts(item) for key, item in node.items.items()}


def as_an_editor_sees_it(node: Node) -> object:
    """A tree as JSON whose plain scalars are typed by the core schema of YAML 1.2."""
    match node:
        case Scalar(plain=True, text="true" | "false"):
            return node.text == "true"
        case Scalar(plain=True) if re.fullmatch(r"[-+]?[0-9]+", node.text):
            return int(node.text)
        case Scalar(plain=True) if re.fullmatch(
            r"[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?", node.text, re.ASCII
        ):
            return float(node.text)
        case Scalar():
            return as_texts(node)
        case Sequence():
            return [as_an_editor_sees_it(item) for item in node.items]
        case Entries():
            return {key: as_an_editor_sees_it(item) for key, item in node.items.items()}


def errors(folder: Path) -> list[str]:
    """What the schema says against an artifact, in both views."""
    root = read_tree((folder / FILE_NAME).read_bytes(), FILE_NAME)
    views = as_texts(root), as_an_editor_sees_it(root)
    return [error.message for view in views for error in validator().iter_errors(view)]


def test_the_committed_schema_is_the_generated_one() -> None:
    assert (ROOT / "guides/reference/reprobridge.schema.json").read_text("utf-8") == schema_text()


def test_the_committed_reference_is_the_generated_one() -> None:
    assert (ROOT / "guides/reference/reprobridge-yaml.md").read_text("utf-8") == reference_text()


def test_there_are_artifacts_to_hold_the_schema_against() -> None:
    assert len(ARTIFACTS) >= 2


@pytest.mark.parametrize("folder", ARTIFACTS, ids=lambda folder: folder.name)
def test_parser_and_schema_accept_our_own_artifacts(folder: Path) -> None:
    read_spec(folder)
    assert errors(folder) == []


def test_parser_and_schema_accept_the_scaffold(tmp_path: Path) -> None:
    create_artifact(tmp_path / "new", today="2026-01-31")
    read_spec(tmp_path / "new")
    assert errors(tmp_path / "new") == []


def test_the_schema_accepts_every_key(artifact: ArtifactOnDisk) -> None:
    artifact.read()
    assert errors(artifact.folder) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "reprobridge.artifact/2"),
        (("paper", "id"), "Not A Name"),
        (("paper", "title"), None),
        (("paper", "title"), ["x"]),
        (("paper", "year"), "soon"),
        (("paper", "year"), 92),
        (("paper", "subtitle"), "x"),
        (("data",), []),
        (("environment", "conda"), "environment.yml"),
        (("environment", "platforms"), ["linux/arm64"]),
        (("source",), {"git": "https://example.org/x", "path": "src"}),
        (("source",), {"git": "https://example.org/x", "commit": "main"}),
        (("tasks",), []),
        (("tasks", 0, "command"), "python run.py"),
        (("tasks", 0, "smoke", "timeout"), 60),
        (("tasks", 0, "resources", "memory"), "a lot"),
        (("tasks", 0, "published", "value"), "98.9%"),
        (("tasks", 0, "extract"), {"file": "stdout"}),
        (("tasks", 0, "extract", "json"), "/a"),
        (("changes", 0, "affects_numbers"), "perhaps"),
        (("guide",), "/GUIDE.md"),
    ],
)
def test_parser_and_schema_refuse_the_same(
    artifact: ArtifactOnDisk, path: tuple[str | int, ...], value: object
) -> None:
    target: Any = artifact.spec
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    assert artifact.problems()
    assert errors(artifact.folder)


PLACES: list[tuple[str | int, ...]] = [
    ("paper", "year"),
    ("paper", "doi"),
    ("version",),
    ("license",),
    ("changes", 0, "patch"),
    ("environment", "variables", "X"),
    ("environment", "python", "exclude_newer"),
    ("tasks", 0, "title"),
    ("tasks", 0, "published", "value"),
    ("tasks", 0, "published", "decimals"),
    ("tasks", 0, "published", "range"),
    ("tasks", 0, "command", 0),
    ("tasks", 0, "resources", "time"),
    ("tasks", 0, "seeds", "values", 0),
    ("tasks", 0, "extract", "scale"),
    ("tasks", 0, "references"),
    ("source", "exclude", 0),
]
NEAR = st.sampled_from(
    [
        "",
        "0",
        "-1",
        "1.",
        ".5",
        "1e3",
        "1 s",
        "5m",
        "1GiB",
        "./x",
        "a//b",
        "MIT",
        "v1",
        "2026-01-01",
        "10.1234/x",
        "98.9",
    ]
)
VALUES = st.none() | NEAR | st.text(max_size=6) | st.lists(NEAR, max_size=2) | st.integers() | st.booleans()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)
@given(st.sampled_from(PLACES), VALUES)
def test_what_the_parser_accepts_the_schema_accepts(
    tmp_path: Path, place: tuple[str | int, ...], value: object
) -> None:
    spec = copy.deepcopy(FULL)
    target: Any = spec
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = value
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    (tmp_path / FILE_NAME).write_text(json.dumps(spec), "utf-8")
    try:
        read_spec(tmp_path, templates=TEMPLATES)
    except SpecError:
        return
    assert errors(tmp_path) == []
