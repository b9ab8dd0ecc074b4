"""Reading folders as trees, and knowing without reading that one is unchanged."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError, LockError
from reprobridge.lock.folder import SETTLED, Readings, read_folder
from reprobridge.store.store import Store
from support.file_times import let_it_tick
from support.tree_dump import dump_tar


def much_later() -> int:
    return time.time_ns() + 10 * SETTLED


@pytest.fixture
def store(store_folder: Path) -> Store:
    return Store(store_folder)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "run.py").write_text("print(1)\n")
    return folder


def digest(store: Store, folder: Path, *exclude: str) -> Digest:
    return read_folder(store, folder, exclude).kept.tree


def names(store: Store, folder: Path, *exclude: str) -> list[str]:
    blob = read_folder(store, folder, exclude).kept.blob
    return [line.split(" ")[-1] for line in dump_tar(store.path(blob))]


def test_a_folder_becomes_a_tree_without_exclusions_and_with_its_history_unless_excluded(
    store: Store, source: Path
) -> None:
    for path in (".git/config", "sub/.git", "sub/.hg/x", "sub/a.py", "results/score.csv", ".gitignore"):
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_text(path)
    (source / "empty").mkdir()
    history = [".git/config", "sub/.git", "sub/.hg/x"]
    code = [".gitignore", "run.py", "sub/a.py"]
    assert names(store, source, "results/**") == sorted([*code, *history])
    assert names(store, source, "results/**", "**/.git", "**/.hg") == code


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    umask=st.sampled_from([0o000, 0o002, 0o022, 0o027, 0o077]),
    names=st.permutations(["a", "b/c", "b/d", "é"]),
    mtime=st.integers(0, 2**32),
)
def test_the_digest_does_not_depend_on_umask_order_or_times(
    tmp_path_factory: pytest.TempPathFactory, umask: int, names: list[str], mtime: int
) -> None:
    folder = tmp_path_factory.mktemp("source")
    before = os.umask(umask)
    try:
        for name in names:
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(name)
            path.chmod(path.stat().st_mode | (0o100 if name == "a" else 0))
            os.utime(path, (mtime, mtime))
    finally:
        os.umask(before)
    found = digest(Store(tmp_path_factory.mktemp("store")), folder)
    # Made by hand with sha256sum: `0755 <SHA-256 of "a"> a`, `0644 … b/c`, `0644 … b/d`, `0644 … \xe9`.
    assert found == Digest("7d3d86486fc9f8334f94e1e3dbbcec8e9c60ca6a62f188e1dd6426e72e0942a2")


def test_an_unchanged_folder_is_known_without_reading_it(store: Store, source: Path) -> None:
    first = read_folder(store, source, clock=much_later)
    # Bytes that `lstat` can't tell from the old ones would only be seen by reading.
    store.path(first.kept.blob).write_bytes(b"not read again")
    assert read_folder(store, source, clock=much_later) == first


def test_a_file_that_was_written_just_before_the_reading_is_read_again(store: Store, source: Path) -> None:
    read_folder(store, source, clock=lambda: (source / "run.py").stat().st_mtime_ns + SETTLED - 1)
    assert not list((store.root / "results").glob("source-folder/*"))


@pytest.mark.parametrize("change", ["content", "mode", "new", "gone", "link", "renamed"])
def test_any_change_of_a_remembered_folder_is_seen(
    store: Store, source: Path, tmp_path: Path, change: str
) -> None:
    (source / "other.py").write_text("other\n")
    (source / "link").symlink_to("run.py")
    first = read_folder(store, source, clock=much_later).kept.tree
    times = (source / "run.py").stat()
    let_it_tick(tmp_path)
    match change:
        case "content":
            (source / "run.py").write_text("print(2)\n")
            os.utime(source / "run.py", ns=(times.st_atime_ns, times.st_mtime_ns))
        case "mode":
            (source / "run.py").chmod(0o755)
        case "new":
            (source / "new.py").write_text("")
        case "gone":
            (source / "other.py").unlink()
        case "link":
            (source / "link").unlink()
            (source / "link").symlink_to("none.py")
        case _:
            (source / "other.py").rename(source / "another.py")
    assert read_folder(store, source, clock=much_later).kept.tree != first


def test_a_remembered_tree_that_left_the_store_is_read_again(store: Store, source: Path) -> None:
    kept = read_folder(store, source, clock=much_later).kept
    store.path(kept.blob).unlink()
    assert read_folder(store, source, clock=much_later).kept == kept
    assert store.has(kept.blob)


def test_exclusions_are_part_of_what_is_remembered(store: Store, source: Path) -> None:
    (source / "scores.csv").write_text("1\n")
    whole = read_folder(store, source, clock=much_later).kept.tree
    assert read_folder(store, source, ("*.csv",), clock=much_later).kept.tree != whole
    assert read_folder(store, source, clock=much_later).kept.tree == whole


def test_exclusions_that_match_nothing_are_named_also_for_a_remembered_folder(
    store: Store, source: Path
) -> None:
    for _ in range(2):
        assert read_folder(store, source, ("resutls/**",), clock=much_later).unused == ("resutls/**",)


def test_special_files_are_refused_unless_excluded(store: Store, source: Path) -> None:
    os.mkfifo(source / "pipe")
    with pytest.raises(ArtifactError, match="special file"):
        read_folder(store, source)
    assert names(store, source, "pipe") == ["run.py"]


def test_names_that_are_not_utf8_are_refused_whatever_the_locale(store: Store, source: Path) -> None:
    (Path(os.fsdecode(os.fsencode(source) + b"/caf\xe9"))).write_text("x")
    with pytest.raises(ArtifactError, match="names in UTF-8"):
        read_folder(store, source)


def test_a_missing_folder_and_a_file_in_its_place_are_named(store: Store, source: Path) -> None:
    with pytest.raises(LockError, match="found: nothing"):
        read_folder(store, source / "none")
    with pytest.raises(LockError, match="found: a file"):
        read_folder(store, source / "run.py")


def test_one_command_sees_one_state_of_a_folder_and_the_next_one_another(store: Store, source: Path) -> None:
    readings = Readings()
    first = readings.read(store, source, ()).kept.tree
    (source / "run.py").write_text("print(2)\n")
    assert readings.read(store, source, ()).kept.tree == first
    assert Readings().read(store, source, ()).kept.tree != first


def test_what_is_left_out_makes_another_reading(store: Store, source: Path) -> None:
    (source / "score.csv").write_text("1")
    readings = Readings()
    whole = readings.read(store, source, ()).kept.tree
    assert readings.read(store, source, ("score.csv",)).kept.tree != whole
