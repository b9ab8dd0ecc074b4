"""The engine's sandbox with a real docker: a command sees there what it sees in bubblewrap."""

import os
import secrets
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import SandboxError
from reprobridge.sandbox.engine import IMAGE, EngineSandbox
from reprobridge.sandbox.model import NOT_FOUND, Layer, Shell
from reprobridge.store.store import Store
from reprobridge.system import files
from reprobridge.system.processes import RealProcesses
from support.engine import Engine
from support.layers import make_layer, shell_tree
from support.time_limits import first_that_began


@pytest.fixture(scope="module")
def layers(module_folder: Path) -> list[Layer]:
    made = [make_layer(shell_tree()), make_layer({"etc/greeting": "hello\n"})]
    return [Layer(layer.diff_id, layer.digest, layer.write(module_folder)) for layer in made]


@pytest.fixture
def sandbox(docker_engine: Engine, tmp_path: Path) -> EngineSandbox:
    return EngineSandbox(Store(tmp_path / "store"), RealProcesses(), "docker", docker_engine.environment)


def sh(script: str, **fields: object) -> Shell:
    return Shell(argv=("/bin/sh", "-c", script), **fields)  # type: ignore[arg-type]


def test_a_command_sees_layers_environment_and_user(sandbox: EngineSandbox, layers: list[Layer]) -> None:
    assert sandbox.probe(wanted=True) is None
    script = "cat /etc/greeting; echo $A; id -u; id -g; touch /x 2>/dev/null || echo refused; touch /tmp/a /out/b && ls /out"
    ended = sandbox.run(layers, sh(script, environment={"A": "b c", "PATH": "/bin"}, uid=4000012, gid=5))
    assert ended.stdout.decode().splitlines() == ["hello", "b c", "4000012", "5", "refused", "b"]
    assert ended.returncode == 0


def test_an_engine_that_starts_containers_is_usable(sandbox: EngineSandbox) -> None:
    assert sandbox.probe(wanted=False) is None


def test_layers_are_loaded_once_and_no_container_is_left(
    sandbox: EngineSandbox, layers: list[Layer], docker_engine: Engine
) -> None:
    assert sandbox.run(layers, sh("exit 0")).returncode == 0
    before = docker_engine.docker("images", "--quiet", IMAGE).stdout.split()
    loaded = docker_engine.docker(
        "inspect", "--format", "{{.Created}} {{.Metadata.LastTagTime}}", *before
    ).stdout
    mark = a_mark()
    assert sandbox.run(layers, sh(f": {mark}; exit 3")).returncode == 3
    assert (
        docker_engine.docker("inspect", "--format", "{{.Created}} {{.Metadata.LastTagTime}}", *before).stdout
        == loaded
    )
    assert containers(docker_engine, mark) == []


def a_mark() -> str:
    """A word that no other test's container knows: workers share an engine."""
    return f"mark-{secrets.token_hex(8)}"


def containers(engine: Engine, mark: str) -> list[str]:
    """Commands of the containers, ended ones too, that know this word."""
    listed = engine.docker("ps", "--all", "--no-trunc", "--format", "{{.Command}}").stdout
    return [command for command in listed.splitlines() if mark in command]


def test_a_timeout_ends_the_container(
    sandbox: EngineSandbox, layers: list[Layer], docker_engine: Engine
) -> None:
    mark = a_mark()
    script = f"echo {mark}; sleep 1000"
    ended = first_that_began(lambda seconds: sandbox.run(layers, sh(script, timeout=seconds)), seconds=2)
    assert (ended.timed_out, ended.stdout.decode()) == (True, f"{mark}\n")
    assert containers(docker_engine, mark) == []


def test_data_are_read_only_and_results_come_back(
    sandbox: EngineSandbox, layers: list[Layer], tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/x").write_text("data\n")
    with files.shared_folder(tmp_path / "results") as results:
        shell = sh(
            "cat /data/set/x; touch /data/set/y 2>/dev/null || echo refused; echo 5 >/out/value",
            readonly={"/data/set": tmp_path / "data"},
            writable={"/out": results},
            uid=os.getuid() or 65534,
        )
        assert sandbox.run(layers, shell).stdout == b"data\nrefused\n"
        assert (results / "value").read_text() == "5\n"


@pytest.mark.parametrize("name", ["com,ma", 'quo"te', "a b"])
def test_folders_of_any_name_can_be_bound(
    sandbox: EngineSandbox, layers: list[Layer], tmp_path: Path, name: str
) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "x").write_text("data\n")
    assert sandbox.run(layers, sh("cat /data/x", readonly={"/data": tmp_path / name})).stdout == b"data\n"


def test_a_missing_program_is_a_value(sandbox: EngineSandbox, layers: list[Layer]) -> None:
    assert sandbox.run(layers, Shell(argv=("/bin/nothing",))).returncode == NOT_FOUND


def test_a_program_that_must_not_be_run_is_a_value(sandbox: EngineSandbox, layers: list[Layer]) -> None:
    assert sandbox.run(layers, Shell(argv=("/etc/greeting",))).returncode == 126


@pytest.mark.parametrize("status", [126, 127])
def test_a_commands_own_status_is_a_value(sandbox: EngineSandbox, layers: list[Layer], status: int) -> None:
    assert sandbox.run(layers, sh(f"echo Error: mine >&2; exit {status}")).returncode == status


def test_a_container_that_the_engine_cannot_start_is_an_error_of_the_sandbox(
    sandbox: EngineSandbox, layers: list[Layer], tmp_path: Path
) -> None:
    shell = sh("exit 0", readonly={"/etc/greeting/below/a/file": tmp_path})
    with pytest.raises(SandboxError, match="could not be started") as caught:
        sandbox.run(layers, shell)
    assert str(caught.value.found).startswith("docker: Error response from daemon")
    assert "another sandbox" in str(caught.value.hint)


def test_an_engine_that_does_not_answer_is_unusable(tmp_path: Path) -> None:
    nowhere = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/no.sock"}
    store = Store(tmp_path / "store")
    problem = EngineSandbox(store, RealProcesses(), "docker", nowhere).probe(wanted=False)
    assert problem is not None
    assert "docker does not answer" in problem.reason


def test_layers_that_the_engine_refuses_are_an_error(
    sandbox: EngineSandbox, layers: list[Layer], tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"no gzip")
    with pytest.raises(SandboxError, match="docker load"):
        sandbox.run([Layer(layers[1].diff_id, Digest.of(b"no gzip"), broken)], sh("exit 0"))
