"""Pruning a store."""

import os
import threading
from pathlib import Path

from reprobridge.digest import Digest
from reprobridge.oci.model import Descriptor, Manifest, MediaType
from reprobridge.sandbox.model import Layer
from reprobridge.sandbox.unpack import Unpacker
from reprobridge.store.prune import KINDS, clear, measure, measured, prune
from reprobridge.store.store import Store
from reprobridge.system.leftovers import TEMPORARY
from support.layers import make_layer

NEVER_YOUNG = 2**40
"""A time after which nothing was made."""


def stored_image(store: Store) -> tuple[Digest, list[Digest]]:
    """An image with one layer and a reference; gives its manifest and all its blobs."""
    layer, config = store.add(b"layer"), store.add(b"config")
    manifest = Manifest(
        config=Descriptor(MediaType.CONFIG, config, 6), layers=(Descriptor(MediaType.LAYER, layer, 5),)
    )
    digest = store.add(manifest.to_bytes())
    store.refer("reprobridge/wine", "1.0.0", digest)
    return digest, [digest, config, layer]


def test_pruning_keeps_images_and_drops_the_rest(tmp_path: Path) -> None:
    store = Store(tmp_path)
    _, blobs = stored_image(store)
    loose = store.add(b"a wheel")
    assert prune(store, keep_after=NEVER_YOUNG) >= len(b"a wheel")
    assert not store.has(loose)
    assert all(store.has(blob) for blob in blobs)


def test_pruning_keeps_the_record_of_a_kept_image_only(tmp_path: Path) -> None:
    store = Store(tmp_path)
    manifest, _ = stored_image(store)
    kept, dropped = Digest.of(b"kept"), Digest.of(b"dropped")
    store.remember("image", kept, {"manifest": str(manifest)})
    store.remember("image", dropped, {"manifest": str(Digest.of(b"gone"))})
    prune(store, keep_after=NEVER_YOUNG)
    assert store.result("image", kept) is not None
    assert store.result("image", dropped) is None


def test_pruning_keeps_measurements_and_what_is_known_about_kept_images(tmp_path: Path) -> None:
    store = Store(tmp_path)
    manifest, _ = stored_image(store)
    gone = Digest.of(b"gone")
    for kind in ("validation", "composition"):
        store.remember(kind, manifest, {})
        store.remember(kind, gone, {})
    store.remember("scored", gone, {})
    store.remember("claims", manifest, {})
    kept = tmp_path / "evidence" / "run"
    kept.mkdir(parents=True)
    prune(store, keep_after=NEVER_YOUNG)
    left = {(path.parent.name, path.name) for path in (tmp_path / "results").glob("*/*")}
    about = {("validation", manifest.hex), ("composition", manifest.hex)}
    assert left == {*about, ("scored", gone.hex)}
    assert kept.is_dir()


def test_pruning_keeps_what_is_young(tmp_path: Path) -> None:
    store = Store(tmp_path)
    young = store.add(b"young")
    prune(store, keep_after=0)
    assert store.has(young)


def test_pruning_removes_unfinished_files_of_dead_processes_only(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add(b"so that the folder is there")
    dead = tmp_path / "blobs" / f"{TEMPORARY}{2**22 + 1}-abc"
    alive = tmp_path / "blobs" / f"{TEMPORARY}{os.getpid()}-abc"
    for path in (dead, alive):
        path.write_bytes(b"half")
    prune(store, keep_after=0)
    assert (dead.exists(), alive.exists()) == (False, True)


def test_whoever_waits_for_others_is_told_before_and_deletes_nothing_until_they_end(tmp_path: Path) -> None:
    store = Store(tmp_path)
    loose = store.add(b"a wheel that others use")
    told = threading.Event()
    pruning = threading.Thread(
        target=prune, args=(store,), kwargs={"keep_after": NEVER_YOUNG, "waiting": told.set}
    )
    with store.working():
        pruning.start()
        assert told.wait(timeout=60)
        assert store.has(loose)
    pruning.join()
    assert not store.has(loose)


def test_nobody_is_told_to_wait_when_nobody_works(tmp_path: Path) -> None:
    told: list[str] = []
    prune(Store(tmp_path), keep_after=NEVER_YOUNG, waiting=lambda: told.append("waiting"))
    clear(Store(tmp_path), waiting=lambda: told.append("waiting"))
    assert told == []


def test_clearing_removes_images_too(tmp_path: Path) -> None:
    store = Store(tmp_path)
    stored_image(store)
    folders = [store.root / kind for kind in (*KINDS, "references")]
    held = sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())
    assert clear(store) == held
    assert clear(store) == 0  # the file that says the store's version stays, and is not counted
    assert sum(usage.objects for usage in measure(store)) == 0
    assert list(store.references()) == []


def test_clearing_removes_what_killed_processes_left_everywhere(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for kind in ("scratch", "evidence", "blobs"):
        (tmp_path / kind / f"{TEMPORARY}{2**22 + 1}-abc").mkdir(parents=True)
        (tmp_path / kind / f"{TEMPORARY}{2**22 + 1}-abc" / "file").write_bytes(b"half")
    (tmp_path / f"{TEMPORARY}{2**22 + 1}-abc").write_bytes(b"half")
    assert clear(store) == 4 * len(b"half")
    assert not list(tmp_path.rglob(f"{TEMPORARY}*"))


def test_clearing_keeps_what_was_measured_and_says_where(tmp_path: Path) -> None:
    store, key = Store(tmp_path), Digest.of(b"task")
    assert measured(store) == []
    store.remember_measured("scored", key, {"record": "98.9"})
    store.remember("image", key, {})
    rescued = tmp_path / "evidence" / "run" / "runner.json"
    rescued.parent.mkdir(parents=True)
    rescued.write_bytes(b"{}")
    clear(store)
    assert store.result("scored", key) == {"record": "98.9"}
    assert store.result("image", key) is None
    assert rescued.read_bytes() == b"{}"
    assert measured(store) == [tmp_path / "results" / "scored", tmp_path / "evidence"]


def test_what_is_being_written_is_not_counted(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.add(b"finished")
    before = measure(store)
    (tmp_path / "blobs" / f"{TEMPORARY}{os.getpid()}-abc").write_bytes(b"half")
    assert measure(store) == before


def test_a_file_that_vanishes_while_the_store_is_measured_does_no_harm(tmp_path: Path) -> None:
    store = Store(tmp_path)
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            store.path(store.add(os.urandom(16))).unlink()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(300):
            measure(store)
    finally:
        stop.set()
        writer.join()


def test_pruning_keeps_young_unpacked_layers_however_old_their_files_are(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    made = make_layer({"x": "text"})
    layer = Layer(made.diff_id, made.digest, made.write(tmp_path))
    folder = Unpacker(store).folder(layer)
    prune(store, keep_after=folder.parent.stat().st_mtime)
    assert folder.is_dir()
    assert prune(store, keep_after=NEVER_YOUNG) > 0
    assert not folder.parent.exists()
