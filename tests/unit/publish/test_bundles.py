"""Bundles from wherever they are offered: what is none is passed over, wherever it lies."""

import json
import os
from pathlib import Path

import pytest

from fakes.registry.exchange import Phase, Reply
from fakes.registry.faults import Answer, Fault, status
from fakes.registry.options import Options
from fakes.registry.server import FakeRegistry
from reprobridge.digest import Digest
from reprobridge.errors import RegistryError, UsageError
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.attested import Unread
from reprobridge.publish.bundles import file_bundles, layout_bundles, registry_bundles
from reprobridge.publish.layout_target import LayoutTarget
from reprobridge.publish.signing.bundle import sign_with_key
from reprobridge.publish.signing.keys import PrivateKey
from reprobridge.publish.signing.referrer import bundle_blobs, bundle_manifest
from reprobridge.publish.statements.statement import PredicateType, Subject, image_signature
from reprobridge.registry.model import SILENT
from reprobridge.registry.referrers import attach
from reprobridge.system.http import RealHttp
from support.registries import EMPTY_TYPE, blob_of, client, referring_manifest

REPOSITORY = "authors/paper"
IMAGE = Descriptor(MediaType.MANIFEST, Digest.of(b"image"), 5)
BUNDLE = sign_with_key(image_signature(Subject("x", IMAGE.digest)).to_bytes(), PrivateKey.generate())


@pytest.mark.parametrize("api", [True, False], ids=["referrers API", "fallback tag"])
def test_bundles_that_refer_to_an_image_of_a_registry_are_found(api: bool, real_http: RealHttp) -> None:
    with FakeRegistry(Options(referrers=api)) as fake:
        registry = client(fake.host, real_http)
        for blob in bundle_blobs(BUNDLE):
            registry.push_blob(REPOSITORY, blob_of(blob))
        attach(registry, REPOSITORY, IMAGE, bundle_manifest(BUNDLE, IMAGE, PredicateType.IMAGE_SIGNATURE))
        registry.push_blob(REPOSITORY, blob_of(b"junk"))
        attach(registry, REPOSITORY, IMAGE, referring_manifest(IMAGE, "something/else", b"junk"))
        assert list(registry_bundles(registry, REPOSITORY, IMAGE.digest)) == [BUNDLE]
        assert list(registry_bundles(registry, REPOSITORY, Digest.of(b"other"))) == []


def test_a_bundle_that_arrives_as_other_bytes_does_not_keep_the_rest_away(
    fake_registry: FakeRegistry, real_http: RealHttp
) -> None:
    registry = client(fake_registry.host, real_http)
    other = sign_with_key(image_signature(Subject("y", IMAGE.digest)).to_bytes(), PrivateKey.generate())
    for bundle in (BUNDLE, other):
        for blob in bundle_blobs(bundle):
            registry.push_blob(REPOSITORY, blob_of(blob))
        attach(registry, REPOSITORY, IMAGE, bundle_manifest(bundle, IMAGE, PredicateType.IMAGE_SIGNATURE))
    fake_registry.content.blobs[str(Digest.of(BUNDLE))] = b"x" * len(BUNDLE)
    found = list(registry_bundles(registry, REPOSITORY, IMAGE.digest))
    assert [one for one in found if isinstance(one, bytes)] == [other]
    (unread,) = (one for one in found if isinstance(one, Unread))
    assert "other bytes" in unread.reason


def test_an_attachment_that_the_registry_has_lost_does_not_keep_the_rest_away(
    fake_registry: FakeRegistry, real_http: RealHttp
) -> None:
    registry = client(fake_registry.host, real_http)
    lost = sign_with_key(image_signature(Subject("y", IMAGE.digest)).to_bytes(), PrivateKey.generate())
    for bundle in (lost, BUNDLE):
        for blob in bundle_blobs(bundle):
            registry.push_blob(REPOSITORY, blob_of(blob))
        attach(registry, REPOSITORY, IMAGE, bundle_manifest(bundle, IMAGE, PredicateType.IMAGE_SIGNATURE))
    fake_registry.content.repository(REPOSITORY).blobs.remove(str(Digest.of(lost)))
    found = list(registry_bundles(registry, REPOSITORY, IMAGE.digest))
    assert BUNDLE in found
    (unread,) = (one for one in found if isinstance(one, Unread))
    assert "lost a blob" in unread.reason
    assert str(Digest.of(lost)) in unread.reason


@pytest.mark.parametrize(
    "answer",
    [status(404), status(403), Reply(status=200, body=b"{}")],
    ids=["lost", "refused", "other bytes"],
)
def test_an_attachment_whose_manifest_is_not_had_is_named_and_does_not_keep_the_rest_away(
    answer: Reply, fake_registry: FakeRegistry, real_http: RealHttp
) -> None:
    registry = client(fake_registry.host, real_http)
    for blob in bundle_blobs(BUNDLE):
        registry.push_blob(REPOSITORY, blob_of(blob))
    attach(registry, REPOSITORY, IMAGE, bundle_manifest(BUNDLE, IMAGE, PredicateType.IMAGE_SIGNATURE))
    # Its type is told by nobody but the manifest itself, as in GHCR's lists.
    other = attach(registry, REPOSITORY, IMAGE, referring_manifest(IMAGE, EMPTY_TYPE, b"{}"))
    fault = Answer(answer)
    fake_registry.fail(Fault(Phase.MANIFEST_GET, fault, times=None, reference=str(other.digest)))
    found = list(registry_bundles(registry, REPOSITORY, IMAGE.digest))
    assert BUNDLE in found
    assert [one for one in found if isinstance(one, Unread) and one.reason.startswith(f"{other.digest} ")]


def test_a_registry_that_stumbles_over_an_attachment_is_asked_again_by_another_run(
    fake_registry: FakeRegistry, real_http: RealHttp
) -> None:
    registry = client(fake_registry.host, real_http)
    for blob in bundle_blobs(BUNDLE):
        registry.push_blob(REPOSITORY, blob_of(blob))
    attach(registry, REPOSITORY, IMAGE, bundle_manifest(BUNDLE, IMAGE, PredicateType.IMAGE_SIGNATURE))
    fake_registry.fail(Fault(Phase.BLOB_GET, Answer(status(500)), times=None))
    with pytest.raises(RegistryError, match="status 500"):
        list(registry_bundles(registry, REPOSITORY, IMAGE.digest))


def layout(folder: Path) -> Path:
    target = LayoutTarget(folder, "reprobridge/paper")
    target.push([blob_of(blob) for blob in bundle_blobs(BUNDLE)], SILENT)
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


def lost(digest: Digest) -> list[Unread]:
    """All that is offered, where this could not be had."""
    return [Unread(f"{digest} cannot be had: the layout has lost or changed it")]


def test_a_damaged_list_or_manifest_of_a_layout_offers_nothing_of_it_and_is_named(tmp_path: Path) -> None:
    folder = layout(tmp_path / "layout")
    blobs = folder / "blobs" / "sha256"
    manifest = Digest.of(bundle_manifest(BUNDLE, IMAGE, PredicateType.IMAGE_SIGNATURE))
    (blobs / manifest.hex).write_bytes(b"{}")
    assert list(layout_bundles(folder, IMAGE.digest)) == lost(manifest)
    listed = Digest.parse(json.loads((folder / "index.json").read_bytes())["manifests"][0]["digest"])
    (blobs / listed.hex).write_bytes(b'{"manifests": 7}')
    assert list(layout_bundles(folder, IMAGE.digest)) == lost(listed)


@pytest.mark.parametrize(
    "index", [b"", b"[]", b'{"manifests": 7}', b'{"manifests": [7, {}, {"digest": 7}, {"digest": "x"}]}']
)
def test_a_list_that_names_nothing_offers_nothing(index: bytes, tmp_path: Path) -> None:
    folder = layout(tmp_path / "layout")
    document = json.loads((folder / "index.json").read_bytes())
    document["manifests"][0]["digest"] = str(Digest.of(index))
    (folder / "index.json").write_text(json.dumps(document))
    (folder / "blobs" / "sha256" / Digest.of(index).hex).write_bytes(index)
    assert list(layout_bundles(folder, IMAGE.digest)) == []


@pytest.mark.parametrize("what", ["device", "pipe", "folder", "long"])
def test_a_blob_of_a_layout_that_is_no_small_file_is_not_read(tmp_path: Path, what: str) -> None:
    folder = layout(tmp_path / "layout")
    blob = folder / "blobs" / "sha256" / Digest.of(BUNDLE).hex
    blob.unlink()
    match what:
        case "device":
            blob.symlink_to("/dev/zero")
        case "pipe":
            os.mkfifo(blob)
        case "folder":
            blob.mkdir()
        case _:
            with blob.open("wb") as stream:
                stream.truncate(1 << 40)
    assert list(layout_bundles(folder, IMAGE.digest)) == lost(Digest.of(BUNDLE))


def test_a_file_that_is_no_bundle_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(b"no bundle")
    with pytest.raises(UsageError, match="no bundle") as caught:
        list(file_bundles([tmp_path / "notes.txt"]))
    assert caught.value.where == str(tmp_path / "notes.txt")


def test_bundles_in_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "bundle.json").write_bytes(BUNDLE)
    assert list(file_bundles([tmp_path / "bundle.json"])) == [BUNDLE]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json"):
        list(file_bundles([tmp_path / "none.json"]))
