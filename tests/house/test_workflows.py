"""The workflows of .github do what a laptop does, with no more rights than they need."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.source_tree import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def test_there_are_workflows() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "templates.yml"]


def test_zizmor_finds_nothing() -> None:
    zizmor = str(Path(sys.executable).with_name("zizmor"))
    command = [zizmor, "--offline", "--no-progress", "--strict-collection", str(ROOT / ".github")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_by_its_commit(path: Path) -> None:
    uses = re.findall(r"uses: (.*)", path.read_text())
    assert uses
    assert [use for use in uses if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", use)] == []


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_nothing_is_permitted_unless_a_job_asks(path: Path) -> None:
    assert yaml.safe_load(path.read_text())["permissions"] == {}


def test_ci_runs_what_a_laptop_runs() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    runs = {step["run"] for job in jobs.values() for step in job["steps"] if "run" in step}
    assert {"make lint", "make test", "make demo"} <= runs
    assert all("pytest" not in run for run in runs)
