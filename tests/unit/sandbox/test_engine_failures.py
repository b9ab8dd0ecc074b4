"""How a command ended in an engine, by what the engine says: its own failures are the sandbox's, all else is a value."""

import os
from pathlib import Path

import pytest

from reprobridge.errors import SandboxError
from reprobridge.sandbox.engine import EngineSandbox
from reprobridge.sandbox.model import Shell, Unusable
from reprobridge.store.store import Store
from reprobridge.system.processes import Command, Completed, RealProcesses

RLIMIT = (
    "runc create failed: unable to start container process: error during container init: error setting rlimits "
    "for ready process: error setting rlimit type 7: operation not permitted"
)
PODMAN = f"Error: runc: {RLIMIT}: OCI permission denied\n"
DOCKER = (
    f"docker: Error response from daemon: failed to create task for container: {RLIMIT}: permission denied\n\n"
    "Run 'docker run --help' for more information\n"
)
MISSING = 'exec: "/bin/x": stat /bin/x: no such file or directory'


class Ending:
    """Every `run` ends with this status, having said this; whatever else is asked of the engine works."""

    def __init__(self, status: int, stderr: str, stdout: str = "") -> None:
        self._script = 'printf %s "$1"; printf %s "$2" >&2; exit "$3"'
        self._words = (stdout, stderr, str(status))
        self.started = 0

    def run(self, command: Command) -> Completed:
        if command.argv[1] != "run":
            return Completed(argv=command.argv, returncode=0, stdout=b"", stderr=b"")
        self.started += 1
        pretended = Command(
            argv=("/bin/sh", "-c", self._script, "sh", *self._words),
            environment=dict(os.environ),
            on_stdout=command.on_stdout,
            on_stderr=command.on_stderr,
        )
        return RealProcesses().run(pretended)


def run(store_folder: Path, program: str, ending: Ending) -> Completed:
    """A command in the engine."""
    return EngineSandbox(Store(store_folder), ending, program).run([], Shell(argv=("/bin/x",)))


@pytest.mark.parametrize(
    ("program", "status", "said"),
    [
        ("podman", 126, PODMAN),
        ("docker", 126, DOCKER),
        ("podman", 127, f"warning\n{PODMAN}"),
        ("docker", 125, DOCKER),
    ],
)
def test_a_container_that_cannot_be_started_is_the_sandboxs_fault(
    store_folder: Path, program: str, status: int, said: str
) -> None:
    with pytest.raises(SandboxError, match="could not be started") as caught:
        run(store_folder, program, Ending(status, said))
    assert "error setting rlimit type 7" in str(caught.value.found)
    assert "--sandbox bubblewrap" in str(caught.value.hint)


def test_an_engine_that_fails_in_other_words_is_still_the_sandboxs_fault(store_folder: Path) -> None:
    with pytest.raises(SandboxError, match="no space left"):
        run(store_folder, "podman", Ending(125, "Error: no space left\n"))


@pytest.mark.parametrize(
    ("program", "status", "said"),
    [
        (
            "podman",
            127,
            f"Error: runc: {MISSING}: OCI runtime attempted to invoke a command that was not found\n",
        ),
        ("podman", 126, "Error: crun: open executable: Permission denied: OCI permission denied\n"),
        ("docker", 127, f"docker: Error response from daemon: failed to create task: {MISSING}: unknown\n"),
        ("podman", 126, "sh: /bin/y: Permission denied\n"),
        ("docker", 127, "Error: my own\n"),
        ("podman", 1, PODMAN),
    ],
)
def test_a_program_that_is_missing_and_a_commands_own_failure_are_values(
    store_folder: Path, program: str, status: int, said: str
) -> None:
    assert run(store_folder, program, Ending(status, said)).returncode == status


def test_a_command_that_printed_something_was_started(store_folder: Path) -> None:
    assert run(store_folder, "podman", Ending(126, PODMAN, "my result\n")).returncode == 126


NOTHING = f"Error: runc: {MISSING}: OCI runtime attempted to invoke a command that was not found\n"


def probed(store_folder: Path, ending: Ending, *, wanted: bool) -> Unusable | None:
    """Whether podman is usable."""
    return EngineSandbox(Store(store_folder), ending, "podman").probe(wanted=wanted)


@pytest.mark.parametrize(("status", "said"), [(126, PODMAN), (125, "Error: no space left\n")])
def test_an_engine_that_answers_but_starts_no_container_is_unusable(
    store_folder: Path, status: int, said: str
) -> None:
    problem = probed(store_folder, Ending(status, said), wanted=False)
    assert problem is not None
    assert problem.reason == f"podman starts no container: {said.strip()}"
    assert "podman run" in problem.hint


def test_an_engine_that_comes_as_far_as_missing_the_program_is_usable(store_folder: Path) -> None:
    assert probed(store_folder, Ending(127, NOTHING), wanted=False) is None


def test_a_wanted_engine_is_asked_for_an_answer_only(store_folder: Path) -> None:
    ending = Ending(126, PODMAN)
    assert probed(store_folder, ending, wanted=True) is None
    assert ending.started == 0
    assert probed(store_folder, ending, wanted=False) is not None
    assert ending.started == 1
