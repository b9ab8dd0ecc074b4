"""Vendor folders: what is in them, and building from them alone."""

import io
import json
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import AssembleError, StoreError, UsageError
from reprobridge.frozen import replace
from reprobridge.lock.fetch import Fetcher, Wanted
from reprobridge.lock.model import LockedFile
from reprobridge.lock.source import lock_source, obtain_refined
from reprobridge.lock.tree import found_file, keep_tree
from reprobridge.lock.vendor import locked_files, locked_trees, vendor
from reprobridge.spec.model import FolderSource, GitSource
from reprobridge.store.store import Store
from reprobridge.system.network import Offline
from support.git_repository import GitRepository
from support.lock_doors import doors, temporary_files
from support.specs import sample_deb, sample_lock, sample_spec, sample_wheel


@pytest.fixture
def store(store_folder: Path) -> Store:
    return Store(store_folder)


def stored(store: Store, name: str, data: bytes) -> LockedFile:
    return LockedFile(name, store.add(data), len(data))


def test_every_file_of_a_lock_is_listed_once() -> None:
    source = replace(sample_lock().source, file=LockedFile("src.tar.gz", Digest.of(b"s"), 1))
    lock = replace(sample_lock((sample_wheel("numpy"),), (sample_deb("libgl1"),)), source=source)
    both = replace(lock, platforms={**lock.platforms, "linux/arm64": lock.platforms["linux/amd64"]})
    names = [file.name for file in locked_files(both)]
    assert names == sorted(names)
    assert set(names) == {
        "src.tar.gz", "numpy-1.0-py3-none-any.whl", "libgl1_1_amd64.deb",
        "base-files_1_amd64.deb", "bash_1_amd64.deb", "python3.11_1_amd64.deb",
    }  # fmt: skip


def test_only_a_commits_tree_has_no_file_of_its_own() -> None:
    lock = sample_lock()
    assert locked_trees(lock) == ()
    assert locked_trees(replace(lock, source=replace(lock.source, kind="git"))) == (lock.source.tree,)


def test_files_are_named_as_published_and_listed(store: Store, tmp_path: Path) -> None:
    files = [stored(store, "a.whl", b"wheel"), stored(store, "b.deb", b"deb")]
    report = vendor(tmp_path / "vendor", files, (), store)
    assert report.written == ("a.whl", "b.deb")
    assert report.size == 8
    assert (tmp_path / "vendor/a.whl").read_bytes() == b"wheel"
    listing = json.loads((tmp_path / "vendor/index.json").read_bytes())
    assert listing["files"]["b.deb"] == {"name": "b.deb", "sha256": Digest.of(b"deb").hex, "size": 3}


def test_two_files_of_one_name_are_both_there(store: Store, tmp_path: Path) -> None:
    files = [
        stored(store, "a.whl", b"one"),
        stored(store, "a.whl", b"two"),
        stored(store, "index.json", b"3"),
    ]
    vendor(tmp_path / "vendor", files, (), store)
    empty = Store(tmp_path / "empty")
    wanted = [Wanted(name=f.name, sha256=f.sha256, size=f.size, addresses=tuple) for f in files]
    assert len(list(Fetcher(empty, Offline(), vendored=[tmp_path / "vendor"]).fetch(wanted))) == 3


def test_a_second_run_writes_only_what_is_missing_or_broken(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "vendor"
    files = [stored(store, name, name.encode()) for name in ("a", "b", "c", "d")]
    vendor(folder, files, (), store)
    before = (folder / "index.json").read_bytes()
    (folder / "b").write_bytes(b"B")
    (folder / "c").unlink()
    (folder / "notes.txt").write_text("the author's own")
    report = vendor(folder, files, (), store)
    assert (report.written, report.kept) == (("b", "c"), ("a", "d"))
    assert vendor(folder, files, (), store).written == ()
    assert (folder / "index.json").read_bytes() == before
    assert (folder / "notes.txt").exists()


def test_a_damaged_object_of_the_store_never_reaches_the_folder(store: Store, tmp_path: Path) -> None:
    file = stored(store, "a.whl", b"wheel")
    store.path(file.sha256).write_bytes(b"WHEEL")
    with pytest.raises(StoreError, match=r"a\.whl"):
        vendor(tmp_path / "vendor", [file], (), store)
    assert not (tmp_path / "vendor/a.whl").exists()
    assert not temporary_files(tmp_path / "vendor")


def test_editing_the_folder_leaves_the_store_alone(store: Store, tmp_path: Path) -> None:
    file = stored(store, "a.whl", b"wheel")
    vendor(tmp_path / "vendor", [file], (), store)
    with (tmp_path / "vendor/a.whl").open("r+b") as stream:
        stream.write(b"WHEEL")
    assert store.read(file.sha256) == b"wheel"


def test_a_folder_that_cannot_be_written_is_named(store: Store, tmp_path: Path) -> None:
    (tmp_path / "vendor").write_text("a file")
    with pytest.raises(AssembleError, match=str(tmp_path / "vendor")):
        vendor(tmp_path / "vendor", [stored(store, "a", b"a")], (), store)


def test_a_vendored_commit_is_refined_without_git_and_network(tmp_path: Path) -> None:
    repository = GitRepository(tmp_path / "upstream")
    repository.write("run.py", "print(1)\n")
    repository.write("tool", "#!/bin/sh\n", mode=0o755)
    spec = sample_spec(source=GitSource(repository.url, repository.commit()))
    opened = doors(tmp_path / "store")
    locked = lock_source(spec, tmp_path, opened).locked
    vendor(tmp_path / "vendor", (), [locked.tree], opened.store)
    offline = doors(
        tmp_path / "empty", environment={"PATH": "/nowhere", "REPROBRIDGE_VENDOR": str(tmp_path / "vendor")}
    )
    assert obtain_refined(spec, locked, tmp_path, offline) == locked.refined


@pytest.mark.parametrize("damage", [bytes, lambda tar: tar[:700], lambda _: b"no tar"])
def test_a_vendored_tree_with_other_or_broken_content_is_passed_over(
    store: Store, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a").write_text("a")
    spec = sample_spec(source=FolderSource(PurePosixPath("src")))
    locked = replace(lock_source(spec, tmp_path, doors(store.root)).locked, kind="git")
    other = keep_tree(
        store, [found_file("b", 1, executable=False, opener=lambda: io.BytesIO(b"b"))], where="b"
    )
    (tmp_path / f"{locked.tree.hex}.tar").write_bytes(damage(store.read(other.blob)))
    empty = doors(tmp_path / "empty", environment={"REPROBRIDGE_VENDOR": f"/none:{tmp_path}"})
    # The origin is asked, which in this test is the folder.
    assert obtain_refined(spec, locked, tmp_path, empty) == locked.tree


@pytest.mark.parametrize("listing", [b"{}", b"mine", b"[1]"])
def test_a_listing_of_somebody_elses_is_not_overwritten(listing: bytes, store: Store, tmp_path: Path) -> None:
    (tmp_path / "index.json").write_bytes(listing)
    with pytest.raises(UsageError, match="holds something else") as caught:
        vendor(tmp_path, [stored(store, "a.whl", b"wheel")], (), store)
    assert "--to FOLDER" in str(caught.value.hint)
    assert (tmp_path / "index.json").read_bytes() == listing
    assert not (tmp_path / "a.whl").exists()


@pytest.mark.parametrize("name", ["a.whl", "index.json"])
def test_a_folder_in_the_way_of_a_file_is_told_with_a_way_out(
    name: str, store: Store, tmp_path: Path
) -> None:
    vendor(tmp_path / "vendor", [], (), store)
    (tmp_path / "vendor" / "index.json").unlink()
    (tmp_path / "vendor" / name).mkdir()
    with pytest.raises((AssembleError, UsageError)) as caught:
        vendor(tmp_path / "vendor", [stored(store, "a.whl", b"wheel")], (), store)
    assert "--to FOLDER" in str(caught.value.hint)
