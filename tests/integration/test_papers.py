"""The repository's papers, whole: every check of their images passes, and their numbers come out as their pages say."""

import json
from pathlib import Path
from typing import Any

import pytest

from reprobridge.validate.model import CheckId
from support.artifacts import MINIMAL, PYGAM, WINE, copy_of
from support.command import reprobridge, succeed

pytestmark = [pytest.mark.slow, pytest.mark.network]


@pytest.fixture(scope="module")
def store(vendored: Path, module_folder: Path) -> Path:
    """One store for the module: layers that papers share are made and unpacked once."""
    assert vendored.is_dir()
    return module_folder / "store"


def checked(artifact: Path, store: Path) -> dict[str, Any]:
    """What `validate` says about each check of an artifact's image, which is built first."""
    succeed(reprobridge("build", artifact, store=store))
    report = json.loads(reprobridge("validate", artifact, "--json", store=store).stdout)
    return {result["check"]: result for result in report["checks"]}


def verdicts(checks: dict[str, Any]) -> dict[str, str]:
    """By check."""
    return {name: check["verdict"] for name, check in checks.items()}


def measured(artifact: Path, store: Path, out: Path, *tasks: str) -> dict[str, Any]:
    """Results of `run` by task."""
    succeed(reprobridge("build", artifact, store=store))
    done = reprobridge("run", artifact, *tasks, "--json", "--out", out, store=store)
    results = json.loads(succeed(done))["results"]
    return {result["task"]: result for result in results}


ALL_PASSED = {check.value: "passed" for check in CheckId}


def test_every_check_of_a_paper_passes(store: Path) -> None:
    assert (
        verdicts(checked(PYGAM, store)) == ALL_PASSED
    )  # wine's takes minutes, and so stands in test_publish.py only


EXPECTED = {
    WINE: {"qda": (99.4382, 99.4, True), "1nn": (95.5056, 96.1, True)},  # rda takes half a minute
    PYGAM: {"gcv": (1255.6902, 1255.6902, True), "log-likelihood": (-14924.5532, -24118.6847, False)},
}
"""By artifact and task: value, published value, and whether the references' interval holds the latter."""


@pytest.mark.parametrize("artifact", EXPECTED, ids=lambda path: path.name)
def test_a_papers_numbers_are_those_of_its_references_and_say_whether_the_published_one_is(
    artifact: Path, store: Path, tmp_path: Path
) -> None:
    expected = EXPECTED[artifact]
    results = measured(artifact, store, tmp_path, *expected)
    assert all(result["compatible"] for result in results.values())  # with the references
    assert expected == {
        task: (result["value"], result["published"], result["published_in_interval"])
        for task, result in results.items()
    }


def test_on_debian_13_an_artifact_with_a_wheel_is_built_passes_every_check_and_measures(
    store: Path, tmp_path: Path
) -> None:
    artifact = copy_of(MINIMAL, tmp_path)
    spec = artifact / "reprobridge.yaml"
    spec.write_text(spec.read_text().replace("debian12-py311", "debian13-py313"))
    (artifact / "requirements.in").write_text("six\n")
    succeed(reprobridge("lock", artifact, store=store))
    checks = checked(artifact, store)
    assert verdicts(checks) == ALL_PASSED
    (said,) = checks["python.requirements"]["evidence"]
    assert said.startswith("the requirements of 1 distribution hold for Python 3.13.")
    result = measured(artifact, store, tmp_path / "out", "deviation")["deviation"]
    assert (result["value"], result["compatible"]) == (1.1669, True)
