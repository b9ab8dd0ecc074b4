"""From a source tree to its fragment."""

import io
from pathlib import Path

import pytest

from reprobridge.assemble import tree
from reprobridge.assemble.fragment import FragmentWriter, LayerSink
from reprobridge.assemble.index import IndexEntry
from reprobridge.assemble.workshop import Workshop
from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError
from reprobridge.lock.tree import found_file, found_link, keep_tree
from reprobridge.plan.model import TreeRecipe
from reprobridge.store.store import Store


class Sink(LayerSink):
    """Keeps both streams of a layer."""

    def __init__(self) -> None:
        self.inflated, self.packed = bytearray(), bytearray()

    def tar(self, data: bytes) -> None:
        self.inflated += data

    def gzip(self, data: bytes) -> None:
        self.packed += data


def kept(store: Store) -> Digest:
    big = b"0123456789" * 400_000
    found = [
        found_file("run.py", 3, executable=True, opener=lambda: io.BytesIO(b"abc")),
        found_file("data/big", len(big), executable=False, opener=lambda: io.BytesIO(big)),
        found_link("data/latest", "big"),
    ]
    return keep_tree(store, found, where="source").tree


def converted(store: Store, recipe: TreeRecipe) -> list[IndexEntry]:
    writer = FragmentWriter(Sink())
    assert tree.convert(recipe, Workshop(store), writer) is None  # type: ignore[func-returns-value]  # no facts
    writer.close()
    return writer.entries


def test_a_tree_stands_below_its_root_with_its_modes_and_links(store_folder: Path) -> None:
    store = Store(store_folder)
    recipe = TreeRecipe(tree=kept(store), root="rra/code")
    entries = converted(store, recipe)
    shown = [(entry.path, entry.kind, oct(entry.mode), entry.size) for entry in entries]
    assert shown == [
        ("rra/code/data/big", "0", "0o644", 4_000_000),
        ("rra/code/data/latest", "2", "0o777", 0),
        ("rra/code/run.py", "0", "0o755", 3),
    ]
    assert entries[1].content == "big"
    assert entries[2].content == Digest.of(b"abc").hex


def test_the_same_tree_gives_the_same_bytes_from_any_store(tmp_path: Path) -> None:
    packed = []
    for name in ("one", "two"):
        store, sink = Store(tmp_path / name), Sink()
        writer = FragmentWriter(sink)
        tree.convert(TreeRecipe(tree=kept(store), root="rra/code"), Workshop(store), writer)
        writer.close()
        packed.append(bytes(sink.packed))
    assert packed[0] == packed[1]


def test_a_stored_tree_that_is_not_the_named_one_is_refused(store_folder: Path) -> None:
    store = Store(store_folder)
    real = kept(store)
    other = keep_tree(
        store, [found_file("x", 1, executable=False, opener=lambda: io.BytesIO(b"x"))], where="s"
    )
    store.remember("source-tree", real, {"blob": str(other.blob), "warnings": []})
    with pytest.raises(ArtifactError, match="not the one that its name says"):
        converted(store, TreeRecipe(tree=real, root="rra/code"))
