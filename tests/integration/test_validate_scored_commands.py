"""Scored commands that can't start, told from those that can and from those of which nobody can say it, in one image."""

import os
import shlex

import pytest

from reprobridge.plan.plan import PROFILE
from reprobridge.sandbox.bubblewrap import BubblewrapSandbox
from reprobridge.store.store import Store
from reprobridge.system.processes import RealProcesses
from reprobridge.validate.checks.commands import command_problems
from reprobridge.validate.shell import CleanShell
from reprobridge.validate.subject import open_subject
from support.artifact_image import ArtifactImage, Content, task
from support.layers import Entry

FILES: dict[str, Content] = {
    "run.py": "",
    "sub/eval.py": "",
    "sub/a.sh": "",
    "plain.sh": "#!/bin/sh\n",
    "bare.sh": Entry(b"echo 1\n", 0o755),
    "odd.sh": Entry(b"#!/bin/tcsh -f\n", 0o755),
    "dos.sh": Entry(b"#!/bin/env sh\r\n", 0o755),
    "good.sh": Entry(b"#!/bin/env sh\n", 0o755),
    "own.sh": Entry(b"#!/bin/sh\n", 0o744),
    "pkg/__init__.py": "__path__.append('more')\n",
    "pkg/sub/train.py": "raise SystemExit(1)\n",
    "more/late.py": "",
    "whole/__main__.py": "",
    "sourceless/__main__.pyc": "",
    "tools/fit": "#!/bin/sh\n",
    "ending/__init__.py": "import os; os._exit(3)\n",
}
"""The code."""
LACKING = {
    "python eval.py": "a script for python at /rra/code/eval.py, found none; hint: did you mean sub/eval.py?",
    "sh -c 'exec python a.py >log'": "a script for python at /rra/code/a.py, found none; hint: a path is relative",
    "python sub": "/rra/code/sub, found a folder; hint: add a __main__.py to it, or name a file in it",
    "sh sub": "/rra/code/sub, found a folder; hint: name a file in it",
    "fit": "a program fit on the PATH of tasks, found none; hint: did you mean ./tools/fit?",
    "solver --fit": "a program solver on the PATH of tasks, found none; hint: add its package",
    "env A=1 solver": "a program solver on",
    "sh -c 'cat run.py && solver'": "a program solver on",
    "./solver": "a program at /rra/code/solver, found none",
    "./sub": "a program at /rra/code/sub, found a folder",
    "./plain.sh": "/rra/code/plain.sh, found a file that is not executable; hint: a change may make",
    "./bare.sh": "found a text without a #! line; hint: begin it with a #! line",
    "./odd.sh": "found a script for '/bin/tcsh', which is not there; hint: add that interpreter's package",
    "sh -c ./odd.sh": "found a script for '/bin/tcsh', which is not there",
    "./dos.sh": r"found a script for 'sh\r', which is not there; hint: its lines end in CR LF",
    "python -m pkg.train": "a module pkg.train that python -m can run, found none; hint: add its package",
    "python -u -m train": "a module train that",
    "python -m run.py": "a module run.py that python -m can run, found none; hint: a module is named without .py",
    "python -m absent.inner": "a module absent.inner that",
    "python -m pkg": "found a package without __main__; hint: add a __main__.py to it, or name one of its modules",
}
"""What is said of commands that name what the image does not have."""
STARTING = (
    "./good.sh",
    "./own.sh",
    "python3 run.py",
    "python whole",
    "python sourceless",
    "sh -c ./bare.sh",
    "sh -c 'exec ./bare.sh'",
    "env ./bare.sh",
    "python -m whole",
    "python -m alpha",
    "python -m json.tool",
    "python -m pkg.sub.train",
    "python -m pkg.late",
    "sh sub/a.sh",
    "sh -c 'cat run.py > b.py && python b.py'",
    "python /tmp/made.py",
)
"""Commands that can start, or of which only a run can tell."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("store"))


def problems(
    store: Store,
    *commands: str,
    variables: dict[str, str] | None = None,
    extra: dict[str, Content] | None = None,
) -> dict[str, str]:
    """What is wrong with the commands of one image; those that are right are left out."""
    tasks = [{**task(f"t{number}"), "command": shlex.split(text)} for number, text in enumerate(commands)]
    parts = ArtifactImage(code=FILES, tasks=tasks, variables=variables or {}, extra=extra or {}).build(store)
    sandbox = BubblewrapSandbox(store, RealProcesses(), as_root=os.geteuid() == 0)
    found = command_problems(CleanShell(open_subject(parts, store), sandbox))
    assert all(": command: expected " in text and "; hint: " in text for text in found)
    return {commands[int(text.partition(":")[0].removeprefix("t"))]: text for text in found}


@pytest.fixture(scope="module")
def found(store: Store) -> dict[str, str]:
    """Of all commands above."""
    return problems(store, *LACKING, *STARTING)


@pytest.mark.parametrize("command", LACKING)
def test_what_a_command_names_and_the_image_lacks_is_told(found: dict[str, str], command: str) -> None:
    assert LACKING[command] in found[command]


@pytest.mark.parametrize("command", STARTING)
def test_a_command_that_may_start_is_no_problem(found: dict[str, str], command: str) -> None:
    assert command not in found


def test_a_package_that_ends_the_interpreter_hides_nothing_that_is_certain(store: Store) -> None:
    found = problems(store, "python -m ending.late", "python eval.py", "python -m run")
    assert set(found) == {"python eval.py"}


def test_a_variable_that_a_command_sets_counts(store: Store) -> None:
    assert set(problems(store, "env PYTHONPATH=more python -m late", "python -m late")) == {"python -m late"}


def test_where_nobody_knows_what_shells_run_first_only_other_commands_are_told(store: Store) -> None:
    commands = ("sh -c prepared", "sh absent.sh", "python eval.py")
    assert set(problems(store, *commands, variables={"BASH_ENV": "/data/environment.sh"})) == {commands[2]}
    assert set(problems(store, *commands)) == set(commands)


def test_login_shells_are_followed_where_only_the_path_is_given_back(store: Store) -> None:
    commands = (
        "sh -lc solver",
        "sh -lc 'exec python absent.py'",
        "sh -lc 'rra list'",
        "sh -lc 'exec python run.py'",
    )
    profile: dict[str, Content] = {PROFILE: "PATH='/opt/env/bin:/rra/bin:/usr/bin:/bin'\n"}
    assert set(problems(store, *commands, extra=profile)) == {*commands[:2]}
    assert problems(store, *commands) == {}
    assert problems(store, *commands, extra={**profile, "etc/profile.d/other.sh": "PATH=$PATH:/x\n"}) == {}


@pytest.mark.parametrize("path", [":/usr/bin:/bin", "tools:/usr/bin:/bin", "/data/bin:/usr/bin:/bin"])
def test_programs_that_may_lie_where_tasks_run_are_not_missed(store: Store, path: str) -> None:
    assert set(problems(store, "solver", "./solver", variables={"PATH": path})) == {"./solver"}


@pytest.mark.parametrize(("path", "missing"), [("more", {"python -m never"}), ("/data/lib", set[str]())])
def test_modules_are_looked_for_where_tasks_look(store: Store, path: str, missing: set[str]) -> None:
    found = problems(store, "python -m late", "python -m never", variables={"PYTHONPATH": path})
    assert set(found) == missing


def test_more_needs_than_an_argument_takes_are_asked_in_several(store: Store) -> None:
    names = [f"{'deep/' * 40}{number}.py" for number in range(900)]
    found = problems(
        store,
        "sh -ec '" + "\n".join(f"env python {name}" for name in names[:450]) + "'",
        "python eval.py",
        *(f"python {name}" for name in names[450:]),
    )
    assert len(found) == 452
