"""What an author is told to do about what looks right, and is not."""

import pytest

from support.artifact_on_disk import ArtifactOnDisk, put


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("paper.id", "prob\u0430ble", "its character 5 is U+0430 (CYRILLIC SMALL LETTER A); it becomes"),
        ("version", "1.0\u20131", "its character 4 is U+2013 (EN DASH); it becomes"),
        ("paper.year", "\uff11908", "its character 1 is U+FF11 (FULLWIDTH DIGIT ONE)"),
        ("paper.id", "a\u200bb", "U+200B (ZERO WIDTH SPACE)"),
        ("paper.id", "a\ue000b", "U+E000 (which has no name)"),
        ("source.path", ".\\src", "separate folders by /"),
        ("guide", "docs\\GUIDE.md", "separate folders by /"),
        ("source.exclude", ["a\\*.pyc"], "separate folders by /"),
    ],
)
def test_what_looks_right_and_is_not_gets_a_hint(
    artifact: ArtifactOnDisk, path: str, text: object, said: str
) -> None:
    put(artifact.spec, path, text)
    problem = next(problem for problem in artifact.problems() if problem.where.startswith(path))
    assert said in str(problem.hint)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("python run.py", '["python", "run.py"]'),
        ("python 'run it.py' --fast", '["python", "run it.py", "--fast"]'),
        ("python run.py | tee log", '["sh", "-c", "python run.py | tee log"]'),
        ("python 'run.py", '["sh", "-c", "python \'run.py"]'),
        ("A=1 python run.py", '["sh", "-c", "A=1 python run.py"]'),
    ],
)
def test_a_command_line_is_shown_as_the_list_that_it_should_be(
    artifact: ArtifactOnDisk, line: str, words: str
) -> None:
    for holder in (artifact.task, artifact.task["smoke"]):
        holder["command"] = line
    assert [problem.hint for problem in artifact.problems()] == [f"write it as a list: {words}"] * 2


def test_an_odd_character_of_a_key_and_of_a_requirement_is_named(artifact: ArtifactOnDisk) -> None:
    artifact.write("requirements.in", "num\u0440y\n".encode())
    artifact.spec["l\u0456cense"] = artifact.spec.pop("license")
    hints = [str(problem.hint) for problem in artifact.problems()]
    assert (
        "its character 2 is U+0456 (CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I); did you mean license?"
        in hints
    )
    assert any("its character 4 is U+0440" in hint for hint in hints)
