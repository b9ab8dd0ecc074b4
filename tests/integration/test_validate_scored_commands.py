"""Scored commands that can't start, told from those that can and from those of which nobody can say it, in one image."""

import os
import shlex

import pytest

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
    "ending/__init__.py": "import os; os._exit(3)\n",
}
"""The code."""
LACKING = {
    "python eval.py": "a script for python at /rra/code/eval.py, found none; hint: did you mean sub/eval.py?",
    "sh -c 'exec python a.py >log'": "a script for python at /rra/code/a.py, found none; hint: a path is relative",
    "python sub": "/rra/code/sub, found a folder",
    "sh sub": "/rra/code/sub, found a folder",
    "solver --fit": "a program solver on the PATH of tasks, found none; hint: add its package",
    "env A=1 solver": "a program solver on",
    "sh -c 'cat run.py && solver'": "a program solver on",
    "./solver": "a program at /rra/code/solver, found none",
    "./sub": "a program at /rra/code/sub, found a folder",
    "./plain.sh": "/rra/code/plain.sh, found a file that is not executable; hint: a change may make",
    "./bare.sh": "found a text without a #! line; hint: a change may make",
    "./odd.sh": "found a script for '/bin/tcsh', which is not there",
    "./dos.sh": r"found a script for 'sh\r', which is not there",
    "python -m pkg.train": "a module pkg.train that python -m can run, found none; hint: add its package",
    "python -u -m train": "a module train that",
    "python -m run.py": "a module run.py that",
    "python -m absent.inner": "a module absent.inner that",
    "python -m pkg": "found a package without __main__",
}
"""What is said of commands that name what the image does not have."""
STARTING = (
    "./good.sh",
    "./own.sh",
    "python3 run.py",
    "python whole",
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


def problems(store: Store, *commands: str) -> dict[str, str]:
    """What is wrong with the commands of one image; those that are right are left out."""
    tasks = [{**task(f"t{number}"), "command": shlex.split(text)} for number, text in enumerate(commands)]
    parts = ArtifactImage(code=FILES, tasks=tasks).build(store)
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
