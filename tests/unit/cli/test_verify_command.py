"""`verify` of an image for which a registry serves other bytes: a row for each answer, and exit status 12."""

import argparse
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.registry.exchange import Phase
from fakes.registry.faults import Changed, Fault, flipped
from fakes.registry.server import FakeRegistry
from reprobridge.cli.doors import Doors
from reprobridge.cli.main import load_command
from reprobridge.digest import Digest
from reprobridge.oci.layout import ImageParts
from reprobridge.oci.model import MediaType
from reprobridge.publish.signing.bundle import sign_with_key
from reprobridge.publish.signing.cosign_tag import add_signature, signature_tag
from reprobridge.publish.signing.keys import PrivateKey
from reprobridge.publish.signing.referrer import bundle_blobs, bundle_manifest
from reprobridge.publish.statements.statement import Subject, image_signature
from reprobridge.registry.model import Blob
from reprobridge.registry.referrers import attach
from reprobridge.registry.transfer import push_blobs
from reprobridge.store.store import Store
from reprobridge.system.http import RealHttp
from support.registries import client
from support.reviewed_image import reviewed_image

REPOSITORY = "authors/paper"
AUTHORS = PrivateKey.generate()


class Reader:
    """An image in the fake registry, and a reviewer with a key and an empty store."""

    def __init__(self, fake: FakeRegistry, http: RealHttp, folder: Path) -> None:
        self.fake, self.folder = fake, folder
        self.authors = Store(folder / "author")
        self.image: ImageParts = reviewed_image().build(self.authors)
        self.registry = registry = client(fake.host, http)
        blobs = [
            Blob(one, lambda digest=one.digest: self.authors.open(digest))  # type: ignore[misc]
            for one in (self.image.config, *self.image.layers)
        ]
        push_blobs(registry, REPOSITORY, blobs)
        manifest = self.authors.read(self.image.manifest.digest)
        registry.put_manifest(REPOSITORY, "1", manifest, MediaType.MANIFEST)
        (folder / "a.pub").write_bytes(AUTHORS.public_key.to_pem())
        self.doors = Doors(store_root=folder / "reader", offline=False, quiet=True)
        self.doors.out = self.out = io.StringIO()

    def verify(self, target: str = ":1", *words: str) -> dict[str, str]:
        """The rows that fail, by their names; the status must fit them."""
        command, parser = load_command("verify"), argparse.ArgumentParser()
        command.add_arguments(parser)
        given = [f"{self.fake.host}/{REPOSITORY}{target}", "--key", str(self.folder / "a.pub"), *words]
        self.out.seek(0)
        self.out.truncate()
        status = command.execute(parser.parse_args(given), self.doors)
        rows = [line.split(maxsplit=2) for line in self.out.getvalue().splitlines()[1:]]
        failed = {name: evidence for answer, name, evidence in rows if answer == "FAILS"}
        assert status == (12 if failed else 0)
        return failed

    def sign(self, name: str) -> Digest:
        """Let the authors sign the image, which they call by this name, and attach that; gives the bundle's digest."""
        statement = image_signature(Subject(name, self.image.manifest.digest))
        bundle = sign_with_key(statement.to_bytes(), AUTHORS)
        for data in bundle_blobs(bundle):
            self.registry.push_blob(REPOSITORY, Blob.of(data))
        manifest = bundle_manifest(bundle, self.image.manifest, statement.predicate_type)
        attach(self.registry, REPOSITORY, self.image.manifest, manifest)
        return Digest.of(bundle)

    def sign_tag(self, key: PrivateKey, image: Digest | None = None) -> None:
        """Let somebody sign the image, or what they take for it, under cosign 2's tag."""
        tag, digest = signature_tag(self.image.manifest.digest), image or self.image.manifest.digest
        there = self.registry.manifest(REPOSITORY, tag)
        name = f"{self.fake.host}/{REPOSITORY}"
        signed = add_signature(None if there is None else there.data, name, digest, key)
        for data in signed.blobs:
            self.registry.push_blob(REPOSITORY, Blob.of(data))
        self.registry.put_manifest(REPOSITORY, tag, signed.manifest, MediaType.MANIFEST)

    def row(self, name: str) -> str:
        """The last table's row with this name."""
        (found,) = [line for line in self.out.getvalue().splitlines() if line.split()[1:2] == [name]]
        return found

    def lose(self, blob: Digest) -> None:
        """Let the registry lose a blob."""
        self.fake.content.repository(REPOSITORY).blobs.remove(str(blob))

    def spoil(self, number: int) -> None:
        """Let the registry hold other bytes for a layer."""
        layer = self.image.layers[number]
        self.fake.content.blobs[str(layer.digest)] = b"x" * layer.size


@pytest.fixture
def reader(fake_registry: FakeRegistry, real_http: RealHttp, tmp_path: Path) -> Iterator[Reader]:
    reader = Reader(fake_registry, real_http, tmp_path)
    yield reader
    reader.doors.close()


def test_the_first_line_is_what_was_asked_and_the_digest(reader: Reader) -> None:
    assert "manifest" not in reader.verify()
    first = reader.out.getvalue().splitlines()[0]
    assert first == f"{reader.fake.host}/{REPOSITORY}:1@{reader.image.manifest.digest}"


def test_another_layer_that_describes_the_image_fails(reader: Reader) -> None:
    reader.spoil(2)
    assert "the registry sends other bytes" in reader.verify()["contents"]


def test_another_layer_fails_when_all_are_fetched(reader: Reader) -> None:
    reader.spoil(0)
    assert "layers" not in reader.verify()
    found = reader.verify(":1", "--all")
    assert found["layers"].startswith("base system: ")
    assert "the registry sends other bytes" in found["layers"]


@pytest.mark.parametrize("by_tag", [True, False])
def test_another_manifest_fails_with_the_digest_that_it_should_have(by_tag: bool, reader: Reader) -> None:
    reader.fake.fail(Fault(Phase.MANIFEST_GET, Changed(flipped(30))))
    digest = reader.image.manifest.digest
    found = reader.verify(":1" if by_tag else f"@{digest}")
    assert f"expected: {digest}; found: sha256:" in found["manifest"]
    assert reader.out.getvalue().splitlines()[0].endswith(f"@{digest}")
    assert "none at all" in found["signature"]


def test_a_configuration_that_the_registry_lost_fails_and_is_named(reader: Reader) -> None:
    reader.lose(reader.image.config.digest)
    found = reader.verify()["manifest"]
    assert f"@{reader.image.config.digest}: the registry has lost the image's configuration" in found
    assert "publish --check-blobs" in found


def test_a_layer_that_describes_the_image_and_is_lost_fails_and_is_named(reader: Reader) -> None:
    reader.lose(reader.image.layers[2].digest)
    found = reader.verify()
    assert f"@{reader.image.layers[2].digest}: the registry has lost layer 3" in found["contents"]
    assert "publish --check-blobs" in found["contents"]


def test_every_layer_that_is_lost_is_named_when_all_are_fetched(reader: Reader) -> None:
    lost = [reader.image.layers[number].digest for number in (0, 1)]
    for digest in lost:
        reader.lose(digest)
    assert "layers" not in reader.verify()
    found = reader.verify(":1", "--all")["layers"]
    assert found.startswith("base system: ")
    assert f"@{lost[0]}: the registry has lost layer 1 of the image's 4" in found
    assert f"code: {reader.fake.host}/{REPOSITORY}@{lost[1]}: the registry has lost layer 2" in found


def test_a_manifest_that_its_index_names_and_is_lost_fails_and_is_named(reader: Reader) -> None:
    digest = reader.image.manifest.digest
    entry = reader.image.manifest.to_json()
    index = {"schemaVersion": 2, "mediaType": MediaType.INDEX.value, "manifests": [entry]}
    reader.registry.put_manifest(REPOSITORY, "all", json.dumps(index).encode(), MediaType.INDEX)
    assert "manifest" not in reader.verify(":all")
    del reader.fake.content.repository(REPOSITORY).manifests[str(digest)]
    found = reader.verify(":all")["manifest"]
    assert f"@{digest}: the registry has lost the image's manifest" in found
    assert reader.out.getvalue().splitlines()[0].endswith(f":all@{digest}")


SIGNATURE = ("--require", "signature")


def test_a_signature_whose_bytes_are_lost_is_no_signature_and_is_named(reader: Reader) -> None:
    lost = reader.sign("one")
    assert reader.verify(":1", *SIGNATURE) == {}
    reader.lose(lost)
    found = reader.verify(":1", *SIGNATURE)["signature"]
    assert found.startswith("missing: ")
    assert f"@{lost}: the registry has lost a blob" in found


def test_a_signature_whose_bytes_are_lost_is_not_needed_where_another_holds(reader: Reader) -> None:
    lost, kept = reader.sign("one"), reader.sign("two")
    reader.lose(lost)
    assert reader.verify(":1", *SIGNATURE) == {}
    reader.lose(kept)
    found = reader.verify(":1", *SIGNATURE)["signature"]
    assert str(lost) in found
    assert str(kept) in found


def test_a_signature_under_cosigns_tag_holds_and_is_told_apart(reader: Reader) -> None:
    reader.sign_tag(AUTHORS)
    assert reader.verify(":1", *SIGNATURE) == {}
    assert reader.row("signature").endswith("under cosign 2's tag")
    reader.sign("bundle")
    reader.fake.log.clear()
    assert reader.verify(":1", *SIGNATURE) == {}
    assert reader.row("signature").endswith("in a sigstore bundle")
    tag = signature_tag(reader.image.manifest.digest)
    assert tag not in {one.request.reference for one in reader.fake.log}


def test_of_several_signatures_under_cosigns_tag_one_is_enough(reader: Reader) -> None:
    stranger = PrivateKey.generate()
    reader.sign_tag(stranger)
    found = reader.verify(":1", *SIGNATURE)["signature"]
    assert f"{signature_tag(reader.image.manifest.digest)}: the signature does not hold" in found
    reader.sign_tag(AUTHORS)
    reader.sign_tag(PrivateKey.generate())
    assert reader.verify(":1", *SIGNATURE) == {}


def test_a_signature_of_another_image_under_cosigns_tag_does_not_hold(reader: Reader) -> None:
    other = Digest.of(b"another image")
    reader.sign_tag(AUTHORS, other)
    found = reader.verify(":1", *SIGNATURE)["signature"]
    assert (
        f"the signature is of another image; expected: {reader.image.manifest.digest}; found: {other}"
        in found
    )


def test_cosigns_tag_says_nothing_but_who_signed(reader: Reader) -> None:
    reader.sign_tag(AUTHORS)
    assert reader.verify(":1", "--require", "signature", "sbom").keys() == {"sbom"}
