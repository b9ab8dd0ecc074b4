"""From a plan to an image in the store, with parts whose bytes the plan knows."""

import gzip
import io
import json
import os
import shutil
import tarfile
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

import pytest

from reprobridge.assemble.composition import build_notes
from reprobridge.assemble.image import LAYER_LIMIT, LAYER_WARNING, Making, build_image
from reprobridge.assemble.model import BuiltImage
from reprobridge.digest import Digest
from reprobridge.errors import AssembleError, StoreError
from reprobridge.frozen import replace
from reprobridge.oci.layout import read_parts
from reprobridge.plan.model import (
    BuildPlan,
    BytecodeRecipe,
    ConfigPlan,
    FilesRecipe,
    InventoryRecipe,
    LayerPlan,
    PlannedFile,
)
from reprobridge.store.store import Store


class NothingToFetch:
    """Arrivals of a plan without locked files."""

    def bring(self, wanted: Iterable[Digest]) -> Generator[Digest]:
        """There must be nothing to bring."""
        assert not list(wanted)
        yield from ()

    def compile(self, recipes: Sequence[BytecodeRecipe], store: Store) -> None:
        """There must be nothing to compile."""
        assert not recipes


class Steps:
    """Progress that remembers what was made."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def begin(self, what: str, total: int) -> None:
        """Not of interest."""

    def step(self, title: str) -> None:
        """One thing was made."""
        self.made.append(title)


def files(**contents: str) -> FilesRecipe:
    """Files below data/ by name."""
    planned = [
        PlannedFile(path=f"data/{name}", data=text.encode()) for name, text in sorted(contents.items())
    ]
    return FilesRecipe(files=tuple(planned))


def small_plan(*layers: tuple[str, tuple[FilesRecipe, ...]]) -> BuildPlan:
    """A plan of these layers."""
    config = ConfigPlan(
        created="1980-01-02T00:00:00Z",
        entrypoint=("/rra/bin/rra",),
        environment={"B": "2", "A": "1"},
        working_directory="/",
        annotations={"org.opencontainers.image.title": "T"},
    )
    return BuildPlan(
        name="reprobridge/wine",
        version="1.0.0",
        platform="linux/amd64",
        layers=tuple(LayerPlan(title=title, parts=parts) for title, parts in layers),
        config=config,
        owners={},
    )


PLAN = small_plan(("one", (files(a="1"),)), ("many", (files(b="2"), files(c="3" * 5000))))


def built(plan: BuildPlan, store: Store, workers: int = 1) -> tuple[BuiltImage, list[str]]:
    """Build; gives the image and what had to be made."""
    steps = Steps()
    return build_image(
        plan, store, Making(arrivals=NothingToFetch(), progress=steps, workers=workers)
    ), steps.made


def layer_names(store: Store, image: BuiltImage) -> list[list[str]]:
    """Paths of each layer's archive, in its order."""
    parts = read_parts(image.name, image.version, image.manifest, store.path)
    listed = []
    for layer in parts.layers:
        data = gzip.decompress(store.read(layer.digest))
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            listed.append(archive.getnames())
    return listed


def test_layers_hold_their_parts_each_with_its_folders(store_folder: Path) -> None:
    store = Store(store_folder)
    image, _ = built(PLAN, store)
    assert layer_names(store, image) == [["data", "data/a"], ["data", "data/b", "data/c"]]


def test_the_configuration_names_the_uncompressed_layers(store_folder: Path) -> None:
    store = Store(store_folder)
    image, _ = built(PLAN, store)
    parts = read_parts(image.name, image.version, image.manifest, store.path)
    config = json.loads(store.read(parts.config.digest))
    inflated = [Digest.of(gzip.decompress(store.read(layer.digest))) for layer in parts.layers]
    assert config["rootfs"]["diff_ids"] == [str(digest) for digest in inflated]
    assert config["config"]["Env"] == ["A=1", "B=2"]


def test_every_store_and_number_of_workers_gives_the_same_digest(tmp_path: Path) -> None:
    digests = {built(PLAN, Store(tmp_path / str(n)), workers=n)[0].manifest for n in (1, 2, 4)}
    assert len(digests) == 1


def test_building_again_makes_nothing(store_folder: Path) -> None:
    store = Store(store_folder)
    first, _ = built(PLAN, store)
    assert built(PLAN, store) == (replace(first, fresh=frozenset()), [])


def test_a_changed_part_remakes_its_layer_only(store_folder: Path) -> None:
    store = Store(store_folder)
    built(PLAN, store)
    edited = replace(PLAN, layers=(LayerPlan(title="one", parts=(files(a="edited"),)), PLAN.layers[1]))
    assert built(edited, store)[1] == ["one"]


def test_fresh_are_only_the_layers_that_this_build_has_written(store_folder: Path) -> None:
    store = Store(store_folder)
    first, _ = built(PLAN, store)
    edited = replace(PLAN, layers=(LayerPlan(title="one", parts=(files(a="edited"),)), PLAN.layers[1]))
    second, _ = built(edited, store)
    one, two = (read_parts("n", "v", image.manifest, store.path).layers for image in (first, second))
    assert first.fresh == {layer.digest for layer in one}
    assert second.fresh == {layer.digest for layer in two} - first.fresh


def test_any_deleted_blob_is_made_again_with_the_same_digest(store_folder: Path) -> None:
    store = Store(store_folder)
    first, _ = built(PLAN, store)
    for path in sorted((store_folder / "blobs").rglob("*")):
        if path.is_file():
            path.unlink()
            assert built(PLAN, store)[0].manifest == first.manifest


LISTED = InventoryRecipe(
    of=(*(part for layer in PLAN.layers for part in layer.parts), files(new="1")), path="rra/inventory"
)
OTHER = replace(
    PLAN,
    layers=(
        *PLAN.layers,
        LayerPlan(title="new", parts=(files(new="1"), LISTED)),
        LayerPlan(title="again", parts=(files(c="3" * 5000), files(b="2"))),
    ),
)
"""Another image with the layers of `PLAN`, and one that is chained of the same fragments."""


def test_whatever_is_deleted_another_image_of_the_same_layers_has_the_same_digest(tmp_path: Path) -> None:
    expected, _ = built(OTHER, Store(tmp_path / "clean"))
    built(PLAN, Store(tmp_path / "whole"))
    for path in sorted((tmp_path / "whole").rglob("*")):
        if path.is_file() and path.name != "version":
            shutil.copytree(tmp_path / "whole", tmp_path / "holed")
            (tmp_path / "holed" / path.relative_to(tmp_path / "whole")).unlink()
            assert built(OTHER, Store(tmp_path / "holed"))[0].manifest == expected.manifest
            shutil.rmtree(tmp_path / "holed")


def test_no_damaged_blob_reaches_the_digest_of_an_image(tmp_path: Path) -> None:
    expected, _ = built(OTHER, Store(tmp_path / "clean"))
    built(PLAN, Store(tmp_path / "whole"))
    noticed = 0
    for path in sorted((tmp_path / "whole/blobs").glob("*/*")):
        shutil.copytree(tmp_path / "whole", tmp_path / "rotten")
        data = bytearray(path.read_bytes())
        data[4] ^= 1  # of a gzip member it is the time, which no reader looks at
        (tmp_path / "rotten" / path.relative_to(tmp_path / "whole")).write_bytes(data)
        try:
            image, _ = built(OTHER, Store(tmp_path / "rotten"))
        except StoreError:
            noticed += 1
            image, _ = built(OTHER, Store(tmp_path / "rotten"))
        assert image.manifest == expected.manifest
        shutil.rmtree(tmp_path / "rotten")
    assert noticed >= 2  # a fragment that is chained, and a listing


def test_parts_that_want_the_same_path_differently_are_settled_or_refused(store_folder: Path) -> None:
    store = Store(store_folder)
    same = small_plan(("one", (files(a="1"),)), ("two", (files(a="1", b="2"),)))
    assert built(same, store)[0].notes == ()
    lib = [FilesRecipe(files=(PlannedFile(path="x/lib.so", data=text),)) for text in (b"1", b"2")]
    with pytest.raises(AssembleError, match=r"/x/lib\.so"):
        built(small_plan(("one", (lib[0],)), ("two", (lib[1],))), store)


def test_the_reference_follows_the_newest_build(store_folder: Path) -> None:
    store = Store(store_folder)
    built(PLAN, store)
    edited, _ = built(small_plan(("one", (files(a="edited"),))), store)
    assert store.referenced("reprobridge/wine", "1.0.0") == edited.manifest


def with_layer_of(size: int, store: Store) -> BuildPlan:
    """A plan whose layer is in the store already, with so many bytes as far as anybody can see: a file of holes."""
    plan = small_plan(("torch", (files(a="1"),)))
    built(plan, store)
    key = plan.layers[0].key()
    known = store.result("layer", key)
    assert isinstance(known, dict)
    blob = next(store.path(digest) for digest in map(Digest.parse, known.values()) if store.has(digest))
    os.truncate(blob, size)
    store.remember("layer", key, {**known, "size": size})
    return plan


def test_a_layer_that_some_registries_take_long_for_is_told(store_folder: Path) -> None:
    store = Store(store_folder)
    image, _ = built(with_layer_of(LAYER_WARNING, store), store)
    assert image.notes == ()
    image, _ = built(with_layer_of(LAYER_WARNING + 1, store), store)
    assert image.notes == (f"torch: a layer of {4 * 1024**3 + 1} bytes, slow to push",)
    assert build_notes(store, image.manifest) == image.notes


def test_a_layer_that_registries_refuse_is_refused_before_the_image_has_a_name(store_folder: Path) -> None:
    store = Store(store_folder)
    image, _ = built(with_layer_of(LAYER_LIMIT, store), store)
    assert image.notes != ()
    named = store.referenced(image.name, image.version)
    with pytest.raises(AssembleError, match="too big for registries") as raised:
        built(with_layer_of(LAYER_LIMIT + 1, store), store)
    assert "at most 10000000000 bytes" in str(raised.value)
    assert store.referenced(image.name, image.version) == named
