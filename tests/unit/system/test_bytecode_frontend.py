"""The program that compiles in the room: what is a source's own fault, and what ends it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from reprobridge.system import bytecode_frontend
from reprobridge.system.bytecode_frontend import PASSES, RESULT

PLACE = "/opt/a.py"


def compile_one(folder: Path, file: Path, length: int | None) -> subprocess.CompletedProcess[str]:
    """Both passes over one source that stands at `PLACE` in the image."""
    job = folder / "job.json"
    job.write_text(json.dumps({"work": str(folder), "sources": [[str(file), 0, length, PLACE]]}))
    words = [sys.executable, "-sSB", bytecode_frontend.__file__, str(job)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("print 1\n", "SyntaxError"),
        ("# coding: nothing\n", "SyntaxError"),
        ("if 1:\nx\n", "IndentationError"),
        pytest.param(
            "x = " + "-" * 5000 + "1\n",
            "RecursionError",
            marks=pytest.mark.skipif(
                sys.version_info >= (3, 14), reason="how deep is too deep depends on the stack"
            ),
        ),
    ],
)
def test_what_is_wrong_with_a_source_is_named_and_ends_nothing(
    text: str, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "a").write_text(text)
    assert compile_one(tmp_path, tmp_path / "a", None).returncode == 0
    for name in PASSES:
        assert json.loads((tmp_path / name / RESULT).read_text())["made"] == [problem]


def test_a_link_that_leads_nowhere_ends_nothing(tmp_path: Path) -> None:
    assert compile_one(tmp_path, tmp_path / "nothing", None).returncode == 0
    assert json.loads((tmp_path / PASSES[0] / RESULT).read_text())["made"] == ["FileNotFoundError"]


def test_too_little_memory_ends_it_and_names_the_source(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    done = compile_one(tmp_path, tmp_path / "a", 1 << 61)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(f"{PLACE}: MemoryError()")


def test_a_file_that_cannot_be_read_ends_it_and_names_the_source(tmp_path: Path) -> None:
    done = compile_one(tmp_path, tmp_path, None)
    assert done.returncode == 1
    assert f"{PLACE}: IsADirectoryError" in done.stderr.splitlines()[-1]
