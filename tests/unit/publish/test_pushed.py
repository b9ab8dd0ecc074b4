"""What the store remembers of registries."""

from pathlib import Path

import pytest

from reprobridge.digest import Digest, digest_json
from reprobridge.publish.pushed import MOST, RESULT, Mounts, remember_pushed
from reprobridge.store.store import Store

BLOB, OTHER = Digest.of(b"blob"), Digest.of(b"other")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_a_blob_may_be_mounted_from_where_it_was_pushed_at_the_same_registry(store: Store) -> None:
    remember_pushed(store, "one.test", "papers/a", [BLOB])
    remember_pushed(store, "one.test", "papers/b", [BLOB, OTHER])
    remember_pushed(store, "two.test", "papers/c", [BLOB])
    mounts = Mounts(store, "one.test", ())
    assert mounts.sources(BLOB, "papers/new") == ("papers/a", "papers/b")
    assert mounts.sources(OTHER, "papers/new") == ("papers/b",)
    assert mounts.sources(BLOB, "papers/a") == ("papers/b",)
    assert Mounts(store, "three.test", ()).sources(BLOB, "papers/new") == ()


def test_what_was_pushed_later_is_added(store: Store) -> None:
    remember_pushed(store, "one.test", "papers/a", [BLOB])
    remember_pushed(store, "one.test", "papers/a", [OTHER])
    assert Mounts(store, "one.test", ()).sources(BLOB, "papers/new") == ("papers/a",)


def test_repositories_that_are_sure_or_named_come_first_and_not_too_many_are_tried(store: Store) -> None:
    for number in range(5):
        remember_pushed(store, "one.test", f"papers/{number}", [BLOB])
    sources = Mounts(store, "one.test", ("named/one",)).sources(BLOB, "papers/new", ("sure/one",))
    assert sources == ("sure/one", "named/one", "papers/0")
    assert len(sources) == MOST


def test_a_damaged_memory_is_none(store: Store) -> None:
    store.remember(RESULT, digest_json("one.test"), ["no", "mapping"])
    assert Mounts(store, "one.test", ()).sources(BLOB, "papers/new") == ()
