"""What bubblewrap is told, and how its end is read, with processes that only pretend."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from reprobridge.errors import SandboxError
from reprobridge.sandbox.bubblewrap import OPTIONS_LIMIT, BubblewrapSandbox
from reprobridge.sandbox.model import NOT_FOUND, Layer, Shell
from reprobridge.store.store import Store
from reprobridge.system.processes import Command, Completed
from support.layers import make_layer


class Pretended:
    """Notes commands and ends each as it is told; writes bubblewrap's status as bubblewrap would."""

    def __init__(self, returncode: int = 0, stderr: bytes = b"", *, started: bool = True) -> None:
        self.commands: list[Command] = []
        self._returncode, self._stderr, self._started = returncode, stderr, started

    def run(self, command: Command) -> Completed:
        self.commands.append(command)
        if self._started and "--json-status-fd" in command.argv:
            number = int(command.argv[command.argv.index("--json-status-fd") + 1])
            os.write(number, b'{ "child-pid": 1 }\n{ "exit-code": 0 }\n')
        if command.on_stderr:
            command.on_stderr(self._stderr)
        return Completed(argv=command.argv, returncode=self._returncode, stdout=b"", stderr=self._stderr)


@pytest.fixture
def layers(tmp_path: Path) -> Callable[[int], list[Layer]]:
    def make(count: int) -> list[Layer]:
        made = [make_layer({f"f{number}": str(number)}) for number in range(count)]
        return [Layer(layer.diff_id, layer.digest, layer.write(tmp_path)) for layer in made]

    return make


def lowers(command: Command) -> list[str]:
    return [command.argv[at + 1] for at, word in enumerate(command.argv) if word == "--overlay-src"]


def test_an_ordinary_users_options_never_pass_a_page(
    tmp_path: Path, layers: Callable[[int], list[Layer]]
) -> None:
    made = layers(120)
    for count in (1, 2, 30, 60, 120):
        processes = Pretended()
        store = Store(tmp_path / ("deep" * 20) / "store")
        BubblewrapSandbox(store, processes, as_root=False).run(made[:count], Shell(argv=("/bin/sh",)))
        taken = lowers(processes.commands[0])
        assert len("lowerdir=" + ":".join(f"/oldroot{path}" for path in taken)) < 4096
        assert sum(len(list(Path(path).glob("f*"))) for path in taken) == count


def test_root_has_short_names_and_merges_nothing(
    tmp_path: Path, layers: Callable[[int], list[Layer]]
) -> None:
    processes = Pretended()
    BubblewrapSandbox(Store(tmp_path / "store"), processes, as_root=True).run(
        layers(120), Shell(argv=("/bin/sh",), uid=77, gid=78)
    )
    command = processes.commands[0]
    assert len(lowers(command)) == 121
    assert len(":".join(f"/oldroot{path}" for path in lowers(command))) < OPTIONS_LIMIT
    assert "--uid" not in command.argv
    become = command.argv.index("-c")
    assert command.argv[become + 2 : become + 4] == ("77", "78")


def test_only_a_shell_that_asks_shares_the_network(
    tmp_path: Path, layers: Callable[[int], list[Layer]]
) -> None:
    for network in (False, True):
        processes = Pretended()
        BubblewrapSandbox(Store(tmp_path / "store"), processes, as_root=False).run(
            layers(1), Shell(argv=("/bin/sh",), network=network)
        )
        argv = processes.commands[0].argv
        assert "--unshare-all" in argv
        assert ("--share-net" in argv) is network


def test_a_command_that_never_began_is_an_error_with_bubblewraps_words(
    tmp_path: Path, layers: Callable[[int], list[Layer]]
) -> None:
    processes = Pretended(1, b"bwrap: setting up uid map: Permission denied\n", started=False)
    with pytest.raises(SandboxError, match="uid map"):
        BubblewrapSandbox(Store(tmp_path / "store"), processes, as_root=False).run(
            layers(1), Shell(argv=("/bin/sh",))
        )


def test_a_program_that_the_image_lacks_is_a_value(
    tmp_path: Path, layers: Callable[[int], list[Layer]]
) -> None:
    processes = Pretended(1, b"bwrap: execvp /bin/x: No such file or directory\n", started=False)
    ended = BubblewrapSandbox(Store(tmp_path / "store"), processes, as_root=False).run(
        layers(1), Shell(argv=("/bin/x",))
    )
    assert ended.returncode == NOT_FOUND


def test_the_probe_gives_up_overlays_before_it_gives_up(tmp_path: Path) -> None:
    class NoOverlays(Pretended):
        def run(self, command: Command) -> Completed:
            ended = super().run(command)
            failed = "--ro-overlay" in command.argv
            return Completed(argv=ended.argv, returncode=int(failed), stdout=b"", stderr=b"bwrap: overlay\n")

    processes = NoOverlays()
    assert BubblewrapSandbox(Store(tmp_path / "store"), processes, as_root=False).probe(wanted=False) is None
    assert len(processes.commands) == 2


def test_the_probe_tells_what_fails_and_what_to_do(tmp_path: Path) -> None:
    processes = Pretended(1, b"bwrap: No permissions to create new namespace\n")
    problem = BubblewrapSandbox(Store(tmp_path / "store"), processes, as_root=False).probe(wanted=False)
    assert problem is not None
    assert "No permissions to create new namespace" in problem.reason
    assert "--sandbox docker" in problem.hint


def test_a_root_that_may_mount_nothing_is_treated_as_an_ordinary_user(
    tmp_path: Path, layers: Callable[[int], list[Layer]]
) -> None:
    class NoView(Pretended):
        def run(self, command: Command) -> Completed:
            ended = super().run(command)
            failed = "--dev-bind" in command.argv
            return Completed(
                argv=ended.argv, returncode=int(failed), stdout=b"", stderr=b"bwrap: not permitted\n"
            )

    processes = NoView()
    sandbox = BubblewrapSandbox(Store(tmp_path / "store"), processes, as_root=True)
    assert sandbox.probe(wanted=False) is None
    assert sandbox.run(layers(1), Shell(argv=("/bin/sh",))).returncode == 0
    assert "--uid" in processes.commands[-1].argv
