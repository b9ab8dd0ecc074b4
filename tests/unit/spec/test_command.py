"""What a command needs before it can start: only what its words say for certain."""

import pytest

from reprobridge.spec.command import Kind, Need, is_login_shell, needs, shell_script


def further(*words: str | None) -> list[Need]:
    """What is needed besides the program itself."""
    first, *more = needs(words)
    assert first == Need(Kind.PROGRAM, words[0] or "")
    return more


@pytest.mark.parametrize(
    ("command", "need"),
    [
        ("python run.py --seed 1", Need(Kind.SCRIPT, "run.py", "python")),
        ("python3.11 -u -W error -X dev -Bs src/run.py", Need(Kind.SCRIPT, "src/run.py", "python3.11")),
        ("/opt/env/bin/python3 .", Need(Kind.SCRIPT, ".", "/opt/env/bin/python3")),
        ("python -u -m pkg.train -x", Need(Kind.MODULE, "pkg.train", "python")),
        ("bash run.sh", Need(Kind.SHELL_SCRIPT, "run.sh", "bash")),
        ("sh -eux run.sh a", Need(Kind.SHELL_SCRIPT, "run.sh", "sh")),
        ("Rscript --vanilla --no-save fit.R", Need(Kind.SCRIPT, "fit.R", "Rscript")),
        ("perl fit.pl", Need(Kind.SCRIPT, "fit.pl", "perl")),
    ],
)
def test_the_script_or_module_behind_an_interpreter_is_needed(command: str, need: Need) -> None:
    assert further(*command.split()) == [need]


@pytest.mark.parametrize(
    "command",
    [
        "./solver input.txt",
        "python -c print(1)",
        "python -",
        "python --check-hash-based-pycs never run.py",
        "python -um pkg",
        "python2 run.py",
        "python ../elsewhere/run.py",
        "python /tmp/made.py",
        "bash -o pipefail run.sh",
        "bash -c ./run.sh",
        "Rscript -e 1",
        "perl -w fit.pl",
        "node app",
        "make all",
        "env -i python run.py",
        "env PYTHONPATH=src python -m pkg",
        "env PATH=/x prog",
        "env BASH_ENV=made.sh bash run.sh",
        "timeout 10 nothing.py",
    ],
)
def test_of_what_is_not_certain_nothing_is_said(command: str) -> None:
    assert further(*command.split()) == []


def test_the_command_behind_env_and_its_assignments_is_the_one_that_counts() -> None:
    found = list(needs(["env", "OMP_NUM_THREADS=1", "python", "run.py"]))
    assert found == [
        Need(Kind.PROGRAM, "env"),
        Need(Kind.PROGRAM, "python", "env"),
        Need(Kind.SCRIPT, "run.py", "python"),
    ]


@pytest.mark.parametrize("program", ["/tmp/made/solver", "../solver", "/data/bin/solver"])
def test_a_program_that_no_image_holds_is_not_needed(program: str) -> None:
    assert list(needs([program, "run.py"])) == []


@pytest.mark.parametrize("words", [(), (None,), ("",)])
def test_a_command_without_a_known_program_needs_nothing_known(words: tuple[str | None, ...]) -> None:
    assert list(needs(words)) == []
    assert further("python", None) == further("python", "-m", None) == []


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("bash -c x", ("x", False)),
        ("sh -ec x", ("x", True)),
        ("bash -eu -o pipefail -c x", ("x", True)),
        ("bash -euo pipefail -c x y", ("x", True)),
        ("bash -o errexit -c x", ("x", True)),
        ("/bin/dash -c x", ("x", False)),
        ("bash -c -e x", ("x", True)),
        ("bash -c -- x", ("x", False)),
        ("bash -c - x", ("x", False)),
        ("bash -c -o pipefail -u -- -x y", ("-x", False)),
        ("bash -e -- -c x", None),
        ("bash -c +e x", None),
        ("bash -c --norc x", None),
        ("bash -c --", None),
        ("bash -o noexec -c x", None),
        ("bash -lc x", ("x", False)),
        ("bash --login -e -c x", ("x", True)),
        ("bash --norc -c x", None),
        ("bash run.sh -c", None),
        ("bash -c", None),
        ("bash -o", None),
        ("python -c x", None),
    ],
)
def test_the_text_behind_a_shells_c_is_found(command: str, found: tuple[str, bool] | None) -> None:
    assert shell_script(command.split()) == found


@pytest.mark.parametrize("command", ["bash -lc x", "sh -l -c x", "bash --login -c x", "/bin/bash -eu -cl x"])
def test_a_shell_that_reads_the_profile_first_is_known(command: str) -> None:
    assert is_login_shell(command.split())


@pytest.mark.parametrize(
    "command", ["bash -c -- -l", "bash run.sh -l", "bash --noprofile x", "ls -l", "bash"]
)
def test_other_commands_are_no_login_shells(command: str) -> None:
    assert not is_login_shell(command.split())
