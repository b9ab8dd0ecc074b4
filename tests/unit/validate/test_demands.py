"""What a script behind `bash -c` needs whatever its commands do."""

from collections.abc import Collection

import pytest

from reprobridge.spec.command import Kind, Need
from reprobridge.validate.checks.commands import PORTION, portions
from reprobridge.validate.checks.demands import demanded


def named(script: str, shell: str = "bash -c", variables: Collection[str] = ()) -> set[str]:
    """Everything that is needed besides the shell."""
    return {need.name for need in demanded([*shell.split(), script], variables)} - {"bash", "sh"}


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
        ("export A=1 2>&1 >/dev/null; python run.py", {"python", "run.py"}),
        ("python run.py --count $((2 * N)) '$(no)'", {"python", "run.py"}),
        ("log=$(./gen.sh) && solver", {"solver"}),
        ("python run.py > run.log", {"python", "run.py"}),
        ("set -- -x; python run.py", {"python", "run.py"}),
        ("a+=1 solver", {"solver"}),
        ("python eval.py --data source/hash", {"python", "eval.py"}),
        ("python -m pkg.eval", {"python", "pkg.eval"}),
        ("./kill --trap-exit=3", {"./kill"}),
        ("re-eval && python my-trap", {"re-eval", "python"}),
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
        ("log=$(./gen.sh) && python made.py", {"python"}),
        ("log=`./gen.sh`; python made.py", {"python"}),
        ('python made.py "$(./gen.sh)"', {"python"}),
        ('export LOG="$(./gen.sh)"; python made.py', {"python"}),
        (': "${LOG:=$(./gen.sh)}"; python made.py', {"python"}),
        (': "${PYTHONPATH:=src}"; python -m pkg', {"python"}),
        ("python made.py <<END\n$(./gen.sh)\nEND", {"python"}),
        ("python made.py >$(./gen.sh)", {"python"}),
        ("python made.py <(./gen.sh)", set()),
        ("N=$(($(./gen.sh) + 1)); python made.py", {"python"}),
        ("export -p > vars.sh; bash vars.sh && python run.py", {"python"}),
        (": > made.py; python made.py", {"python"}),
        ("> made.py; python made.py", {"python"}),
        ("exec -a trainer python run.py", set()),
        ("exec -- solver", set()),
        ("A=1 exec python run.py; solver", set()),
        ("$RUNNER python run.py; solver", set()),
        ("[[ -f x && -f y ]] && solver", set()),
        ("select x in a b; do solver; done", set()),
        ("set -n; solver", set()),
        ("set -o noexec; solver", set()),
        ("kill -9 $$; solver", set()),
        ("command exec python run.py; solver", set()),
        ("BASH_ENV=made.sh bash run.sh", set()),
        ("a+=1 b[0]=2", set()),
        ("eval python run.py; solver", set()),
        ("true&&exit;solver", set()),
        ("command ${X:-exit}; solver", set()),
        ("command \\exit; solver", set()),
    ],
)
def test_of_what_a_script_may_do_without_nothing_is_said(script: str, names: set[str]) -> None:
    assert named(script) == names


def test_where_the_first_failure_ends_the_script_each_command_counts() -> None:
    script = "solver --fit; test -f x && other\nlast"
    assert named(script) == {"last"}
    assert named(script, "bash -ec") == named(f"set -eu\n{script}") == {"solver", "last"}
    assert named(f"set +e; {script}", "bash -ec") == {"last"}


@pytest.mark.parametrize(
    ("script", "names"),
    [
        ('python A="b".py', {"python"}),
        ('solver A="b" && ./A=', {"solver"}),
        ('A="$b" python run.py', {"python", "run.py"}),
        ('env A="$b" python run.py', {"env", "python", "run.py"}),
        ('export A="$b" B="c"; python -m pkg', {"python", "pkg"}),
        ('A=1 export B="$b"; python -m pkg', {"python", "pkg"}),
        ('export -n A="$b"; python -m pkg', {"python"}),
        ('env PYTHONPATH="$b" python -m pkg', {"env"}),
    ],
)
def test_only_words_before_a_command_assign(script: str, names: set[str]) -> None:
    assert named(script) == names


def test_a_login_shell_is_followed_where_its_profile_only_gives_the_path_back() -> None:
    def found(*variables: str, plain: bool) -> set[str]:
        command = ["bash", "-lc", "python run.py && solver"]
        return {need.name for need in demanded(command, variables, plain_profile=plain)}

    assert found(plain=True) == {"bash", "python", "run.py", "solver"}
    assert found(plain=False) == found("HOME", plain=True) == {"bash"}
    assert named("solver", variables=("HOME",)) == {"solver"}


@pytest.mark.parametrize(
    "name", ["BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "BASH_FUNC_f%%", "LD_PRELOAD", "LD_AUDIT"]
)
def test_where_a_variable_makes_shells_do_more_nothing_is_said_of_their_scripts(name: str) -> None:
    assert named("solver", variables=(name,)) == named("run.sh", "bash", (name,)) == set()
    assert named("run.py", "python", (name,)) == {"python", "run.py"}
    for harmless in ("OMP_NUM_THREADS", "LD_LIBRARY_PATH", "LD_BIND_NOW"):
        assert named("solver", variables=(harmless,)) == {"solver"}


def test_needs_are_asked_in_portions_that_fit_into_an_argument() -> None:
    asked = [Need(Kind.SCRIPT, f"{number}{'x' * 1000}", "python") for number in range(200)]
    found = list(portions([*asked, Need(Kind.SCRIPT, "y" * PORTION, "python")]))
    assert [need for portion in found for need in portion] == asked
    assert all(sum(len(need.name) for need in portion) < PORTION for portion in found)
    assert list(portions([])) == []
