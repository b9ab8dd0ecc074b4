"""The inventory of an image: chained of each fragment's lines, and read by the launcher."""

import hashlib
import io
import tarfile
import zlib
from pathlib import Path

from reprobridge.assemble.inventory import lines_of
from reprobridge.assemble.workshop import Workshop
from reprobridge.digest import Digest
from reprobridge.plan.model import FilesRecipe, InventoryRecipe, LayerPlan, PlannedFile
from reprobridge.store.store import Store
from reprobridge_launcher import inventory


def recipe(name: str, *, link: str | None = None) -> FilesRecipe:
    """A fragment of a file, and perhaps a link to it."""
    links = {} if link is None else {link: name}
    return FilesRecipe(files=(PlannedFile(path=f"opt/{name}", data=name.encode(), mode=0o755),), links=links)


def made(store: Store, *parts: FilesRecipe) -> list[inventory.Entry]:
    """What a launcher reads in the inventory of these fragments."""
    workshop = Workshop(store)
    for part in parts:
        workshop.make_fragment(part)
    layer = workshop.make_layer(
        LayerPlan(title="inventory", parts=(InventoryRecipe(of=parts, path="rra/inventory"),))
    )
    stream = members(store.path(layer.blob))
    assert hashlib.sha256(stream).hexdigest() == layer.diff_id.hex
    with tarfile.open(fileobj=io.BytesIO(stream)) as archive:
        file = archive.extractfile("rra/inventory")
        assert file is not None
        return inventory.read(file.read().decode())


def members(path: Path) -> bytes:
    """What all members of a gzip file inflate to."""
    rest, stream = path.read_bytes(), b""
    while rest:
        inflater = zlib.decompressobj(wbits=31)
        stream += inflater.decompress(rest)
        rest = inflater.unused_data
    return stream


def test_every_file_and_link_of_every_fragment_is_listed(tmp_path: Path) -> None:
    found = made(Store(tmp_path), recipe("a", link="opt/l"), recipe("b"))
    digest = Digest.of(b"a").hex
    assert [(entry.path, entry.mode) for entry in found] == [
        ("/opt/a", "0755"),
        ("/opt/l", "link"),
        ("/opt/b", "0755"),
    ]
    assert found[0].sha256 == digest
    assert found[1].sha256 == digest  # of the target's text, which is the same here


def test_a_fragments_lines_are_made_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made(store, recipe("a"))
    before = {path for path in tmp_path.rglob("listing/*") if path.is_file()}
    made(store, recipe("a"), recipe("b"))
    after = {path for path in tmp_path.rglob("listing/*") if path.is_file()}
    assert len(before) == 1
    assert len(after - before) == 1


def test_an_inventory_of_nothing_is_its_head(tmp_path: Path) -> None:
    assert made(Store(tmp_path)) == []
    assert lines_of([]) == b""


def test_deleted_lines_are_made_again_with_the_same_bytes(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = made(store, recipe("a"))
    for path in tmp_path.rglob("blobs/*/*"):
        path.unlink()
    assert made(store, recipe("a")) == first
