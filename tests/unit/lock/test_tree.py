"""Trees as values: what is part of them, what is refused, how they are kept and unpacked."""

import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.errors import ArtifactError, StoreError
from reprobridge.lock.kept_tree import KIND, has_tree, tree_blob
from reprobridge.lock.tree import (
    Found,
    found_file,
    found_link,
    history_in,
    keep_tree,
    tree_difference,
    tree_rows,
    unpack_tree,
)
from reprobridge.oci.tar import EntryKind, TarEntry
from reprobridge.store.store import Store
from support.tree_dump import dump_folder, dump_tar


def opener(data: bytes) -> Callable[[], AbstractContextManager[BinaryIO]]:
    return lambda: io.BytesIO(data)


def file(path: str, data: bytes = b"x", *, executable: bool = False) -> Found:
    return found_file(path, len(data), executable=executable, opener=opener(data))


def refusal(store: Store, *found: Found) -> str:
    with pytest.raises(ArtifactError) as raised:
        keep_tree(store, found, where="the source")
    return str(raised.value)


@pytest.fixture
def store(store_folder: Path) -> Store:
    return Store(store_folder)


def test_a_tree_is_kept_as_a_sorted_tar_without_folders_owners_or_times(store: Store) -> None:
    found = [file("b.py", b"print(1)\n"), found_link("a/link", "../b.py"), file("a/run", executable=True)]
    kept = keep_tree(store, found, where="source")
    dump = dump_tar(store.path(kept.blob), ordered=False, owners=True)
    assert [line.split(" ")[0] for line in dump] == ["symlink", "file", "file"]
    assert dump[0] == "symlink a/link -> ../b.py"
    assert dump[1].startswith("file 0755 0:0 ")
    assert dump[2].startswith("file 0644 0:0 ")
    assert tree_blob(store, kept.tree) == kept.blob


_NAME = st.text(alphabet="abcXYZé .-", min_size=1, max_size=8).filter(
    lambda name: name not in {".", ".."} and not name.startswith(".wh.")
)


@given(
    contents=st.dictionaries(
        _NAME, st.tuples(st.binary(max_size=2000), st.booleans()), min_size=1, max_size=6
    ),
    shuffle=st.randoms(use_true_random=False),
)
def test_the_digest_does_not_depend_on_the_order_of_files(
    tmp_path_factory: pytest.TempPathFactory,
    contents: dict[str, tuple[bytes, bool]],
    shuffle: "st.random.Random",  # type: ignore[name-defined]  # hypothesis exports no name for it
) -> None:
    store = Store(tmp_path_factory.mktemp("store"))
    found = [file(f"d/{name}", data, executable=executable) for name, (data, executable) in contents.items()]
    kept = keep_tree(store, found, where="source")
    shuffle.shuffle(found)
    assert keep_tree(store, found, where="source") == kept


def test_the_digest_depends_on_path_bytes_executable_bit_and_link_target(store: Store) -> None:
    variants = [
        [file("a", b"1")],
        [file("b", b"1")],
        [file("a", b"2")],
        [file("a", b"1", executable=True)],
        [file("a", b"1"), found_link("l", "a")],
        [file("a", b"1"), found_link("l", "./a")],
        [file("a", b"1"), file("l", b"a")],
    ]
    assert len({keep_tree(store, variant, where="source").tree for variant in variants}) == len(variants)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../out", "the component '..'"),
        ("a/../../out", "the component '..'"),
        ("/etc/passwd", "an absolute or empty one"),
        ("a//b", "the component ''"),
        ("", "an absolute or empty one"),
        ("a/./b", "the component '.'"),
        ("dir/.wh.secret", "delete files of other layers"),
        (".wh..wh..opq", "delete files of other layers"),
        ("nul\0byte", "one with NUL"),
        ("latin-\udce9", "other bytes"),
        ("n" * 256, "one of 256"),
    ],
)
def test_a_path_that_cannot_stand_in_an_image_is_refused(store: Store, path: str, reason: str) -> None:
    message = refusal(store, file("fine"), file(path))
    assert reason in message
    assert ascii(path) in message


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("l", "/etc/passwd"),
        ("l", ".."),
        ("l", "../other"),
        ("a/b/l", "../../../x"),
        ("a/b/l", "../../c/../../x"),
        ("l", ""),
        ("l", "a\0b"),
        ("l", "\udce9"),
    ],
)
def test_a_link_that_leaves_the_tree_or_names_nothing_is_refused(
    store: Store, path: str, target: str
) -> None:
    assert "'" + path + "'" in refusal(store, file("fine"), found_link(path, target))


@pytest.mark.parametrize(
    ("path", "target"),
    [("l", "a"), ("l", "dangling"), ("a/b/l", "../../fine"), ("l", "."), ("a/l", ".."), ("l", "l")],
)
def test_a_link_inside_the_tree_is_kept_even_when_it_leads_nowhere(
    store: Store, path: str, target: str
) -> None:
    kept = keep_tree(store, [file("fine"), found_link(path, target)], where="source")
    assert f"symlink {path} -> {target}" in dump_tar(store.path(kept.blob))


def test_a_link_that_leaves_the_tree_only_through_another_link_is_refused(store: Store) -> None:
    message = refusal(store, found_link("a/b/top", "../.."), found_link("a/b/out", "top/../x"), file("fine"))
    assert "'a/b/out'" in message
    assert "'a/b/top'" not in message


def test_a_link_into_a_deep_folder_may_step_up_from_there(store: Store) -> None:
    found = [found_link("down", "a/b/c"), file("a/b/c/f"), found_link("l", "down/../../b/c/f")]
    assert len(dump_tar(store.path(keep_tree(store, found, where="source").blob))) == 3


def test_two_entries_of_one_path_and_files_below_files_are_refused(store: Store) -> None:
    message = refusal(store, file("twice"), file("twice"), file("f"), file("f/g"))
    assert "2 paths" in message
    assert "'twice': it twice" in message
    assert "'f/g': it below 'f'" in message


def test_every_bad_path_is_reported_at_once(store: Store) -> None:
    message = refusal(store, *(file(f".wh.{number}") for number in range(20)))
    assert "20 paths" in message
    assert "and 12 more" in message


def test_a_tree_without_files_is_refused(store: Store) -> None:
    assert "the source is empty" in refusal(store)


def test_names_that_differ_in_case_only_are_a_warning(store: Store) -> None:
    kept = keep_tree(store, [file("Data/x"), file("data/y"), file("é"), file("E\u0301")], where="source")
    assert any("Data and data" in warning for warning in kept.warnings)
    assert len(kept.warnings) == 2


def test_a_file_that_shrinks_while_it_is_read_is_an_error_and_leaves_nothing(store: Store) -> None:
    shrunk = Found(TarEntry("log", EntryKind.FILE, 0o644, 10), opener(b"short"))
    assert "became shorter" in refusal(store, shrunk)
    assert not list((store.root / "blobs").rglob("*.tmp*"))
    assert not list(store.root.rglob(".tmp-*"))


def test_a_file_that_grows_while_it_is_read_counts_as_it_was(store: Store) -> None:
    grown = Found(TarEntry("log", EntryKind.FILE, 0o644, 5), opener(b"first and more"))
    assert (
        keep_tree(store, [grown], where="x").tree == keep_tree(store, [file("log", b"first")], where="x").tree
    )


def test_an_unpacked_tree_has_the_same_files_modes_and_links(store: Store, tmp_path: Path) -> None:
    long = "d" * 120 + "/" + "é" * 100
    found = [file("run.sh", b"#!/bin/sh\n", executable=True), file(long, b"deep"), found_link("l", long)]
    kept = keep_tree(store, found, where="source")
    unpack_tree(store, kept.tree, tmp_path)
    shown = [line for line in dump_folder(tmp_path) if not line.startswith("dir") and "store" not in line]
    assert shown == [line for line in dump_tar(store.path(kept.blob)) if not line.startswith("dir")]


def test_a_tree_whose_blob_is_gone_is_missing(store: Store) -> None:
    kept = keep_tree(store, [file("a")], where="source")
    store.path(kept.blob).unlink()
    assert not has_tree(store, kept.tree)
    with pytest.raises(StoreError, match="missing"):
        tree_blob(store, kept.tree)


def test_the_difference_of_two_trees_names_the_paths(store: Store) -> None:
    old = keep_tree(store, [file("same"), file("gone"), file("edited", b"1")], where="old").tree
    new = keep_tree(store, [file("same"), file("new"), file("edited", b"2")], where="new").tree
    assert tree_difference(store, old, new) == "edited (changed), gone (gone), new (new)"


def test_version_control_in_a_tree_is_named_by_its_topmost_folder_also_where_nobody_noted_it(
    store: Store,
) -> None:
    paths = ("a.py", "sub/.git", "sub/.git.py", ".HG/x", ".HG/.git/y")
    kept = keep_tree(store, [file(path) for path in paths], where="the source")
    assert history_in(store, kept.tree) == (".HG", "sub/.git")
    store.remember(KIND, kept.tree, {"blob": str(kept.blob), "warnings": []})
    assert history_in(store, kept.tree) == (".HG", "sub/.git")


def test_a_damaged_tree_of_the_store_is_an_error_that_says_what_to_do(store: Store) -> None:
    kept = keep_tree(store, [file("a.py", b"x" * 2000)], where="the source")
    path = store.path(kept.blob)
    whole = path.read_bytes()
    for damaged in (whole[:1000], whole[:300], b"?" + whole[1:], b""):
        path.write_bytes(damaged)
        with pytest.raises(ArtifactError, match="delete that file"):
            tree_rows(store, kept.tree)
