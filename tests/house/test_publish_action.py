"""The action that publishes a paper: its scripts are run with programs that only note how they are called.

Each note is held against the command line's own parsers, so a command or an option that does not exist is found here.
"""

import argparse
import os
import re
import subprocess
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from reprobridge.cli.main import add_common, load_command
from support.source_tree import ROOT

ACTION = ROOT / ".github/actions/publish/action.yml"
REQUIREMENTS = ACTION.with_name("requirements.txt")
IMAGE = f"ghcr.io/you/paper@sha256:{'0' * 64}"
NOTE = """#!/bin/sh
{ printf '%s\\037' "${0##*/}" "$@"; printf '\\n'; } >> "$RUNNER_TEMP/calls"
"""
PROGRAMS = {
    # -m venv makes a folder with programs; -m pip makes nothing.
    "python": """[ "$2" != venv ] || { mkdir -p "$3/bin" && cp "$RUNNER_TEMP/programs/"* "$3/bin/"; }\n""",
    "docker": """cat > "$RUNNER_TEMP/password"; mkdir "$DOCKER_CONFIG"; echo login > "$DOCKER_CONFIG/config.json"\n""",
    "reprobridge": f"""case "$1" in
publish) cat "$DOCKER_CONFIG/config.json" > "$RUNNER_TEMP/seen" && echo {IMAGE} ;;
validate) exit "$VALIDATED" ;;
run) exit "$MEASURED" ;;
esac\n""",
}
"""What the programs do besides noting their words."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job that uses the action."""

    folder: Path
    """The runner's folder for temporary files."""
    given: dict[str, str] = field(default_factory=dict)
    """Inputs."""
    validated: int = 0
    """Exit status of `reprobridge validate`."""
    measured: int = 0
    """Exit status of `reprobridge run`."""

    def run(self) -> int:
        """Run all steps; gives the exit status of the first that failed."""
        programs = self.folder / "programs"
        programs.mkdir()
        for name, text in PROGRAMS.items():
            (programs / name).write_text(NOTE + text)
            (programs / name).chmod(0o755)
        steps = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
        return next((status for step in steps if "run" in step and (status := self.step(step))), 0)

    def step(self, step: dict[str, Any]) -> int:
        """Run one step as the runner does."""
        if step.get("if") == "inputs.measure == 'true'" and self.inputs()["measure"] != "true":
            return 0
        assert step.get("if") in (None, "inputs.measure == 'true'")
        environment = {name: self.filled(value) for name, value in step.get("env", {}).items()}
        surroundings = {
            "PATH": f"{self.folder}/programs:{os.environ['PATH']}",
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_ACTION_PATH": str(ACTION.parent),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "VALIDATED": str(self.validated),
            "MEASURED": str(self.measured),
        }
        argv = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.run(argv, env=surroundings | environment, check=False).returncode

    def inputs(self) -> dict[str, str]:
        """What is given, over the action's defaults."""
        declared = yaml.safe_load(ACTION.read_text())["inputs"]
        assert {*self.given} <= {*declared}
        return {name: str(value["default"]) for name, value in declared.items()} | self.given

    def filled(self, text: str) -> str:
        """An expression's value."""
        found = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", text)
        assert found, text
        return self.inputs()[found[1]]

    def calls(self) -> list[list[str]]:
        """How the programs were called."""
        lines = (self.folder / "calls").read_text().splitlines()
        return [line.split("\037")[:-1] for line in lines]

    def commands(self) -> list[str]:
        """Our commands that were called, in order."""
        return [words[1] for words in self.calls() if words[0] == "reprobridge"]

    def call(self, command: str) -> argparse.Namespace:
        """The words of a call of ours, as our own parser reads them; exits for what it does not know."""
        (words,) = [words[2:] for words in self.calls() if words[:2] == ["reprobridge", command]]
        parser = argparse.ArgumentParser()
        load_command(command).add_arguments(parser)
        add_common(parser)
        return parser.parse_args(words)


def test_an_artifact_is_checked_built_validated_measured_and_published(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run() == 0
    assert job.commands() == ["lock", "build", "validate", "run", "publish"]
    for command in job.commands():
        job.call(command)
    assert job.call("lock").check
    assert job.call("run").all
    published = job.call("publish")
    assert (published.words, published.keyless) == (["."], True)
    assert (published.accept_unmeasured, published.accept_not_run) == (False, False)
    assert (tmp_path / "output").read_text() == f"image={IMAGE}\n"


def test_all_inputs_reach_the_commands(tmp_path: Path) -> None:
    given = {
        "artifact": "my papers/one",
        "repository": "GHCR.io/You/Paper",
        "tags": "latest stable",
        "sandbox": "docker",
        "measure": "false",
        "accept-not-run": "true",
        "sign": "none",
    }
    job = Job(tmp_path, given)
    assert job.run() == 0
    assert job.commands() == ["lock", "build", "validate", "publish"]
    assert job.call("validate").sandbox == "docker"
    published = job.call("publish")
    assert published.words == ["my papers/one", "ghcr.io/you/paper"]
    assert published.also_tag == ["latest", "stable"]
    assert (published.keyless, published.accept_unmeasured, published.accept_not_run) == (False, True, True)


@pytest.mark.parametrize(
    ("validated", "measured", "accept", "ended"),
    [
        (1, 0, "false", (1, "validate")),
        (1, 0, "true", (0, "publish")),
        (9, 0, "true", (9, "validate")),
        (0, 5, "false", (0, "publish")),
        (0, 6, "false", (0, "publish")),
        (0, 8, "false", (8, "run")),
        (0, 130, "false", (130, "run")),
    ],
)
def test_what_was_not_accepted_ends_the_job(
    validated: int, measured: int, accept: str, ended: tuple[int, str], tmp_path: Path
) -> None:
    job = Job(tmp_path, {"accept-not-run": accept}, validated=validated, measured=measured)
    assert (job.run(), job.commands()[-1]) == ended


def test_only_locked_packages_and_the_code_of_the_actions_own_commit_are_installed(tmp_path: Path) -> None:
    job = Job(tmp_path)
    assert job.run() == 0
    locked, ours = [words for words in job.calls() if "install" in words]
    assert {"--require-hashes", "--only-binary"} <= {*locked}
    assert Path(locked[-1]) == REQUIREMENTS
    assert {"--no-deps", "--no-index", "--no-build-isolation"} <= {*ours}
    assert Path(ours[-1]).resolve() == ROOT


def wanted() -> list[Requirement]:
    """What our distribution, with signing in CI, and its build ask for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    declared = project["project"]
    names = (
        *declared["dependencies"],
        *declared["optional-dependencies"]["sigstore"],
        *project["build-system"]["requires"],
    )
    return [Requirement(name) for name in names]


def locked() -> dict[str, tuple[str, list[str]]]:
    """Version and hashes of each locked package."""
    found: dict[str, tuple[str, list[str]]] = {}
    for entry in re.split(r"\n(?=\S)", REQUIREMENTS.read_text().replace("\\\n", "").strip()):
        pinned = re.fullmatch(r"([\w.-]+)==([\w.!+]+)( ; [^#]*?)?((?:\s+--hash=sha256:[0-9a-f]{64})+)", entry)
        assert pinned, entry
        found[canonicalize_name(pinned[1])] = (pinned[2], pinned[4].split())
    return found


def test_every_locked_package_has_hashes_and_no_place() -> None:
    assert all(hashes for _, hashes in locked().values())
    assert "://" not in REQUIREMENTS.read_text()


@pytest.mark.parametrize("requirement", wanted(), ids=lambda one: str(one.name))
def test_what_we_depend_on_is_locked_in_a_version_that_we_accept(requirement: Requirement) -> None:
    version, _ = locked()[canonicalize_name(requirement.name)]
    assert version in requirement.specifier, "make action"


def test_the_login_is_to_the_image_s_registry_and_gone_afterwards(tmp_path: Path) -> None:
    job = Job(
        tmp_path, {"repository": "registry.example.org:5000/you/paper", "token": "a secret", "user": "you"}
    )
    assert job.run() == 0
    (login,) = [words for words in job.calls() if words[0] == "docker"]
    assert login == ["docker", "login", "registry.example.org:5000", "--username", "you", "--password-stdin"]
    assert (tmp_path / "password").read_text() == "a secret\n"
    assert (tmp_path / "seen").read_text() == "login\n"
    assert not (tmp_path / "login").exists()


def test_no_expression_stands_in_a_script() -> None:
    steps = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    assert [step["run"] for step in steps if "${{" in step.get("run", "")] == []
