"""What the launcher is asked for, and what is told of a run of which it left no record."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from reprobridge.sandbox.model import Layer, Shell
from reprobridge.store.store import Store
from reprobridge.system.processes import Completed
from reprobridge.validate.runner import RunRequest, run_task
from reprobridge.validate.shell import LAUNCHER, CleanShell
from reprobridge.validate.subject import open_subject
from reprobridge_launcher.plan import Request
from support.reviewed_image import reviewed_image


class Refusing:
    """A sandbox whose launcher refuses the request and leaves nothing."""

    kind = "refusing"

    def __init__(self) -> None:
        """Nothing was asked of it."""
        self.asked: list[tuple[str, ...]] = []

    def probe(self, *, wanted: bool) -> None:
        """It works."""

    def run(self, layers: Sequence[Layer], shell: Shell) -> Completed:
        """Say what is wrong, as the launcher does, and end."""
        del layers
        self.asked.append(tuple(shell.argv))
        said = b"rra: deviation draws nothing at random\nleave --seed out\n"
        if shell.on_stderr is not None:
            shell.on_stderr(said)
        return Completed(argv=shell.argv, returncode=2, stdout=b"", stderr=said)


def ignore(block: bytes) -> None:
    """Nobody watches."""
    del block


@pytest.fixture
def sandbox() -> Refusing:
    return Refusing()


@pytest.fixture
def shell(store_folder: Path, sandbox: Refusing) -> CleanShell:
    store = Store(store_folder)
    return CleanShell(open_subject(reviewed_image().build(store), store), sandbox)


def request_of(shell: CleanShell, folder: Path, options: Request) -> RunRequest:
    """A run of the image's only task."""
    (task,) = shell.subject.artifact.tasks
    return RunRequest(task=task, options=options, out=folder / "out", user=1000, show=(ignore, ignore))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (Request(), ()),
        (Request(seed=0, repeat=2), ("--seed=0", "--repeat=2")),
        (Request(anyway=True), ("--anyway",)),
    ],
)
def test_the_launcher_is_asked_for_what_the_user_asked_for(
    shell: CleanShell, sandbox: Refusing, tmp_path: Path, options: Request, words: tuple[str, ...]
) -> None:
    request = request_of(shell, tmp_path, options)
    run_task(shell, request)
    assert sandbox.asked == [(LAUNCHER, "run", request.task.id, *words)]


def test_a_request_that_the_launcher_refuses_is_told_in_its_words_only(
    shell: CleanShell, tmp_path: Path
) -> None:
    result = run_task(shell, request_of(shell, tmp_path, Request(seed=3)))
    said = "deviation draws nothing at random; leave --seed out"
    assert result.problem == f"nothing was recorded; the launcher ended with 2: {said}"
    assert (result.exit_code, result.record) == (2, None)
