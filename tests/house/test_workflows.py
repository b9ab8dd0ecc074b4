"""The workflows of .github do what a laptop does, with no more rights than they need."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.guides import pages
from support.source_tree import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
ACTIONS = sorted((ROOT / ".github/actions").glob("*/action.yml"))
OURS = re.compile(r"\$/(\.github/[\w./-]+)")
"""A reference to this repository itself, at the commit that runs."""
RIGHTS = {
    "contents": "read",
    "packages": "write",
    "id-token": "write",
}
"""What publishing takes: the paper's files, the registry, the identity that signs."""


def test_there_are_workflows() -> None:
    names = ["ci.yml", "examples.yml", "publish-artifact.yml", "templates.yml"]
    assert [path.name for path in WORKFLOWS] == names
    assert [path.parent.name for path in ACTIONS] == ["publish"]


def test_zizmor_finds_nothing() -> None:
    zizmor = str(Path(sys.executable).with_name("zizmor"))
    command = [zizmor, "--offline", "--no-progress", "--strict-collection", str(ROOT / ".github")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda path: path.parent.name + "/" + path.name)
def test_every_action_is_pinned_by_its_commit_or_our_own(path: Path) -> None:
    uses = [use for use in re.findall(r"uses: (.*)", path.read_text()) if not OURS.fullmatch(use)]
    assert [use for use in uses if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v[\d.]+", use)] == []


@pytest.mark.parametrize("path", [*WORKFLOWS, *ACTIONS], ids=lambda path: path.parent.name + "/" + path.name)
def test_an_action_has_the_same_commit_wherever_it_is_used(path: Path) -> None:
    pins = dict(
        re.findall(r"uses: ([\w-]+/[\w-]+)@(.*)", "".join(p.read_text() for p in WORKFLOWS + ACTIONS))
    )
    assert [
        use for use in re.findall(r"uses: ([\w-]+/[\w-]+)@(.*)", path.read_text()) if pins[use[0]] != use[1]
    ] == []


def test_what_is_used_of_our_own_is_there() -> None:
    text = "".join(path.read_text() for path in WORKFLOWS)
    used = {ROOT / place for place in OURS.findall(text)}
    assert used == {*(path.parent for path in ACTIONS), ROOT / ".github/workflows/publish-artifact.yml"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_nothing_is_permitted_unless_a_job_asks(path: Path) -> None:
    assert yaml.safe_load(path.read_text())["permissions"] == {}


def test_ci_runs_what_a_laptop_runs() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    runs = {step["run"] for job in jobs.values() for step in job["steps"] if "run" in step}
    assert {"make lint", "make test", "make demo"} <= runs
    assert all("pytest" not in run for run in runs)


def jobs_of(name: str) -> dict[str, Any]:
    jobs: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows" / name).read_text())["jobs"]
    return jobs


@pytest.mark.parametrize("name", ["publish-artifact.yml", "examples.yml"])
def test_publishing_has_the_rights_that_it_takes_and_no_others(name: str) -> None:
    assert [job["permissions"] for job in jobs_of(name).values()] == [RIGHTS]


def test_no_other_workflow_may_push_packages_or_sign() -> None:
    jobs = [job for name in ("ci.yml", "templates.yml") for job in jobs_of(name).values()]
    assert [job for job in jobs if {"packages", "id-token"} & set(job["permissions"])] == []


def test_every_example_is_published() -> None:
    (job,) = jobs_of("examples.yml").values()
    papers = sorted(path.parent.name for path in (ROOT / "examples").glob("*/reprobridge.yaml"))
    assert job["strategy"]["matrix"]["paper"] == papers


def test_what_is_given_to_the_workflow_and_the_action_is_what_they_take() -> None:
    action = yaml.safe_load(ACTIONS[0].read_text())["inputs"]
    workflow = yaml.load((ROOT / ".github/workflows/publish-artifact.yml").read_text(), yaml.BaseLoader)
    taken = workflow["on"]["workflow_call"]["inputs"]
    (called,) = jobs_of("publish-artifact.yml").values()
    assert {*called["steps"][-1]["with"]} == {*taken} <= {*action}
    (example,) = jobs_of("examples.yml").values()
    assert {*example["with"]} <= {*taken}


def shown_jobs() -> list[dict[str, Any]]:
    """Jobs of the workflows that guides show."""
    blocks = [block for page in pages() for block in page.blocks if block.language == "yml"]
    return [job for block in blocks for job in yaml.safe_load(block.text)["jobs"].values()]


def test_guides_show_workflows_with_inputs_and_rights_that_exist() -> None:
    workflow = yaml.load((ROOT / ".github/workflows/publish-artifact.yml").read_text(), yaml.BaseLoader)
    action = yaml.safe_load(ACTIONS[0].read_text())
    takes = {
        "/.github/workflows/publish-artifact.yml": workflow["on"]["workflow_call"]["inputs"],
        "/.github/actions/publish": action["inputs"],
    }
    used = []
    for job in shown_jobs():
        assert job["permissions"] == RIGHTS
        for step in [job, *job.get("steps", [])]:
            for place, inputs in takes.items():
                if step.get("uses", "").endswith(f"{place}@COMMIT"):
                    assert {*step["with"]} <= {*inputs}
                    used.append(place)
    assert sorted(used) == sorted(takes)
