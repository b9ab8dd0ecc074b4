"""What can't be made again is on the disk before anybody is told that it is there."""

from pathlib import Path

import pytest

from reprobridge.cli.key_files import write_pair
from reprobridge.digest import Digest
from reprobridge.lock.file import read_lock, write_lock
from reprobridge.publish.signing.keys import PrivateKey
from reprobridge.store.store import Store
from reprobridge.system import files
from reprobridge.system.durable import bring_to_disk, create_durably, write_durably
from support.artifacts import MINIMAL
from support.bookkeeping_disk import BookkeepingDisk


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> BookkeepingDisk:
    return BookkeepingDisk(monkeypatch)


def test_a_file_its_name_and_new_folders_are_brought_to_the_disk(
    disk: BookkeepingDisk, tmp_path: Path
) -> None:
    path = tmp_path / "a" / "b" / "file"
    write_durably(path, b"measured", mode=0o640)
    assert [place for place in (path, path.parent, tmp_path / "a", tmp_path) if not disk.holds(place)] == []


def test_a_new_file_replaces_an_older_one_in_one_step(disk: BookkeepingDisk, tmp_path: Path) -> None:
    write_durably(tmp_path / "file", b"old")
    write_durably(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert disk.holds(tmp_path / "file")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_file_that_nobody_has_made_yet_is_brought_to_the_disk(
    disk: BookkeepingDisk, tmp_path: Path
) -> None:
    create_durably(tmp_path / "new", b"secret", mode=0o600)
    assert disk.holds(tmp_path / "new")
    assert disk.holds(tmp_path)
    with pytest.raises(FileExistsError):
        create_durably(tmp_path / "new", b"other", mode=0o600)
    assert (tmp_path / "new").read_bytes() == b"secret"


def test_a_tree_is_brought_to_the_disk_up_to_the_folder_that_holds_it(
    disk: BookkeepingDisk, tmp_path: Path
) -> None:
    tree = tmp_path / "out" / "lda" / "run"
    (tree / "outputs").mkdir(parents=True)
    (tree / "outputs" / "table.csv").write_text("1\n")
    (tree / "link").symlink_to("/nowhere")
    bring_to_disk(tree, within=tmp_path / "out")
    wanted = [tree / "outputs" / "table.csv", tree / "outputs", tree, tree.parent, tmp_path / "out"]
    assert [place for place in wanted if not disk.holds(place)] == []
    assert not disk.holds(tmp_path)


def test_what_can_be_made_again_is_not_waited_for(disk: BookkeepingDisk, tmp_path: Path) -> None:
    files.write_file(tmp_path / "file", b"made again in no time")
    assert not disk.holds(tmp_path / "file")


def test_keys_locks_and_measurements_are_brought_to_the_disk(disk: BookkeepingDisk, tmp_path: Path) -> None:
    write_pair((tmp_path / "paper.key", tmp_path / "paper.pub"), PrivateKey.generate(), None)
    lock = read_lock(MINIMAL / "reprobridge.lock")
    write_lock(tmp_path / "reprobridge.lock", lock)
    Store(tmp_path / "store").remember_measured("scored", Digest.of(b"task"), {"record": "{}"})
    (record,) = (tmp_path / "store/results/scored").iterdir()
    wanted = [tmp_path / name for name in ("paper.key", "paper.pub", "reprobridge.lock")]
    assert [place for place in (*wanted, record, record.parent) if not disk.holds(place)] == []
