"""Signatures under cosign 2's tag: each is offered by itself, and what is wrong with one hides no other."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fakes.registry.exchange import Phase
from fakes.registry.faults import Answer, Changed, Fault, flipped, status
from fakes.registry.server import FakeRegistry
from reprobridge.digest import Digest
from reprobridge.errors import RegistryError
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.attested import Unread
from reprobridge.publish.layout_target import LayoutTarget
from reprobridge.publish.signing.cosign_tag import (
    MOST,
    SignedTag,
    add_signature,
    payload_of,
    signature_tag,
)
from reprobridge.publish.signing.keys import PrivateKey
from reprobridge.publish.tag_signatures import (
    OfferedSignature,
    TagSignature,
    layout_signatures,
    registry_signatures,
)
from reprobridge.registry.model import SILENT, Blob
from reprobridge.system.http import RealHttp
from support.registries import client

REPOSITORY = "authors/paper"
HERE = f"registry.example/{REPOSITORY}"
KEY, OTHER = PrivateKey.generate(), PrivateKey.generate()
IMAGE = Digest.of(b"manifest")
TAG = signature_tag(IMAGE)


def signed() -> SignedTag:
    """What stands under the tag after two signed the same payload."""
    first = add_signature(None, HERE, IMAGE, KEY)
    second = add_signature(first.manifest, HERE, IMAGE, OTHER)
    return SignedTag(manifest=second.manifest, blobs=(*first.blobs, *second.blobs))


def with_layers(layers: Sequence[object]) -> SignedTag:
    """The same with other layers."""
    return SignedTag(
        manifest=json.dumps({**json.loads(signed().manifest), "layers": layers}).encode(), blobs=()
    )


class Shelf:
    """A place of which each test has one in a registry and one in a layout."""

    def __init__(self, kind: str, fake: FakeRegistry, http: RealHttp, folder: Path) -> None:
        self.kind, self.fake, self.folder = kind, fake, folder
        self.registry = client(fake.host, http)
        self.target = LayoutTarget(folder, "authors/paper")

    def put(self, tag: SignedTag) -> None:
        """Let this stand under the tag."""
        if self.kind == "layout":
            self.target.push([Blob.of(data) for data in tag.blobs], SILENT)
            self.target.put_manifest(TAG, tag.manifest)
            return
        for data in tag.blobs:
            self.registry.push_blob(REPOSITORY, Blob.of(data))
        self.fake.content.put_manifest(REPOSITORY, tag.manifest, tag=TAG)

    def lose(self, blob: Digest) -> None:
        """Let a blob be gone."""
        if self.kind == "layout":
            (self.folder / "blobs" / "sha256" / blob.hex).unlink()
        else:
            self.fake.content.repository(REPOSITORY).blobs.remove(str(blob))

    def offered(self) -> list[OfferedSignature]:
        """What is found."""
        if self.kind == "layout":
            return list(layout_signatures(self.folder, IMAGE))
        return list(registry_signatures(self.registry, REPOSITORY, IMAGE))


@pytest.fixture(params=["registry", "layout"])
def shelf(
    request: pytest.FixtureRequest, fake_registry: FakeRegistry, real_http: RealHttp, tmp_path: Path
) -> Shelf:
    return Shelf(request.param, fake_registry, real_http, tmp_path)


def reasons(offered: list[OfferedSignature]) -> list[str]:
    """Why each could not be had."""
    return [one.reason for one in offered if isinstance(one, Unread)]


def test_where_nothing_is_signed_nothing_is_offered(shelf: Shelf) -> None:
    assert shelf.offered() == []


def test_everybody_s_signatures_are_offered(shelf: Shelf) -> None:
    shelf.put(signed())
    payload = payload_of(HERE, IMAGE)
    assert shelf.offered() == [TagSignature(payload, key.sign(payload)) for key in (KEY, OTHER)]


def test_a_payload_that_two_signed_is_fetched_once(
    fake_registry: FakeRegistry, real_http: RealHttp, tmp_path: Path
) -> None:
    shelf = Shelf("registry", fake_registry, real_http, tmp_path)
    shelf.put(signed())
    assert len(shelf.offered()) == 2
    assert fake_registry.phases().count(Phase.BLOB_GET) == 1


def strange(**changes: Any) -> dict[str, Any]:
    """A signature's layer with something else in it."""
    layer: dict[str, Any] = json.loads(signed().manifest)["layers"][0]
    return {**layer, **changes}


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (strange(mediaType=MediaType.LAYER.value), "is no signature"),
        (strange(annotations={}), "is no signature"),
        (strange(size=1 << 40), "too long"),
        (strange(digest=str(Digest.of(b"nothing"))), str(Digest.of(b"nothing"))),
        (7, "is no signature"),
    ],
    ids=["another type", "no signature", "oversized", "lost", "no layer"],
)
def test_a_strange_layer_is_named_and_hides_no_other(layer: object, said: str, shelf: Shelf) -> None:
    shelf.put(signed())
    shelf.put(with_layers([layer, *json.loads(signed().manifest)["layers"]]))
    strange_one, *others = shelf.offered()
    assert isinstance(strange_one, Unread)
    assert strange_one.reason.startswith(f"{TAG}: ")
    assert said in strange_one.reason
    assert [type(one) for one in others] == [TagSignature, TagSignature]


def test_a_payload_that_is_lost_is_told(shelf: Shelf) -> None:
    shelf.put(signed())
    lost = Digest.of(payload_of(HERE, IMAGE))
    shelf.lose(lost)
    first, _ = reasons(shelf.offered())
    assert str(lost) in first
    assert "lost" in first


def test_more_layers_than_anybody_signs_are_not_looked_at(shelf: Shelf) -> None:
    shelf.put(with_layers([strange()] * (MOST + 1)))
    (reason,) = reasons(shelf.offered())
    assert "too many" in reason


def test_a_tag_that_names_something_else_is_told(shelf: Shelf) -> None:
    shelf.put(SignedTag(manifest=b'{"manifests": []}', blobs=()))
    (reason,) = reasons(shelf.offered())
    assert "names something else" in reason


def test_a_registry_that_sends_another_payload_is_told(
    fake_registry: FakeRegistry, real_http: RealHttp, tmp_path: Path
) -> None:
    shelf = Shelf("registry", fake_registry, real_http, tmp_path)
    shelf.put(signed())
    fake_registry.fail(Fault(Phase.BLOB_GET, Changed(flipped(3)), times=None))
    assert all("other bytes" in reason for reason in reasons(shelf.offered()))
    assert len(reasons(shelf.offered())) == 2


@pytest.mark.parametrize("phase", [Phase.MANIFEST_GET, Phase.BLOB_GET])
def test_a_registry_that_refuses_is_told_and_one_that_stumbles_raises(
    phase: Phase, fake_registry: FakeRegistry, real_http: RealHttp, tmp_path: Path
) -> None:
    shelf = Shelf("registry", fake_registry, real_http, tmp_path)
    shelf.put(signed())
    fake_registry.fail(Fault(phase, Answer(status(403)), times=None))
    assert "status 403" in reasons(shelf.offered())[0]
    fake_registry.heal()
    fake_registry.fail(Fault(phase, Answer(status(500)), times=None))
    with pytest.raises(RegistryError, match="status 500"):
        shelf.offered()


def test_the_layer_of_a_signature_is_its_payload() -> None:
    (layer, _) = json.loads(signed().manifest)["layers"]
    payload = payload_of(HERE, IMAGE)
    assert Descriptor.of(layer["mediaType"], payload).to_json().items() <= layer.items()
