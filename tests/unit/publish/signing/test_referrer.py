"""A bundle's manifest: exact bytes that registries list beside the image, and what is read of others' manifests."""

import json
from typing import Any

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import TrustError
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.signing.referrer import MAXIMUM, bundle_blobs, bundle_manifest, bundle_of

SUBJECT = Descriptor(MediaType.MANIFEST, Digest.of(b"image"), 5)
BUNDLE = b'{"mediaType":"..."}'
KIND = "application/vnd.dev.sigstore.bundle.v0.3+json"


def manifest(**changes: Any) -> bytes:
    return json.dumps(json.loads(bundle_manifest(BUNDLE, SUBJECT, "https://x.example")) | changes).encode()


def test_the_manifest_is_that_of_cosign_3() -> None:
    assert json.loads(bundle_manifest(BUNDLE, SUBJECT, "https://x.example")) == {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": KIND,
        "config": {
            "mediaType": "application/vnd.oci.empty.v1+json",
            "digest": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
            "size": 2,
        },
        "layers": [{"mediaType": KIND, "digest": str(Digest.of(BUNDLE)), "size": len(BUNDLE)}],
        "subject": {
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": str(SUBJECT.digest),
            "size": 5,
        },
        "annotations": {
            "dev.sigstore.bundle.content": "dsse-envelope",
            "dev.sigstore.bundle.predicateType": "https://x.example",
        },
    }


def test_its_blobs_are_what_it_names() -> None:
    named = json.loads(bundle_manifest(BUNDLE, SUBJECT, "https://x.example"))
    blobs = bundle_blobs(BUNDLE)
    described = [(entry["digest"], entry["size"]) for entry in (named["config"], *named["layers"])]
    assert described == [(str(Digest.of(blob)), len(blob)) for blob in blobs]


def test_the_bundle_of_our_own_manifest_is_found() -> None:
    found = bundle_of(bundle_manifest(BUNDLE, SUBJECT, "https://x.example"))
    assert found == Descriptor(KIND, Digest.of(BUNDLE), len(BUNDLE))


@pytest.mark.parametrize("kind", ["application/vnd.oci.empty.v1+json", None, KIND])
def test_the_artifact_type_does_not_decide(kind: str | None) -> None:
    assert bundle_of(manifest(artifactType=kind)) is not None


@pytest.mark.parametrize(
    "layers",
    [
        [],
        [{"mediaType": "text/plain", "digest": str(Digest.of(b"")), "size": 0}],
        None,
        [{"mediaType": KIND}],
    ],
    ids=str,
)
def test_a_referrer_of_another_kind_holds_no_bundle(layers: Any) -> None:
    assert bundle_of(manifest(layers=layers)) is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<html>", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (manifest(layers=[{"mediaType": KIND, "digest": "sha256:../../x", "size": 1}]), "wrongly"),
        (manifest(layers=[{"mediaType": KIND, "digest": str(Digest.of(b"")), "size": -1}]), "too long"),
        (
            manifest(layers=[{"mediaType": KIND, "digest": str(Digest.of(b"")), "size": MAXIMUM + 1}]),
            "too long",
        ),
    ],
    ids=range(5),
)
def test_a_broken_referrer_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(TrustError, match=message):
        bundle_of(data)
