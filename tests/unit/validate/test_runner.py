"""What is told of a run of which the launcher left no record."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from reprobridge.sandbox.model import Layer, Shell
from reprobridge.store.store import Store
from reprobridge.system.processes import Completed
from reprobridge.validate.runner import RunRequest, run_task
from reprobridge.validate.shell import CleanShell
from reprobridge.validate.subject import open_subject
from reprobridge_launcher.plan import Request
from support.reviewed_image import reviewed_image


class Refusing:
    """A sandbox whose launcher refuses the request and leaves nothing."""

    kind = "refusing"

    def probe(self) -> None:
        """It works."""

    def run(self, layers: Sequence[Layer], shell: Shell) -> Completed:
        """Say what is wrong, as the launcher does, and end."""
        del layers
        said = b"rra: deviation draws nothing at random\nleave --seed out\n"
        if shell.on_stderr is not None:
            shell.on_stderr(said)
        return Completed(argv=shell.argv, returncode=2, stdout=b"", stderr=said)


def ignore(block: bytes) -> None:
    """Nobody watches."""
    del block


@pytest.fixture
def shell(store_folder: Path) -> CleanShell:
    store = Store(store_folder)
    return CleanShell(open_subject(reviewed_image().build(store), store), Refusing())


def test_a_request_that_the_launcher_refuses_is_told_in_its_words_only(
    shell: CleanShell, tmp_path: Path
) -> None:
    (task,) = shell.subject.artifact.tasks
    request = RunRequest(
        task=task,
        options=Request(seed=3, repeat=None),
        out=tmp_path / "out",
        user=1000,
        show=(ignore, ignore),
    )
    result = run_task(shell, request)
    said = "deviation draws nothing at random; leave --seed out"
    assert result.problem == f"nothing was recorded; the launcher ended with 2: {said}"
    assert (result.exit_code, result.record) == (2, None)
