"""The local store."""

import os
import pwd
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.digest import CHUNK, Digest
from reprobridge.errors import ArtifactError, StoreError
from reprobridge.store.store import Store, default_root

KNOWN_HOME = pwd.getpwuid(os.getuid()).pw_dir
"""What the system knows of us."""


def blobs_of(store: Store) -> list[str]:
    """Names of everything below blobs/."""
    return sorted(path.name for path in (store.root / "blobs").rglob("*") if path.is_file())


@given(st.binary(max_size=200))
def test_what_was_added_reads_back_under_its_digest(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    store = Store(tmp_path_factory.getbasetemp() / "shared")
    digest = store.add(data)
    assert digest == Digest.of(data)
    assert store.read(digest) == data


def test_a_blob_that_was_not_committed_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.writer() as blob:
        blob.write(b"half")
    assert blobs_of(store) == []


def test_a_blob_with_another_digest_than_promised_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with store.writer() as blob:
        blob.write(b"other bytes")
        with pytest.raises(ArtifactError, match="expected: sha256:"):
            blob.commit(Digest.of(b"these bytes"))
    assert blobs_of(store) == []


def test_a_damaged_blob_is_named_and_removed(tmp_path: Path) -> None:
    store = Store(tmp_path)
    digest = store.add(b"bytes")
    store.path(digest).write_bytes(b"bites")
    with pytest.raises(StoreError, match=f"{store.path(digest)}: a damaged object"):
        store.read(digest)
    assert not store.has(digest)


def test_a_blob_that_is_damaged_is_noticed_behind_its_last_block_at_the_latest(tmp_path: Path) -> None:
    store = Store(tmp_path)
    data = bytes(CHUNK + 1)
    digest = store.add(data)
    assert b"".join(store.blocks(digest)) == data
    store.path(digest).write_bytes(bytes(CHUNK) + b"1")
    with pytest.raises(StoreError, match="damaged"):
        list(store.blocks(digest))
    assert not store.has(digest)


def test_a_missing_blob_is_an_error_that_names_it(tmp_path: Path) -> None:
    digest = Digest.of(b"never")
    with pytest.raises(StoreError, match=digest.hex):
        Store(tmp_path).read(digest)


def test_a_result_with_broken_json_counts_as_unknown(tmp_path: Path) -> None:
    store = Store(tmp_path)
    key = Digest.of(b"key")
    store.remember("wheel", key, {"index": "x"})
    (tmp_path / "results" / "wheel" / key.hex).write_text("{")
    assert store.result("wheel", key) is None


@pytest.mark.parametrize(
    ("settings", "root"),
    [
        ({"REPROBRIDGE_STORE": "/s", "XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/s"),
        ({"REPROBRIDGE_STORE": "", "XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/reprobridge"),
        ({"XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/reprobridge"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/reprobridge"),
        ({"HOME": ""}, f"{KNOWN_HOME}/.cache/reprobridge"),
        ({"HOME": "relative"}, f"{KNOWN_HOME}/.cache/reprobridge"),
    ],
)
def test_the_store_lies_in_the_users_cache_folder_and_empty_and_relative_ones_count_as_unset(
    settings: dict[str, str], root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("REPROBRIDGE_STORE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert default_root() == Path(root)


def test_a_home_in_the_stores_place_that_no_shell_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPROBRIDGE_STORE", "~/store")
    with pytest.raises(StoreError, match="~ written out"):
        default_root()


def test_a_reference_follows_the_last_word(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for text in (b"one", b"two"):
        store.refer("reprobridge/wine", "1.0.0", Digest.of(text))
    assert list(store.references()) == [("reprobridge/wine", "1.0.0", Digest.of(b"two"))]


def test_a_reference_that_moves_gives_what_it_meant_while_that_is_here(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second = store.add(b"one"), store.add(b"two")
    assert store.refer("a/one", "1", first) is None
    assert store.refer("a/one", "1", first) is None
    assert store.refer("a/one", "1", second) == first
    store.path(second).unlink()
    assert store.refer("a/one", "1", first) is None


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "version").write_text("99\n")
    with pytest.raises(StoreError, match="version 1"):
        Store(tmp_path)


def test_a_store_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="REPROBRIDGE_STORE"):
        Store(tmp_path / "file" / "store")


def test_a_link_to_nowhere_in_the_stores_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "store").symlink_to("unmounted")
    with pytest.raises(StoreError, match="a link to unmounted, where nothing is"):
        Store(tmp_path / "store")


def test_an_unreadable_reference_counts_as_none(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.refer("a/one", "1", store.add(b"manifest"))
    (tmp_path / "references" / "a" / "one" / "2").write_bytes(b"")
    assert store.referenced("a/one", "2") is None
    assert store.referenced("a/one/1", "x") is None
    assert [tag for _, tag, _ in store.references()] == ["1"]


def test_a_store_is_absolute_and_says_when_it_takes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = Store(Path("here"))
    assert store.root == tmp_path / "here"
    (tmp_path / "here" / "results").write_bytes(b"in the way")
    with pytest.raises(StoreError, match="cannot be used"):
        store.remember("kind", Digest.of(b""), {})


def test_a_length_is_asked_for_what_may_not_be_here(tmp_path: Path) -> None:
    store = Store(tmp_path)
    here, gone = store.add(b"four"), Digest.of(b"gone")
    assert (store.size_if_here(here), store.size_if_here(gone)) == (4, None)
    assert store.size(here) == 4
    with pytest.raises(StoreError, match="missing from the store"):
        store.size(gone)


def test_a_folder_that_is_used_for_something_else_is_refused_and_stays_as_it_is(tmp_path: Path) -> None:
    for name in ("thesis.tex", "data.csv", "blobs", "notes", "zoo"):
        (tmp_path / name).touch()
    with pytest.raises(StoreError, match="the folder is no store") as caught:
        Store(tmp_path)
    assert caught.value.where == str(tmp_path)
    assert caught.value.found == "other files: data.csv, notes, thesis.tex, …"
    assert f"--store or REPROBRIDGE_STORE, for example {tmp_path}/" in str(caught.value.hint)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "blobs",
        "data.csv",
        "notes",
        "thesis.tex",
        "zoo",
    ]


@pytest.mark.parametrize("names", [(), ("lost+found",), ("blobs", "lock"), (".tmp-1-0123456789ab",)])
def test_an_empty_folder_a_volume_and_a_store_without_its_version_become_stores(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    for name in names:
        (tmp_path / name).mkdir()
    Store(tmp_path)
    assert (tmp_path / "version").read_text() == "1\n"


def test_other_files_in_a_store_do_not_matter(tmp_path: Path) -> None:
    digest = Store(tmp_path).add(b"bytes")
    (tmp_path / "README").touch()
    assert Store(tmp_path).read(digest) == b"bytes"


def test_a_blob_that_was_cut_off_counts_as_missing_and_is_written_again(tmp_path: Path) -> None:
    store = Store(tmp_path)
    digest = store.add(b"bytes")
    store.path(digest).write_bytes(b"byt")
    assert store.has(digest)
    assert not store.holds(digest, 5)
    assert store.add(b"bytes") == digest
    assert store.holds(digest, 5)


def test_only_a_damaged_blob_is_dropped(tmp_path: Path) -> None:
    store = Store(tmp_path)
    sound, damaged = store.add(b"bytes"), store.add(b"others")
    store.path(damaged).write_bytes(b"oth")
    assert [store.drop_damaged(digest) for digest in (sound, damaged)] == [False, True]
    assert [store.has(digest) for digest in (sound, damaged)] == [True, False]
