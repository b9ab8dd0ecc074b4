"""Two images compared: each kind of difference is found, and named as what it is."""

import gzip
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.oci.layout import ImageParts
from reprobridge.oci.model import Descriptor, ImageConfig, Manifest, MediaType, Platform
from reprobridge.replicate.difference.compare import Comparison, compare_images
from reprobridge.replicate.difference.json_form import difference_json
from reprobridge.replicate.difference.model import (
    Aspect,
    AspectChange,
    FieldChange,
    FileChanged,
    FileOnly,
    Files,
    ImageDifference,
    LayerChanged,
    LayerOnly,
    Meaning,
    NotLooked,
    PackageChange,
    Side,
    Unlike,
)
from reprobridge.replicate.difference.text import counts, difference_lines
from reprobridge.replicate.seen import see
from reprobridge.store.store import Store
from support.layers import Entry, Link, MadeLayer, layer_of
from support.reviewed_image import ReviewedImage, edited_image, reviewed_image


@pytest.fixture
def store(store_folder: Path) -> Store:
    return Store(store_folder)


def compare(
    before: ReviewedImage, after: ReviewedImage, store: Store, largest: int | None = None
) -> ImageDifference:
    images = [see(image.build(store), store) for image in (before, after)]
    return compare_images(images[0], images[1], Comparison(store=store, largest=largest))


def lines(difference: ImageDifference) -> str:
    return "\n".join(difference_lines(difference))


def inside(difference: ImageDifference, title: str) -> Files | NotLooked:
    (found,) = [
        layer.inside
        for layer in difference.layers
        if isinstance(layer, LayerChanged) and layer.after.title == title
    ]
    return found


def test_equal_images_have_no_difference(store: Store) -> None:
    difference = compare(reviewed_image(), reviewed_image(), store)
    assert difference.equal
    assert counts(difference) == {}
    assert lines(difference) == f"equal: {difference.before}"


def test_every_kind_of_difference_of_a_file_is_named(store: Store) -> None:
    before, after = reviewed_image(), reviewed_image()
    before.layers["base system"] |= {
        "a": "old",
        "gone": "x",
        "link": Link("a"),
        "mode": Entry(b"", 0o644),
        "owner": Entry(b"", uid=0),
        "turned": "x",
    }
    after.layers["base system"] |= {
        "a": "new",
        "link": Link("mode"),
        "mode": Entry(b"", 0o755),
        "new": "x",
        "owner": Entry(b"", uid=7, gid=8),
        "turned": Link("x"),
    }
    difference = compare(before, after, store)
    old, new = Digest.of(b"old").hex, Digest.of(b"new").hex
    found = inside(difference, "base system")
    assert isinstance(found, Files)
    by_path = {file.path: file for file in found.files}
    turned = by_path.pop("turned")
    assert isinstance(turned, FileChanged)
    assert turned.aspects[0] == AspectChange(Aspect.KIND, "file", "symlink")
    assert by_path == {
        "a": FileChanged("a", (AspectChange(Aspect.CONTENT, old, new),)),
        "gone": FileOnly("gone", Side.BEFORE),
        "link": FileChanged("link", (AspectChange(Aspect.TARGET, "a", "mode"),)),
        "mode": FileChanged("mode", (AspectChange(Aspect.MODE, "0644", "0755"),)),
        "new": FileOnly("new", Side.AFTER),
        "owner": FileChanged("owner", (AspectChange(Aspect.OWNER, "0:0", "7:8"),)),
    }
    assert counts(difference) == {
        "layers changed": 1,
        "files added": 1,
        "files removed": 1,
        "files changed": 3,
        "files with other modes or owners": 2,
    }
    assert "~ owner\n        owner: 0:0 -> 7:8" in lines(difference)


def test_fields_of_the_configuration_and_the_manifest_are_named(store: Store) -> None:
    after = reviewed_image()
    after.environment = {"LANG": "C", "NEW": "1"}
    after.labels = {**after.labels, "org.opencontainers.image.licenses": "MIT"}
    difference = compare(reviewed_image(), after, store)
    assert FieldChange("config.Env.LANG", "C.UTF-8", "C") in difference.config
    assert FieldChange("config.Env.NEW", None, "1") in difference.config
    assert [change.where for change in difference.manifest] == [
        "annotations.org.opencontainers.image.licenses"
    ]
    assert difference.layers == ()


def test_a_layer_that_is_named_otherwise_is_a_difference_of_the_configuration(store: Store) -> None:
    after = reviewed_image()
    after.layers = {title.replace("base", "basic"): tree for title, tree in after.layers.items()}
    difference = compare(reviewed_image(), after, store)
    assert [change.where for change in difference.config] == ["history"]


def test_a_missing_layer_is_named(store: Store) -> None:
    after = reviewed_image()
    del after.layers["references"]
    difference = compare(reviewed_image(), after, store)
    (only,) = difference.layers
    assert isinstance(only, LayerOnly)
    assert (only.layer.title, only.position, only.side) == ("references", 3, Side.BEFORE)
    assert "  - 3 references" in lines(difference)


def test_a_layer_over_the_limit_is_not_looked_into_and_said_so(store: Store) -> None:
    after = reviewed_image()
    after.layers["base system"]["new"] = "x"
    difference = compare(reviewed_image(), after, store, largest=10)
    found = inside(difference, "base system")
    assert isinstance(found, NotLooked)
    assert "not fetched" in lines(difference)


# bytes that only differ in how they are written


def one_layer_image(store: Store, layer: MadeLayer, *, spaces: bytes = b"") -> ImageParts:
    config = ImageConfig(
        platform=Platform("linux", "amd64"),
        created="1980-01-02T00:00:00Z",
        entrypoint=(),
        environment={},
        working_directory="/",
        labels={},
        diff_ids=(layer.diff_id,),
        history=("only",),
    ).to_bytes()
    held = Descriptor(MediaType.CONFIG, store.add(config), len(config))
    described = Descriptor(MediaType.LAYER, store.add(layer.compressed), len(layer.compressed))
    manifest = Manifest(config=held, layers=(described,)).to_bytes() + spaces
    return ImageParts(
        name="image",
        version="1",
        manifest=Descriptor(MediaType.MANIFEST, store.add(manifest), len(manifest)),
        config=held,
        layers=(described,),
        path=store.path,
    )


def tar(*members: tuple[str, int]) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for name, time in members:
            info = tarfile.TarInfo(name)
            info.mtime = time
            archive.addfile(info)
    return raw.getvalue()


def recompressed(layer: MadeLayer, data: bytes) -> MadeLayer:
    compressed = gzip.compress(data, 1, mtime=0)
    return MadeLayer(compressed, layer.diff_id, Digest.of(compressed))


def written_otherwise() -> Iterator[tuple[Unlike, MadeLayer, MadeLayer]]:
    data = tar(("a", 1), ("b", 1))
    plain = layer_of(data)
    yield Unlike.COMPRESSION, plain, recompressed(plain, data)
    yield Unlike.ORDER, plain, layer_of(tar(("b", 1), ("a", 1)))
    yield Unlike.HEADERS, plain, layer_of(tar(("a", 1), ("b", 2)))


@pytest.mark.parametrize(
    ("unlike", "old", "new"), list(written_otherwise()), ids=[case[0] for case in written_otherwise()]
)
def test_layers_with_the_same_files_differ_in_how_they_are_written(
    unlike: Unlike, old: MadeLayer, new: MadeLayer, store: Store
) -> None:
    images = [see(one_layer_image(store, layer), store) for layer in (old, new)]
    difference = compare_images(images[0], images[1], Comparison(store=store))
    assert inside(difference, "only") == Files((), unlike)
    assert "same" in lines(difference).split("layers:")[1]


def test_a_manifest_that_is_only_written_otherwise_is_a_difference(store: Store) -> None:
    layer = layer_of(tar(("a", 1)))
    images = [see(one_layer_image(store, layer, spaces=spaces), store) for spaces in (b"", b"\n")]
    difference = compare_images(images[0], images[1], Comparison(store=store))
    assert [change.where for change in difference.manifest] == [""]
    assert "written differently" in lines(difference)


# what images are made from

BASH = "5.2.15-2+b13"
"""Version of a package that the artifact's lock names."""


def meaning(after: ReviewedImage, store: Store) -> Meaning:
    found = compare(reviewed_image(), after, store).meaning
    assert isinstance(found, Meaning)
    return found


def test_a_package_of_another_version_is_named(store: Store) -> None:
    changed = edited_image("rra/lock/reprobridge.lock", BASH, "5.3")
    found = meaning(changed, store)
    assert found.packages == (
        PackageChange(platform="linux/amd64", kind="debian", name="bash", before=BASH, after="5.3"),
    )
    assert (found.lock, found.spec, found.files) == ((), (), ())
    assert f"~ debian bash {BASH} -> 5.3" in lines(compare(reviewed_image(), changed, store))


def test_a_package_of_the_same_version_with_other_bytes_is_named_by_its_digest(store: Store) -> None:
    lock = reviewed_image().layers["artifact"]["rra/lock/reprobridge.lock"]
    assert isinstance(lock, bytes)
    digest = lock.decode().split('"name": "bash"')[1].split('"sha256": "')[1].split('"')[0]
    found = meaning(edited_image("rra/lock/reprobridge.lock", digest, "sha256:" + "0" * 64), store)
    (change,) = found.packages
    assert change.before == f"{BASH} ({digest})"


def test_fields_of_lock_and_specification_are_named(store: Store) -> None:
    found = meaning(edited_image("rra/lock/reprobridge.lock", '"kind": "path"', '"kind": "git"'), store)
    assert found.lock == (FieldChange("source.kind", "path", "git"),)
    found = meaning(edited_image("rra/spec/reprobridge.yaml", "memory: 64MiB", "memory: 65MiB"), store)
    assert found.spec == (FieldChange("tasks[deviation].resources.memory", "64MiB", "65MiB"),)


def test_files_of_the_specification_are_named(store: Store) -> None:
    after = edited_image("rra/spec/GUIDE.md", "#", "##")
    after.layers["artifact"]["rra/spec/patches/one.patch"] = b"--- a/x\n"
    found = meaning(after, store)
    assert [(type(one), one.path) for one in found.files] == [
        (FileChanged, "GUIDE.md"),
        (FileOnly, "patches/one.patch"),
    ]


def test_an_image_that_holds_no_specification_is_compared_all_the_same(store: Store) -> None:
    after = reviewed_image()
    del after.layers["artifact"]
    difference = compare(reviewed_image(), after, store)
    assert isinstance(difference.meaning, NotLooked)
    assert "made from:\n  not compared: " in lines(difference)
    assert any(isinstance(one, LayerOnly) for one in difference.layers)


def test_the_json_form_says_the_kind_of_every_difference(store: Store) -> None:
    after = reviewed_image()
    after.layers["base system"]["new"] = "x"
    value = difference_json(compare(reviewed_image(), after, store))
    assert (value["schema"], value["equal"]) == ("reprobridge.difference/1", False)
    match value["layers"]:
        case [{"is": "LayerChanged", "inside": {"files": [file]}}]:
            assert file == {"is": "FileOnly", "path": "new", "side": "after"}
        case other:
            raise AssertionError(other)


def test_what_a_terminal_would_obey_is_shown_escaped(store: Store) -> None:
    after = reviewed_image()
    after.layers["base system"]["\x1b[2J"] = "x"
    after.labels["\x1b[8mlabel"] = "x"
    text = lines(compare(reviewed_image(), after, store))
    assert "\x1b" not in text
    assert "\\x1b[2J" in text
    assert "\\x1b[8mlabel" in text


def test_only_the_first_of_many_differences_are_shown_unless_all_are_asked_for(store: Store) -> None:
    after = reviewed_image()
    after.layers["base system"] |= {f"file{number:03}": "x" for number in range(50)}
    difference = compare(reviewed_image(), after, store)
    assert "… and 30 more" in lines(difference)
    assert sum("+ file" in line for line in difference_lines(difference, everything=True)) == 50
