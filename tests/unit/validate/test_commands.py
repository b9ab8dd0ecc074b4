"""What a script behind `bash -c` needs whatever its commands do."""

import pytest

from reprobridge.validate.checks.commands import demanded


def named(script: str, shell: str = "bash -c") -> set[str]:
    """Everything that is needed besides the shell."""
    return {need.name for need in demanded([*shell.split(), script])} - {"bash", "sh"}


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ("python run.py", {"python", "run.py"}),
        ("exec python run.py --seed $RRA_SEED", {"python", "run.py"}),
        ("OMP_NUM_THREADS=1 python -m pkg", {"python", "pkg"}),
        ("X=\"$HOME/x\" python 'run it.py'", {"python", "run it.py"}),
        ("export A=1; ulimit -s 64\npython run.py", {"python", "run.py"}),
        ("python train.py && solver --fit", {"python", "train.py", "solver"}),
        ("./first && ./second", {"./first"}),
        ("solver <in.txt >out.txt 2>&1", {"solver"}),
    ],
)
def test_commands_that_run_in_any_case_are_followed(script: str, names: set[str]) -> None:
    assert named(script) == names


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ("nvidia-smi; python run.py", {"python"}),
        ("solver || python run.py", set()),
        ("python run.py | tee log", set()),
        ("if solver; then true; fi; python run.py", set()),
        ("solver & wait", set()),
        ("(solver)", set()),
        ("cd sub && python run.py", {"python"}),
        ("make && python made.py", {"make", "python"}),
        ("cp a.py b.py && python b.py", {"cp", "python"}),
        ("echo 1 > x.py && python x.py", {"python"}),
        ("PYTHONPATH=src python -m pkg", {"python"}),
        ("export PYTHONPATH=src; python -m pkg && python run.py", {"python"}),
        ("export $X; python -m pkg", {"python"}),
        ('python "$HOME/run.py"', {"python"}),
        ("$PYTHON run.py", set()),
        ("test -f x && true; exit 0; solver", set()),
        ("exec solver; other", set()),
        ("alias solver=python; solver", set()),
        ("solver() { python run.py; }; solver", set()),
        ("PATH=.:$PATH; solver", set()),
        (". ./environment && solver", set()),
        ("source environment; solver", set()),
        ("time solver", set()),
        ("python run.py && (", set()),
    ],
)
def test_of_what_a_script_may_do_without_nothing_is_said(script: str, names: set[str]) -> None:
    assert named(script) == names


def test_where_the_first_failure_ends_the_script_each_command_counts() -> None:
    script = "solver --fit; test -f x && other\nlast"
    assert named(script) == {"last"}
    assert named(script, "bash -ec") == named(f"set -eu\n{script}") == {"solver", "last"}
    assert named(f"set +e; {script}", "bash -ec") == {"last"}
