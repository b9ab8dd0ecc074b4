"""A path that two real wheels ship: decided once, and the loser made without it."""

import gzip
import io
import tarfile
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

import pytest

from reprobridge.assemble.image import Making, build_image
from reprobridge.assemble.omissions import owner_of
from reprobridge.cli.progress import Quiet
from reprobridge.digest import Digest
from reprobridge.errors import AssembleError
from reprobridge.frozen import replace
from reprobridge.lock.model import LockedFile
from reprobridge.oci.layout import read_parts
from reprobridge.plan.bytecode import bytecode_owner
from reprobridge.plan.model import (
    BuildPlan,
    BytecodeRecipe,
    ConfigPlan,
    FragmentRecipe,
    LayerPlan,
    WheelRecipe,
)
from reprobridge.store.store import Store
from support.wheels import WheelSource, build_wheel

SITE = "opt/env/lib/python3.11/site-packages"


class InTheStore:
    """Arrivals of files that the test put into the store."""

    def bring(self, wanted: Iterable[Digest]) -> Generator[Digest]:
        """There must be nothing to bring."""
        assert not list(wanted)
        yield from ()

    def compile(self, recipes: Sequence[BytecodeRecipe], store: Store) -> None:
        """There must be nothing to compile."""
        assert not recipes


def recipe(store: Store, name: str, files: dict[str, bytes]) -> WheelRecipe:
    """A wheel of these files, in the store."""
    wheel = build_wheel(WheelSource(name=name, files=files))
    digest = store.add(wheel.data)
    return WheelRecipe(wheel=LockedFile(wheel.filename, digest, len(wheel.data)), python="3.11")


def plan_of(parts: Iterable[FragmentRecipe], owners: dict[str, str] | None = None) -> BuildPlan:
    """A plan with one layer a part."""
    config = ConfigPlan(
        created="1980-01-02T00:00:00Z",
        entrypoint=(),
        environment={},
        working_directory="/",
        annotations={},
    )
    return BuildPlan(
        name="reprobridge/x",
        version="1",
        platform="linux/amd64",
        layers=tuple(LayerPlan(title=str(n), parts=(part,)) for n, part in enumerate(parts)),
        config=config,
        owners=owners or {},
    )


def built(plan: BuildPlan, store: Store) -> tuple[list[dict[str, bytes]], tuple[str, ...]]:
    """Files of each layer of the built image, and the build's notes."""
    image = build_image(plan, store, Making(arrivals=InTheStore(), progress=Quiet(), workers=1))
    parts = read_parts(image.name, image.version, image.manifest, store.path)
    return [contents(store.read(layer.digest)) for layer in parts.layers], image.notes


def contents(layer: bytes) -> dict[str, bytes]:
    """Files of a layer by path below site-packages."""
    found = {}
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(layer))) as archive:
        for member in archive:
            if member.isreg() and (stream := archive.extractfile(member)):
                found[member.name.removeprefix(f"{SITE}/")] = stream.read()
    return found


def test_the_loser_is_made_without_the_path_and_its_record_stays_true(store_folder: Path) -> None:
    store = Store(store_folder)
    early = recipe(store, "early", {"shared/data.txt": b"1", "early.py": b""})
    late = recipe(store, "late", {"shared/data.txt": b"2"})
    (first, second), notes = built(plan_of([late, early]), store)
    assert first["shared/data.txt"] == b"2"
    assert "shared/data.txt" not in second
    assert "early.py" in second
    record = next(data for path, data in second.items() if path.endswith("/RECORD"))
    assert b"shared/data.txt" not in record
    assert notes == (f"/{SITE}/shared/data.txt: late wins over early, its name sorts last",)


def test_the_authors_word_wins(store_folder: Path) -> None:
    store = Store(store_folder)
    early = recipe(store, "early", {"shared/native.so": b"1"})
    late = recipe(store, "late", {"shared/native.so": b"2"})
    with pytest.raises(AssembleError, match=r"owners: \{"):
        built(plan_of([early, late]), store)
    (first, second), _ = built(plan_of([early, late], {f"{SITE}/shared/native.so": "early"}), store)
    assert first["shared/native.so"] == b"1"
    assert "shared/native.so" not in second


@pytest.mark.parametrize(
    ("path", "named", "said"),
    [
        ("shared/data.txt", "early", None),
        ("shared/data.txt", "other", "other does not ship it, but early and late do"),
        ("shared/same.txt", "late", None),
        ("early.py", "early", "only early ships it"),
        ("early.py", "other", "only early ships it"),
        ("shared/absent.txt", "late", "no locked package ships it"),
        ("Shared/data.txt", "late", "no locked package ships it"),
        ("shared", "late", "no locked package ships it"),
        ("opt/site-packages/shared", "late", "no locked package ships it"),
    ],
)
def test_a_word_of_the_author_that_settles_nothing_is_noted(
    path: str, named: str, said: str | None, store_folder: Path
) -> None:
    store = Store(store_folder)
    early = recipe(store, "early", {"shared/data.txt": b"1", "shared/same.txt": b"", "early.py": b""})
    late = recipe(store, "late", {"shared/data.txt": b"2", "shared/same.txt": b""})
    made = plan_of([late, early, recipe(store, "other", {})], {f"{SITE}/{path}": named})
    _, notes = built(made, store)
    idle = [note for note in notes if "environment.python.owners" in note]
    assert idle == (
        [f"environment.python.owners: {path}: {said}, so that the line settles nothing"] if said else []
    )
    assert built(made, store)[1] == notes


def test_a_word_is_noted_too_where_no_two_packages_meet(store_folder: Path) -> None:
    store = Store(store_folder)
    made = plan_of([recipe(store, "alone", {"alone.so": b"1"})], {f"{SITE}/alone.so": "alone"})
    (note,) = built(made, store)[1]
    assert note.startswith("environment.python.owners: alone.so: only alone ships it")


def test_the_derived_owners_of_bytecode_are_no_words_of_the_author(store_folder: Path) -> None:
    store = Store(store_folder)
    made = plan_of(
        [recipe(store, "alone", {})], {f"{SITE}/__pycache__/a.cpython-311.pyc": bytecode_owner("alone")}
    )
    assert built(made, store)[1] == ()


def test_a_wheel_belongs_to_its_package_however_its_file_name_is_spelled(store_folder: Path) -> None:
    wheel = recipe(Store(store_folder), "early", {})
    spelled = replace(wheel, wheel=replace(wheel.wheel, name="Early__Bird.x-1.0-py3-none-any.whl"))
    assert owner_of(spelled) == "early-bird-x"


@pytest.mark.parametrize("named", [None, "bbb"])
def test_of_three_packages_no_layer_keeps_another_file_than_the_winners(
    named: str | None, store_folder: Path
) -> None:
    store = Store(store_folder)
    path = "shared/__init__.py"
    files = {"aaa": b"1", "bbb": b"1", "ccc": b"2"}
    parts = [recipe(store, name, {path: data}) for name, data in files.items()]
    layers, _ = built(plan_of(parts, {f"{SITE}/{path}": named} if named else {}), store)
    kept = [layer.get(path) for layer in layers]
    assert kept == ([b"1", b"1", None] if named else [None, None, b"2"])


def test_equal_files_stay_in_both_so_that_each_layer_is_its_packages_alone(store_folder: Path) -> None:
    store = Store(store_folder)
    one = recipe(store, "one", {"space/__init__.py": b"", "space/one.py": b"1"})
    two = recipe(store, "two", {"space/__init__.py": b"", "space/two.py": b"2"})
    (first, second), notes = built(plan_of([one, two]), store)
    alone, _ = built(plan_of([one]), store)
    assert alone == [first]
    assert "space/__init__.py" in second
    assert notes == ()


def test_paths_of_two_packages_that_differ_in_case_alone_are_noted(store_folder: Path) -> None:
    store = Store(store_folder)
    deep = "/".join("abcdefgh")
    one = recipe(store, "one", {f"{deep}/Image.py": b"1"})
    two = recipe(store, "two", {f"{deep}/image.py": b"2"})
    layers, notes = built(plan_of([one, two]), store)
    (note,) = notes
    assert note.startswith(f"one and two: /{SITE}/{deep}/Image.py and /{SITE}/{deep}/image.py are one path")
    assert [any("mage.py" in path for path in layer) for layer in layers] == [True, True]
    assert built(plan_of([one, two]), store)[1] == notes  # as it is remembered


def test_an_omission_is_part_of_the_recipes_key(store_folder: Path) -> None:
    wheel = recipe(Store(store_folder), "early", {"shared/data.txt": b"1"})
    assert wheel.key() != replace(wheel, omit=("x",)).key()
