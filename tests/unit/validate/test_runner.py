"""What the launcher is asked for, what is told of a run without a record, and what the streams must have held."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from reprobridge.sandbox.model import Layer, Shell
from reprobridge.store.store import Store
from reprobridge.system.processes import Completed
from reprobridge.validate.runner import RunRequest, run_task
from reprobridge.validate.shell import LAUNCHER, CleanShell
from reprobridge.validate.subject import open_subject
from reprobridge_launcher import evidence
from reprobridge_launcher.plan import Request
from reprobridge_launcher.record import replaced
from support.publishing import record_of
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


class Measuring(Refusing):
    """A sandbox whose launcher leaves a record of a task with this log of its standard error, and says `said`."""

    def __init__(self, log: bytes, said: bytes) -> None:
        """Nothing was asked of it."""
        super().__init__()
        self.log, self.said = log, said
        self.record: evidence.Evidence | None = None

    def run(self, layers: Sequence[Layer], shell: Shell) -> Completed:
        """Leave the record and the logs, and say what there is to say."""
        del layers
        assert self.record is not None
        assert shell.on_stderr is not None
        folder = shell.writable["/out"] / self.record.task / self.record.run
        folder.mkdir(parents=True)
        (folder / "stdout.log").write_bytes(b"")
        (folder / "stderr.log").write_bytes(self.log)
        evidence.write(replaced(self.record, nonce=shell.environment["RRA_NONCE"]), str(folder))
        shell.on_stderr(self.said)
        return Completed(argv=shell.argv, returncode=0, stdout=b"", stderr=self.said)


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


WARNING = b"warning: cpus: 2 cores; deviation needs 64\nhint: give the container more: docker run --cpus\n"
NOTE = b"note: no folder of the host is mounted at /out\n"
FOREIGN = "stderr.log is not what came out of the sandbox"


def deviations(store_folder: Path, tmp_path: Path, log: bytes, said: bytes) -> tuple[str, ...]:
    """In what the runner finds a run to deviate whose task's log is `log`, and whose sandbox said `said`."""
    store, sandbox = Store(store_folder), Measuring(log, said)
    shell = CleanShell(open_subject(reviewed_image().build(store), store), sandbox)
    (task,) = shell.subject.artifact.tasks
    sandbox.record = record_of(shell.subject.artifact, task)
    result = run_task(shell, request_of(shell, tmp_path, Request()))
    assert result.record is not None
    return result.record.deviations


@pytest.mark.parametrize("log", [b"", b"epoch 1\n", b"no line's end", b"warning: slow\nepoch 1\n", WARNING])
@pytest.mark.parametrize("before", [b"", WARNING, WARNING + NOTE, WARNING * 2])
def test_what_the_launcher_says_before_and_after_a_task_is_no_deviation(
    store_folder: Path, tmp_path: Path, before: bytes, log: bytes
) -> None:
    after = b"rra: the evidence can't be written: no room\n"
    assert FOREIGN not in deviations(store_folder, tmp_path, log, before + log + after)


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (b"epoch 1\n", b""),
        (b"epoch 1\n", WARNING),
        (b"epoch 1\n", WARNING + b"epoch 2\n"),
        (b"epoch 1\n", b"epoch 0\nepoch 1\n"),
        (b"epoch 1\n", WARNING + b"epoch 0\nepoch 1\n"),
        (b"epoch 1\n", WARNING[:-1] + b"epoch 1\n"),
        (b"warning: slow\n", WARNING),
    ],
)
def test_another_log_than_what_came_out_is_a_deviation_whatever_the_launcher_said(
    store_folder: Path, tmp_path: Path, log: bytes, said: bytes
) -> None:
    assert FOREIGN in deviations(store_folder, tmp_path, log, said)
