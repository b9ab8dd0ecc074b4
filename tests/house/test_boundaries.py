"""The import contracts of pyproject.toml hold, and each of them notices when it is broken."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.source_tree import ROOT

LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


def check(builder: Path) -> subprocess.CompletedProcess[str]:
    """Check the packages below a source root against the contracts."""
    return subprocess.run(
        [LINT_IMPORTS, "--no-cache"],
        env={**os.environ, "PYTHONPATH": str(builder)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_all_import_contracts_hold() -> None:
    result = check(ROOT / "builder")
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("reprobridge/spec/broken.py", "import reprobridge.lock", "Data flows one way"),
        ("reprobridge/plan/broken.py", "import time", "plan is pure"),
        ("reprobridge/plan/broken.py", "import reprobridge.system.files", "plan is pure"),
        (
            "reprobridge_launcher/broken.py",
            "import reprobridge.errors",
            "The launcher imports nothing of ours",
        ),
    ],
)
def test_a_broken_boundary_is_noticed(tmp_path: Path, module: str, line: str, contract: str) -> None:
    builder = shutil.copytree(
        ROOT / "builder", tmp_path / "builder", ignore=shutil.ignore_patterns("__pycache__")
    )
    (builder / module).write_text(f"{line}\n")
    result = check(builder)
    assert result.returncode != 0
    assert any(contract in row and "BROKEN" in row for row in result.stdout.splitlines()), result.stdout


def test_a_stage_that_no_contract_places_is_noticed(tmp_path: Path) -> None:
    builder = shutil.copytree(
        ROOT / "builder", tmp_path / "builder", ignore=shutil.ignore_patterns("__pycache__")
    )
    (builder / "reprobridge/novelty.py").touch()
    assert "novelty" in check(builder).stdout
