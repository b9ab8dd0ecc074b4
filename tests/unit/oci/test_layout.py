"""OCI layouts and archives."""

import io
import json
import os
import tarfile
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError, AssembleError, UsageError
from reprobridge.frozen import replace
from reprobridge.oci.archive import archive_blocks, write_archive
from reprobridge.oci.layout import FULL_NAME, REF_NAME, ImageParts, read_layout, read_parts, write_layout
from reprobridge.oci.model import Descriptor, Manifest, MediaType
from reprobridge.store.store import Store


def stored(store: Store, name: str = "reprobridge/wine", layer: bytes = b"layer") -> ImageParts:
    """A small image in a store."""
    config = store.add(b"{}")
    manifest = Manifest(
        config=Descriptor(MediaType.CONFIG, config, 2),
        layers=(Descriptor(MediaType.LAYER, store.add(layer), len(layer)),),
    )
    return read_parts(name, "1.0.0", store.add(manifest.to_bytes()), store.path)


def test_a_layout_reads_back_as_the_image_that_was_written(tmp_path: Path) -> None:
    image = stored(Store(tmp_path / "store"))
    write_layout(tmp_path / "layout", image)
    again = read_layout(tmp_path / "layout")
    assert (again.name, again.version, again.manifest, again.layers) == (
        image.name,
        image.version,
        image.manifest,
        image.layers,
    )
    assert again.path(again.layers[0].digest).read_bytes() == b"layer"


def test_writing_again_replaces_the_image_of_the_same_name_and_keeps_others(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    write_layout(tmp_path / "layout", stored(store, "a/one"))
    write_layout(tmp_path / "layout", stored(store, "a/two"))
    write_layout(tmp_path / "layout", stored(store, "a/one", b"newer"))
    index = json.loads((tmp_path / "layout" / "index.json").read_bytes())
    assert len(index["manifests"]) == 2


def test_a_damaged_blob_does_not_spread_and_a_fresh_one_is_not_read_again(tmp_path: Path) -> None:
    image = stored(Store(tmp_path / "store"))
    layer = image.layers[0]
    image.path(layer.digest).write_bytes(b"reyal")
    with pytest.raises(ArtifactError, match=f"{image.path(layer.digest)}: a blob is damaged") as caught:
        write_layout(tmp_path / "read", image)
    assert "delete this file and build again" in str(caught.value.hint)
    write_layout(tmp_path / "trusted", replace(image, fresh=frozenset({layer.digest})))
    assert (tmp_path / "trusted" / "index.json").is_file()


def test_a_folder_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(AssembleError, match="in use"):
        write_layout(tmp_path, stored(Store(tmp_path.parent / "store")))
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


def test_a_layout_with_several_images_asks_which(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    for name in ("a/one", "a/two"):
        write_layout(tmp_path / "layout", stored(store, name, name.encode()))
    with pytest.raises(UsageError, match="oci:FOLDER:TAG"):
        read_layout(tmp_path / "layout")


@pytest.mark.parametrize(("make", "found"), [(False, "no such folder"), (True, "a folder without one")])
def test_what_is_no_layout_is_refused(tmp_path: Path, make: bool, found: str) -> None:
    if make:
        (tmp_path / "nothing").mkdir()
    with pytest.raises(UsageError, match=found):
        read_layout(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("index", "found"),
    [(b'{"manifests": [', "Expecting value: line 1"), (b"{}", "no 'manifests'"), (None, "No such file")],
)
def test_a_layout_whose_index_cannot_be_read_says_why(
    tmp_path: Path, index: bytes | None, found: str
) -> None:
    write_layout(tmp_path / "layout", stored(Store(tmp_path / "store")))
    path = tmp_path / "layout" / "index.json"
    path.unlink() if index is None else path.write_bytes(index)
    with pytest.raises(ArtifactError, match="the layout is broken") as caught:
        read_layout(tmp_path / "layout")
    assert str(caught.value.found).startswith(found)


def test_a_blob_that_a_layout_lacks_is_named(tmp_path: Path) -> None:
    image = stored(Store(tmp_path / "store"))
    write_layout(tmp_path / "layout", image)
    parts = read_layout(tmp_path / "layout")
    (tmp_path / "layout" / "blobs" / "sha256" / image.config.digest.hex).unlink()
    with pytest.raises(ArtifactError, match=str(image.config.digest)) as caught:
        parts.path(image.config.digest)
    assert image.config.digest.hex in str(caught.value.where)
    assert "copy the layout again" in str(caught.value.hint)


def annotated(folder: Path, **annotations: str) -> None:
    index = json.loads((folder / "index.json").read_bytes())
    for name, value in annotations.items():
        index["manifests"][0]["annotations"][{"name": FULL_NAME, "tag": REF_NAME}[name]] = value
    (folder / "index.json").write_text(json.dumps(index))


@pytest.mark.parametrize("name", ["a\x1b[2Kb", "a\nholds  signature", "A/../b", "a" * 300, "a@b"])
def test_a_name_that_no_registry_would_take_is_not_used(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "layout"
    write_layout(folder, stored(Store(tmp_path / "store")))
    annotated(folder, name=f"localhost:5000/a/b_c:{'1'}")
    assert read_layout(folder).name == "localhost:5000/a/b_c"
    annotated(folder, name=f"{name}:1")
    assert read_layout(folder).name == "layout"


@pytest.mark.parametrize("tag", ["\x1b[2K", "1\nholds", "a/b", "-x"])
def test_a_tag_that_no_registry_would_take_is_refused(tag: str, tmp_path: Path) -> None:
    write_layout(tmp_path / "layout", stored(Store(tmp_path / "store")))
    annotated(tmp_path / "layout", tag=tag)
    with pytest.raises(ArtifactError, match="what is no tag") as raised:
        read_layout(tmp_path / "layout")
    assert "\x1b" not in str(raised.value)


@pytest.mark.parametrize("docker", [True, False])
def test_an_archive_holds_every_blob_with_its_folders(tmp_path: Path, docker: bool) -> None:
    image = stored(Store(tmp_path / "store"))
    with tarfile.open(fileobj=io.BytesIO(b"".join(archive_blocks(image, docker=docker)))) as archive:
        names = archive.getnames()
    blobs = [f"blobs/sha256/{blob.digest.hex}" for blob in image.blobs()]
    hybrid = ["manifest.json"] if docker else []
    assert names == ["blobs", "blobs/sha256", *blobs, "index.json", *hybrid, "oci-layout"]


def test_an_archive_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    image = stored(Store(tmp_path / "store"))
    image.path(image.layers[0].digest).unlink()
    with pytest.raises(AssembleError):
        write_archive(tmp_path / "out.tar", image, docker=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store"]


def test_a_layout_that_could_not_be_written_leaves_nothing(tmp_path: Path) -> None:
    image = stored(Store(tmp_path / "store"))
    *_, last = image.blobs()

    def full(digest: Digest) -> Path:
        if digest == last.digest:
            raise OSError(28, "No space left on device")
        return image.path(digest)

    with pytest.raises(AssembleError, match="No space left"):
        write_layout(tmp_path / "out" / "layout", replace(image, path=full))
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("entry", ["x", {}, {"mediaType": "m", "digest": "sha256:zz", "size": 1}])
def test_an_index_of_something_else_is_refused(tmp_path: Path, entry: object) -> None:
    write_layout(tmp_path / "layout", stored(Store(tmp_path / "store")))
    (tmp_path / "layout" / "index.json").write_text(json.dumps({"manifests": [entry]}))
    with pytest.raises(ArtifactError, match="the layout is broken"):
        read_layout(tmp_path / "layout")


@pytest.mark.parametrize("manifest", [b"", b"[]", b"{}", b'{"config": {}, "layers": [1]}'])
def test_a_broken_manifest_is_refused(tmp_path: Path, manifest: bytes) -> None:
    store = Store(tmp_path)
    with pytest.raises(ArtifactError, match="manifest is broken"):
        read_parts("a/one", "1", store.add(manifest), store.path)


def test_an_archive_never_replaces_a_pipe_or_a_device(tmp_path: Path) -> None:
    image = stored(Store(tmp_path / "store"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(AssembleError, match="a device or pipe"):
        write_archive(tmp_path / "pipe", image, docker=True)
    assert (tmp_path / "pipe").is_fifo()


def test_an_empty_folder_becomes_a_layout_without_being_replaced(tmp_path: Path) -> None:
    """It may be a volume, in whose place no other folder can be put."""
    folder = tmp_path / "volume"
    folder.mkdir(mode=0o770)
    before = folder.stat().st_ino
    write_layout(folder, stored(Store(tmp_path / "store")))
    assert folder.stat().st_ino == before
    assert read_layout(folder).version == "1.0.0"


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_to_a_folder_leads_to_the_layout(exists: bool, tmp_path: Path) -> None:
    if exists:
        (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    write_layout(tmp_path / "link", stored(Store(tmp_path / "store")))
    assert (tmp_path / "link").is_symlink()
    assert read_layout(tmp_path / "folder").version == "1.0.0"


def test_an_archive_never_replaces_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("elsewhere.tar")
    with pytest.raises(AssembleError, match="a link to elsewhere"):
        write_archive(tmp_path / "link", stored(Store(tmp_path / "store")), docker=True)
    assert not (tmp_path / "elsewhere.tar").exists()


def test_an_archive_takes_away_what_a_killed_one_left(tmp_path: Path) -> None:
    (tmp_path / f".tmp-{2**22 + 1}-0123456789ab").write_bytes(b"half")
    write_archive(tmp_path / "out.tar", stored(Store(tmp_path / "store")), docker=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.tar", "store"]
