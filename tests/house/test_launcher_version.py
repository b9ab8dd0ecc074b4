"""The launcher runs on Python 3.6: held by vermin here, and by real interpreters in the launcher's own tests."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.source_tree import ROOT


def vermin(path: Path) -> subprocess.CompletedProcess[str]:
    options = ["--no-tips", "--eval-annotations", "--violations", "--target=3.6-"]
    command = [str(Path(sys.executable).with_name("vermin")), *options, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_launcher_needs_nothing_newer_than_python_3_6() -> None:
    result = vermin(ROOT / "builder/reprobridge_launcher")
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    "source",
    [
        "if (n := 1): pass",
        "from __future__ import annotations",
        "def f(x: list[str]): ...",
        "import importlib.metadata",
        "import subprocess\nsubprocess.run(['x'], capture_output=True)",
    ],
)
def test_something_newer_is_noticed(tmp_path: Path, source: str) -> None:
    path = tmp_path / "newer.py"
    path.write_text(source + "\n")
    assert vermin(path).returncode != 0
