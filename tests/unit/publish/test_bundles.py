"""Bundles from wherever they are offered: what is none is passed over, wherever it lies."""

import json
from pathlib import Path

import pytest

from fakes.registry.options import Options
from fakes.registry.server import FakeRegistry
from reprobridge.digest import Digest
from reprobridge.errors import UsageError
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.bundles import file_bundles, layout_bundles, registry_bundles
from reprobridge.publish.layout_target import LayoutTarget
from reprobridge.publish.signing.bundle import sign_with_key
from reprobridge.publish.signing.keys import PrivateKey
from reprobridge.publish.signing.referrer import bundle_blobs, bundle_manifest
from reprobridge.publish.statements.statement import PredicateType, Subject, image_signature
from reprobridge.registry.model import SILENT
from reprobridge.registry.referrers import attach
from reprobridge.system.http import RealHttp
from support.registries import blob_of, client, referring_manifest

REPOSITORY = "authors/paper"
IMAGE = Descriptor(MediaType.MANIFEST, Digest.of(b"image"), 5)
BUNDLE = sign_with_key(image_signature(Subject("x", IMAGE.digest)).to_bytes(), PrivateKey.generate())


@pytest.mark.parametrize("api", [True, False], ids=["referrers API", "fallback tag"])
def test_bundles_that_refer_to_an_image_of_a_registry_are_found(api: bool, real_http: RealHttp) -> None:
    with FakeRegistry(Options(referrers=api)) as fake:
        registry = client(fake.host, real_http)
        for blob in bundle_blobs(BUNDLE):
            registry.push_blob(REPOSITORY, blob_of(blob.data))
        attach(registry, REPOSITORY, IMAGE, bundle_manifest(BUNDLE, IMAGE, PredicateType.IMAGE_SIGNATURE))
        registry.push_blob(REPOSITORY, blob_of(b"junk"))
        attach(registry, REPOSITORY, IMAGE, referring_manifest(IMAGE, "something/else", b"junk"))
        assert list(registry_bundles(registry, REPOSITORY, IMAGE.digest)) == [BUNDLE]
        assert list(registry_bundles(registry, REPOSITORY, Digest.of(b"other"))) == []


def layout(folder: Path) -> Path:
    target = LayoutTarget(folder, "reprobridge/paper")
    target.push([blob_of(blob.data) for blob in bundle_blobs(BUNDLE)], SILENT)
    target.attach(
        IMAGE,
        [
            bundle_manifest(BUNDLE, IMAGE, PredicateType.IMAGE_SIGNATURE),
            referring_manifest(IMAGE, "something/else", b"junk"),
        ],
    )
    return folder


def test_bundles_that_a_layout_lists_are_found(tmp_path: Path) -> None:
    folder = layout(tmp_path / "layout")
    assert list(layout_bundles(folder, IMAGE.digest)) == [BUNDLE]
    assert list(layout_bundles(folder, Digest.of(b"other"))) == []


def test_a_damaged_list_or_manifest_of_a_layout_offers_nothing_of_it(tmp_path: Path) -> None:
    folder = layout(tmp_path / "layout")
    blobs = folder / "blobs" / "sha256"
    manifest = Digest.of(bundle_manifest(BUNDLE, IMAGE, PredicateType.IMAGE_SIGNATURE))
    (blobs / manifest.hex).write_bytes(b"{}")
    assert list(layout_bundles(folder, IMAGE.digest)) == []
    listed = json.loads((folder / "index.json").read_bytes())["manifests"][0]["digest"]
    (blobs / Digest.parse(listed).hex).write_bytes(b'{"manifests": 7}')
    assert list(layout_bundles(folder, IMAGE.digest)) == []


def test_bundles_in_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "bundle.json").write_bytes(BUNDLE)
    assert list(file_bundles([tmp_path / "bundle.json"])) == [BUNDLE]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json"):
        list(file_bundles([tmp_path / "none.json"]))
