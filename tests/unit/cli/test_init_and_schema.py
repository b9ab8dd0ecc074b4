"""`reprobridge init` and `reprobridge schema`."""

import argparse
import io
import json
from pathlib import Path
from types import ModuleType

from reprobridge.cli import init, schema
from reprobridge.cli.doors import Doors
from reprobridge.spec.parse import read_spec


def run(command: ModuleType, *words: str) -> str:
    """Carry out a command; what it writes for pipes."""
    doors = Doors(store_root=None, offline=True, quiet=True)
    doors.out = io.StringIO()
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    assert command.execute(parser.parse_args(words), doors) == 0
    return doors.out.getvalue()


def test_init_makes_a_valid_artifact_and_prints_its_folder(tmp_path: Path) -> None:
    assert run(init, str(tmp_path / "my-paper")) == f"{tmp_path / 'my-paper'}\n"
    assert read_spec(tmp_path / "my-paper").paper.id == "my-paper"


def test_schema_prints_json_for_editors() -> None:
    assert json.loads(run(schema))["title"] == "reprobridge.yaml (reprobridge.artifact/1)"


def test_schema_prints_the_reference_page_for_people() -> None:
    assert run(schema, "--markdown").startswith("# reprobridge.yaml\n")
