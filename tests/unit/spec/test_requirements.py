"""Requirements files: what may stand in them, and that all that is wrong with one is told."""

import pytest

from support.artifact_on_disk import ArtifactOnDisk


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("-r other.in", "one file"),
        ("--extra-index-url=https://example.org", "environment.python.indexes"),
        ("  -e .", "source"),
        ("--pre", "leave the option out"),
    ],
)
def test_requirements_with_options_are_refused(artifact: ArtifactOnDisk, line: str, hint: str) -> None:
    artifact.write("requirements.in", f"# wanted\nnumpy\n{line}\n".encode())
    problem = artifact.problem()
    assert problem.where == "environment.python.requirements"
    assert "line 3" in problem.found
    assert problem.hint is not None
    assert hint in problem.hint


BROKEN = """\
numpy==
--index-url https://h.example.org/simple
six
x @ https://h.example.org/x.html
pandas==2.0 \\
    --hash=sha256:00
-r other.in
../beside
"""
"""A requirements file in which every line but the third is wrong."""


@pytest.mark.parametrize("name", ["requirements", "constraints"])
def test_all_that_is_wrong_with_requirements_is_told_at_once(artifact: ArtifactOnDisk, name: str) -> None:
    artifact.write(f"{name}.in", BROKEN.encode())
    artifact.spec["environment"]["python"][name] = f"{name}.in"
    problems = artifact.problems()
    assert {problem.where for problem in problems} == {f"environment.python.{name}"}
    told = sorted(problem.found.rpartition(" ")[2] for problem in problems)
    assert told == ["1", "2", "4", "6", "7", "8"]


def test_requirements_that_cannot_be_read_are_told_beside_what_else_is_wrong(
    artifact: ArtifactOnDisk,
) -> None:
    artifact.write("requirements.in", b"six\nnumpy==\n")
    artifact.read()  # it is the lock's to refuse them
    artifact.spec["tasks"][0]["id"] = "not an id"
    places = {problem.where for problem in artifact.problems()}
    assert {"environment.python.requirements", "tasks[0].id"} <= places


@pytest.mark.parametrize("name", ["requirements", "constraints"])
@pytest.mark.parametrize(
    "line",
    [
        "x @ https://ann:secret@h.example.org/x-1-py3-none-any.whl",
        "x @ git+https://h.example.org/x.git?private_token=secret",
        "six  # from https://ann:secret@h.example.org/simple",
    ],
)
def test_requirements_with_a_password_or_token_are_refused_and_not_shown(
    artifact: ArtifactOnDisk, name: str, line: str
) -> None:
    artifact.write(f"{name}.in", f"numpy\n{line}\n".encode())
    artifact.spec["environment"]["python"][name] = f"{name}.in"
    problem = artifact.problem()
    assert problem.where == f"environment.python.{name}"
    assert "line 2" in problem.found
    assert "private-sources.md" in str(problem)
    assert "secret" not in str(problem)
