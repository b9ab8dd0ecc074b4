"""What an unfinished merge left is told as such, whatever else may be wrong with the file."""

import pytest

from reprobridge.spec.merge import merge_mark
from support.artifact_on_disk import ArtifactOnDisk

SIDES = "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> theirs\n"


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n", 1),
        (b"a\r\n<<<<<<< HEAD\r\n", 2),
        (b"a\nb\n||||||| base\n>>>>>>>", 3),
        (b"a\n>>>>>>>\r\n", 2),
        (b"Title\n=======\n", None),
        (b" <<<<<<< HEAD\n", None),
        (b"x <<<<<<< HEAD\n", None),
        (b"<<<<<<<<< nine\n>>>> quoted\n", None),
        (b"", None),
    ],
)
def test_the_first_mark_is_found(data: bytes, line: int | None) -> None:
    assert merge_mark(data) == line


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n" + SIDES.format("b: 1", "b: 2"),
        "a: 1\n" + SIDES.format("  b: 1", "  b: 2"),
        "a: [\n" + SIDES.format("b,", "c,") + "]\n",
        "a: 1\n>>>>>>> theirs\n",
    ],
)
def test_a_specification_with_both_sides_is_refused_for_that_alone(
    artifact: ArtifactOnDisk, text: str
) -> None:
    problem = artifact.problem(text)
    line = 1 + text.splitlines().index("<<<<<<< HEAD" if "<<<<<<< HEAD" in text else ">>>>>>> theirs")
    assert problem.where == f"reprobridge.yaml, line {line}"
    assert problem.found == f"both sides of a merge, marked in line {line}"
    assert ">>>>>>>" in str(problem.hint)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("requirements.in", "environment.python.requirements"),
        ("constraints.txt", "environment.python.constraints"),
        ("GUIDE.md", "guide"),
    ],
)
def test_so_is_a_file_that_it_names(artifact: ArtifactOnDisk, name: str, place: str) -> None:
    artifact.write(name, SIDES.format("numpy", "scipy").encode())
    problem = artifact.problem()
    assert (problem.where, problem.found) == (place, f"both sides of a merge, marked in line 1 of {name}")


def test_so_is_a_byte_that_is_no_text_with_its_file_and_line(artifact: ArtifactOnDisk) -> None:
    artifact.write("GUIDE.md", b"# Guide\n\xff\n")
    problem = artifact.problem()
    assert (problem.where, problem.found) == ("guide", "the byte 0xff in line 2 of GUIDE.md")


def test_a_heading_of_markdown_is_no_mark(artifact: ArtifactOnDisk) -> None:
    artifact.write("GUIDE.md", b"Guide\n=======\n\n>>> 1 + 1\n2\n")
    artifact.read()
