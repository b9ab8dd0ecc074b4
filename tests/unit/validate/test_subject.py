"""Opening an image: its manifest and configuration are those of their digests, and hostile ones are errors."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError, StoreError
from reprobridge.frozen import replace
from reprobridge.oci.layout import ImageParts, read_layout, read_parts, write_layout
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.sandbox.bubblewrap import BubblewrapSandbox
from reprobridge.store.store import Store
from reprobridge.system.processes import RealProcesses
from reprobridge.validate.checks.image import check_config
from reprobridge.validate.model import Verdict
from reprobridge.validate.shell import CleanShell
from reprobridge.validate.subject import CONFIG_LIMIT, open_subject, open_unproven
from support.artifact_image import ArtifactImage
from support.layers import make_layer


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def parts(store: Store, tmp_path: Path) -> ImageParts:
    """An image in a layout, where anybody may write."""
    write_layout(tmp_path / "layout", ArtifactImage().build(store))
    return read_layout(tmp_path / "layout")


def overwrite(parts: ImageParts, blob: Descriptor, data: bytes) -> None:
    path = parts.path(blob.digest)
    path.unlink()  # the file is a hard link into the store
    path.write_bytes(data)


def read(parts: ImageParts, blob: Descriptor) -> Any:
    return json.loads(parts.path(blob.digest).read_bytes())


@pytest.mark.parametrize("which", ["manifest", "config"])
def test_a_blob_that_is_not_its_digests_is_refused_but_for_the_check_that_tells_of_it(
    which: str, parts: ImageParts, store: Store
) -> None:
    blob: Descriptor = getattr(parts, which)
    overwrite(parts, blob, json.dumps({**read(parts, blob), "more": 1}).encode())
    with pytest.raises(ArtifactError, match="damaged"):
        open_subject(parts, store)
    assert open_unproven(parts, store).digest == parts.manifest.digest


def with_config(parts: ImageParts, data: bytes, folder: Path) -> ImageParts:
    """The image with another configuration, every digest made right again."""
    (folder / "loose").mkdir()
    described = Descriptor(MediaType.CONFIG, Digest.of(data), len(data))
    manifest = json.dumps({**read(parts, parts.manifest), "config": described.to_json()}).encode()
    own = {Digest.of(one): folder / "loose" / Digest.of(one).hex for one in (data, manifest)}
    for one in (data, manifest):
        own[Digest.of(one)].write_bytes(one)
    return read_parts(
        "x", "1", Digest.of(manifest), lambda digest: own[digest] if digest in own else parts.path(digest)
    )


@pytest.mark.parametrize(
    "data", [b"{" + b'"a":[' * 200_000, b"[]", b"{", b"\xff"], ids=["deep", "list", "cut", "bytes"]
)
def test_a_broken_configuration_is_an_error(
    data: bytes, parts: ImageParts, store: Store, tmp_path: Path
) -> None:
    with pytest.raises(ArtifactError, match="configuration"):
        open_subject(with_config(parts, data, tmp_path), store)


def test_a_configuration_that_is_too_long_is_not_read(parts: ImageParts, store: Store) -> None:
    os.truncate(parts.path(parts.config.digest), CONFIG_LIMIT + 1)
    with pytest.raises(ArtifactError, match="too long"):
        open_unproven(parts, store)
    with pytest.raises(ArtifactError, match="too long"):
        open_unproven(replace(parts, config=replace(parts.config, size=CONFIG_LIMIT + 1)), store)


def test_a_configuration_that_is_gone_is_named(store: Store) -> None:
    parts = ArtifactImage().build(store)
    store.path(parts.config.digest).unlink()
    with pytest.raises(StoreError, match=str(parts.config.digest)):
        open_subject(parts, store)


def no_config(config: dict[str, Any]) -> None:
    config["config"] = None


def labels_list(config: dict[str, Any]) -> None:
    config["config"]["Labels"] = ["x"]


def env_number(config: dict[str, Any]) -> None:
    config["config"]["Env"] = 7


@pytest.mark.parametrize("change", [no_config, labels_list, env_number])
def test_a_configuration_of_other_types_is_told_by_its_check(
    change: Callable[[dict[str, Any]], None], parts: ImageParts, store: Store, tmp_path: Path
) -> None:
    config = read(parts, parts.config)
    change(config)
    subject = open_subject(with_config(parts, json.dumps(config).encode(), tmp_path), store)
    assert subject.artifact_id in (None, "a" * 64)
    shell = CleanShell(subject, BubblewrapSandbox(store, RealProcesses(), as_root=False))
    assert check_config(shell).verdict is Verdict.FAILED


def test_a_launchers_manifest_that_is_nested_too_deeply_is_an_error(store: Store) -> None:
    top = make_layer({"rra/manifest.json": "[" * 200_000})
    with pytest.raises(ArtifactError, match="launcher's manifest is broken"):
        _ = open_subject(ArtifactImage(more_layers=[top]).build(store), store).artifact


def test_an_image_of_somebody_else_is_refused_before_a_layer_is_read(store: Store) -> None:
    foreign = ArtifactImage(labels={"io.reprobridge.artifact": ""}).build(store)
    for layer in foreign.layers:
        store.path(layer.digest).unlink()
    with pytest.raises(ArtifactError, match="no artifact of ReproBridge") as caught:
        open_subject(foreign, store).require_ours()
    assert caught.value.where == f"{foreign.name}@{foreign.manifest.digest}"
    open_subject(ArtifactImage().build(store), store).require_ours()


def test_a_layer_that_cannot_be_read_is_named(store: Store) -> None:
    image = ArtifactImage().build(store)
    layer = image.layers[0]
    store.path(layer.digest).write_bytes(b"something that is no layer")
    with pytest.raises(ArtifactError) as caught:
        assert open_subject(image, store).scans
    assert str(caught.value.where).startswith(f"layer {layer.digest}")
