"""cosign 2's tag: our signature is added to whatever signatures are there, once."""

import json
from typing import Any

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import TrustError
from reprobridge.publish.signing.cosign_tag import (
    LARGEST_PAYLOAD,
    MOST,
    add_signature,
    check_signature,
    named_signature,
    payload_of,
    signature_layers,
    signature_tag,
)
from reprobridge.publish.signing.keys import PrivateKey

KEY, OTHER = PrivateKey.generate(), PrivateKey.generate()
IMAGE = Digest.of(b"manifest")
HERE = "registry.example/wine"
FIRST = add_signature(None, HERE, IMAGE, KEY)


def signatures(manifest: bytes) -> list[tuple[Digest, bytes]]:
    """What is signed, and its signature, of each layer."""
    named = [named_signature(layer) for layer in signature_layers(manifest)]
    return [(blob.digest, signature) for blob, signature in named]


def test_the_tag_is_named_after_the_image() -> None:
    assert signature_tag(IMAGE) == f"sha256-{IMAGE.hex}.sig"


def test_the_payload_is_cosigns() -> None:
    assert payload_of(HERE, Digest("ab" * 32)) == (
        b'{"critical":{"identity":{"docker-reference":"registry.example/wine"},'
        b'"image":{"docker-manifest-digest":"sha256:' + b"ab" * 32 + b'"},'
        b'"type":"cosign container image signature"},"optional":null}'
    )


def test_the_first_signature_makes_the_manifest_and_what_it_names() -> None:
    document = json.loads(FIRST.manifest)
    (layer,) = document["layers"]
    blobs = {str(Digest.of(data)): data for data in FIRST.blobs}
    assert blobs[layer["digest"]] == payload_of(HERE, IMAGE)
    config = json.loads(blobs[document["config"]["digest"]])
    assert config["rootfs"] == {"type": "layers", "diff_ids": [layer["digest"]]}


def test_a_signature_holds_for_its_key_and_image() -> None:
    ((digest, signature),) = signatures(FIRST.manifest)
    payload = payload_of(HERE, IMAGE)
    assert digest == Digest.of(payload)
    check_signature(payload, signature, KEY.public_key, IMAGE)
    with pytest.raises(TrustError, match="does not hold"):
        check_signature(payload, signature, OTHER.public_key, IMAGE)
    with pytest.raises(TrustError, match="another image"):
        check_signature(payload, signature, KEY.public_key, Digest.of(b"another"))
    with pytest.raises(TrustError, match="does not hold"):
        check_signature(payload.replace(b"wine", b"beer"), signature, KEY.public_key, IMAGE)


def twice() -> bytes:
    """A payload that names the image, and then another one."""
    named = f'"docker-manifest-digest":"{IMAGE}"'.encode()
    other = f'"docker-manifest-digest":"{Digest.of(b"another")}",'.encode()
    return payload_of(HERE, IMAGE).replace(named, other + named)


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (b"", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (twice(), "named twice"),
        (b"[]", "names no image"),
        (b"{}", "names no image"),
        (b'{"critical":{"image":{}}}', "names no image"),
        (b'{"critical":{"type":"atomic container signature","image":{}}}', "names no image"),
        (payload_of(HERE, IMAGE).replace(b'"cosign container', b'"atomic container'), "of another type"),
        (payload_of(HERE, IMAGE).replace(f'"{IMAGE}"'.encode(), b"1"), "names no image"),
        (payload_of(HERE, Digest.of(b"another")), "of another image"),
    ],
    ids=range(10),
)
def test_a_signed_payload_that_is_not_cosigns_for_the_image_is_refused(payload: bytes, said: str) -> None:
    with pytest.raises(TrustError, match=said):
        check_signature(payload, KEY.sign(payload), KEY.public_key, IMAGE)


def test_another_signature_is_added_and_the_first_one_stays_as_it_was() -> None:
    second = add_signature(FIRST.manifest, HERE, IMAGE, OTHER)
    before, after = (json.loads(manifest)["layers"] for manifest in (FIRST.manifest, second.manifest))
    assert after[:-1] == before
    assert len(list(signatures(second.manifest))) == 2
    payload = payload_of(HERE, IMAGE)
    for (_, signature), key in zip(signatures(second.manifest), (KEY, OTHER), strict=True):
        check_signature(payload, signature, key.public_key, IMAGE)


def test_signing_again_changes_nothing() -> None:
    again = add_signature(FIRST.manifest, HERE, IMAGE, KEY)
    assert (again.manifest, again.blobs) == (FIRST.manifest, ())


def test_annotations_of_others_stay() -> None:
    document = json.loads(FIRST.manifest)
    document["layers"][0]["annotations"]["dev.sigstore.cosign/bundle"] = "{}"
    second = add_signature(json.dumps(document, indent=2).encode(), HERE, IMAGE, OTHER)
    assert json.loads(second.manifest)["layers"][0] == document["layers"][0]


@pytest.mark.parametrize(
    "present",
    [
        b"",
        b"<html>",
        b"[]",
        b"{}",
        b'{"manifests":[]}',
        b'{"layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar+gzip","digest":"x","size":1}]}',
    ],
)
def test_a_tag_that_names_something_else_is_not_written_over(present: bytes) -> None:
    with pytest.raises(TrustError, match="something else"):
        add_signature(present, HERE, IMAGE, KEY)


def layer(**changes: Any) -> bytes:
    document = json.loads(FIRST.manifest)
    document["layers"][0] |= changes
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (layer(digest="sha256:x"), "cannot be read"),
        (layer(annotations={"dev.cosignproject.cosign/signature": "?"}), "cannot be read"),
        (layer(annotations={"dev.cosignproject.cosign/signature": 1}), "no signature"),
        (layer(annotations=None), "no signature"),
        (layer(mediaType="text/plain"), "no signature"),
        (layer(size="1"), "no signature"),
        (layer(size=-1), "too long"),
        (layer(size=LARGEST_PAYLOAD + 1), "too long"),
        (b'{"layers":[1]}', "no signature"),
        (b'{"layers":{}}', "something else"),
        (b"<html>", "something else"),
        (json.dumps({"layers": [1] * (MOST + 1)}).encode(), "too many"),
    ],
    ids=range(12),
)
def test_what_is_no_signature_is_refused(broken: bytes, said: str) -> None:
    with pytest.raises(TrustError, match=said):
        signatures(broken)
