"""Known layers and attested proof in a registry: who signed them, what contradicts them, and who is believed."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from fakes.registry.server import FakeRegistry
from reprobridge.assemble.composition import composed, remember_composition
from reprobridge.assemble.elsewhere import Place, place_of, remember_place
from reprobridge.assemble.workshop import Workshop
from reprobridge.digest import Digest
from reprobridge.errors import PublishError, TrustError
from reprobridge.frozen import replace
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.plan.model import BytecodeRecipe, FilesRecipe, LayerPlan, PlannedFile
from reprobridge.publish.attachments import signed
from reprobridge.publish.attested import Said
from reprobridge.publish.bundles import registry_bundles
from reprobridge.publish.known_layer import KnownLayer, known_of
from reprobridge.publish.known_layers import TAG, KnownLayers, RemoteList, read_list, write_list
from reprobridge.publish.known_publishing import (
    KnownPublication,
    UntrustedListError,
    add,
    addition,
    known_here,
)
from reprobridge.publish.known_source import KnownSource
from reprobridge.publish.layer_bytes import LayerBytes
from reprobridge.publish.proof import attested_proof
from reprobridge.publish.registry_target import RegistryTarget
from reprobridge.publish.signing.keys import PrivateKey
from reprobridge.publish.signing.policy import KeyPolicy
from reprobridge.publish.signing.signer import KeySigner
from reprobridge.publish.statements.measurements import measurements
from reprobridge.publish.statements.statement import Statement, Subject
from reprobridge.publish.statements.validation import Acceptances, validation
from reprobridge.registry.client import Registry
from reprobridge.registry.model import SILENT, Blob
from reprobridge.store.store import Store
from reprobridge.system.http import RealHttp
from reprobridge_launcher import manifest as launcher_manifest
from support import launcher_artifact
from support.publishing import record_of, report_about, scored
from support.registries import client, image_manifest

REPOSITORY = "papers/known"
OURS, THEIRS = PrivateKey.generate(), PrivateKey.generate()
PLACE = Place("registry.test", REPOSITORY)


def layer_of(data: bytes) -> LayerPlan:
    return LayerPlan(
        title=f"file {data.decode()}", parts=(FilesRecipe(files=(PlannedFile(path="f", data=data),)),)
    )


ONE, TWO = layer_of(b"one"), layer_of(b"two")


@pytest.fixture
def registry(fake_registry: FakeRegistry) -> Iterator[Registry]:
    http = RealHttp()
    yield client(fake_registry.host, http)
    http.close()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def fresh(tmp_path: Path) -> Store:
    return Store(tmp_path / "fresh")


def known_layer(store: Store, plan: LayerPlan) -> KnownLayer:
    Workshop(store).make_layer(plan)
    known = known_of(store, composed(plan))
    assert known is not None
    return known


def publication(
    registry: Registry, store: Store, *layers: KnownLayer, key: PrivateKey = OURS
) -> KnownPublication:
    ours: dict[Digest, Descriptor] = {}
    for layer in layers:
        data = layer.to_bytes()
        kind = "application/vnd.reprobridge.known-layer.v1+gzip"
        ours[layer.key] = Descriptor(kind, store.add(data), len(data))
    return KnownPublication(
        ours=ours,
        remote=RemoteList(registry, REPOSITORY),
        target=RegistryTarget(registry, REPOSITORY),
        signer=KeySigner(key),
        policy=KeyPolicy(key.public_key),
        blob_of=lambda blob: Blob(blob, lambda: store.open(blob.digest)),
    )


def bring(planned: KnownPublication) -> int:
    more = addition(planned)
    if more is None:
        return 0
    add(planned, more)
    return more.added


def standing(registry: Registry, key: PrivateKey = OURS) -> KnownLayers:
    remote = RemoteList(registry, REPOSITORY)
    manifest = remote.standing()
    assert manifest is not None
    return remote.checked(manifest, KeyPolicy(key.public_key))


def source(registry: Registry, store: Store, *, again: bool = False, key: PrivateKey = OURS) -> KnownSource:
    return KnownSource(
        store=store,
        remote=RemoteList(registry, REPOSITORY),
        place=PLACE,
        policy=KeyPolicy(key.public_key),
        again=lambda count: range(count if again else 0),
        tell=lambda text: None,
    )


class NoArrivals:
    """Nothing needs to be fetched."""

    def bring(self, wanted: Iterable[Digest]) -> Generator[Digest]:
        """Nothing is asked for."""
        yield from wanted

    def compile(self, recipes: Sequence[BytecodeRecipe], store: Store) -> None:
        """There must be nothing to compile."""
        assert not recipes


class TestAdding:
    def test_layers_are_added_once_and_what_was_there_stays(
        self, registry: Registry, store: Store, fresh: Store
    ) -> None:
        one, two = known_layer(store, ONE), known_layer(store, TWO)
        assert bring(publication(registry, store, one)) == 1
        assert bring(publication(registry, store, one)) == 0
        assert bring(publication(registry, store, two)) == 1
        assert set(standing(registry)) == {ONE.key(), TWO.key()}
        remote = RemoteList(registry, REPOSITORY)
        listed = standing(registry)
        remote.fetch(listed.values(), fresh)
        assert remote.layer(ONE.key(), listed[ONE.key()], fresh) == one
        assert remote.layer(TWO.key(), listed[TWO.key()], fresh) == two

    def test_a_list_that_somebody_else_signed_stays_as_it_is(self, registry: Registry, store: Store) -> None:
        bring(publication(registry, store, known_layer(store, ONE), key=THEIRS))
        with pytest.raises(UntrustedListError):
            bring(publication(registry, store, known_layer(store, TWO)))
        assert set(standing(registry, THEIRS)) == {ONE.key()}

    def test_a_layer_that_contradicts_the_list_is_an_error_that_names_it(
        self, registry: Registry, store: Store
    ) -> None:
        one = known_layer(store, ONE)
        bring(publication(registry, store, one))
        other = replace(one, layer=replace(one.layer, blob=Digest.of(b"another")))
        with pytest.raises(TrustError, match=str(ONE.key())):
            bring(publication(registry, store, other))

    def test_what_somebody_adds_meanwhile_is_not_lost(self, registry: Registry, store: Store) -> None:
        ours = publication(registry, store, known_layer(store, ONE))
        planned = addition(ours)
        assert planned is not None
        bring(publication(registry, store, known_layer(store, TWO)))
        add(ours, planned)
        assert set(standing(registry)) == {ONE.key(), TWO.key()}

    def test_only_layers_with_packages_of_others_are_told(self, store: Store) -> None:
        image = Digest.of(b"image")
        assert known_here(store, image) is None
        Workshop(store).make_layer(ONE)
        remember_composition(store, image, [ONE])
        assert known_here(store, image) == {}


class TestLearning:
    def test_what_is_learned_need_not_be_made(self, registry: Registry, store: Store, fresh: Store) -> None:
        one = known_layer(store, ONE)
        bring(publication(registry, store, one))
        source(registry, fresh, again=True).teach([ONE, TWO], NoArrivals())
        assert Workshop(fresh, elsewhere=True).known_layer(ONE) == one.layer
        assert Workshop(fresh, elsewhere=True).known_layer(TWO) is None
        assert place_of(fresh, one.layer.blob) == PLACE

    def test_a_list_that_nobody_whom_we_trust_signed_teaches_nothing(
        self, registry: Registry, store: Store, fresh: Store
    ) -> None:
        bring(publication(registry, store, known_layer(store, ONE), key=THEIRS))
        with pytest.raises(TrustError, match="nobody whom we trust"):
            source(registry, fresh).teach([ONE], NoArrivals())
        assert Workshop(fresh, elsewhere=True).known_layer(ONE) is None

    def test_a_tag_that_was_moved_to_an_unsigned_list_teaches_nothing(
        self, registry: Registry, store: Store, fresh: Store
    ) -> None:
        ours = publication(registry, store, known_layer(store, ONE))
        bring(ours)
        unsigned = write_list({**read_list(write_list(ours.ours)), TWO.key(): ours.ours[ONE.key()]})
        ours.target.put_manifest(TAG, unsigned)
        with pytest.raises(TrustError, match="no such attestation"):
            source(registry, fresh).teach([ONE], NoArrivals())

    def test_a_lie_of_somebody_trusted_is_found_by_making_the_layer_again(
        self, registry: Registry, store: Store, fresh: Store
    ) -> None:
        one = known_layer(store, ONE)
        bring(publication(registry, store, replace(one, layer=replace(one.layer, blob=Digest.of(b"x")))))
        with pytest.raises(TrustError, match="file one: a known layer is not what its packages give"):
            source(registry, fresh, again=True).teach([ONE], NoArrivals())
        assert Workshop(fresh, elsewhere=True).known_layer(ONE) is None

    def test_what_is_known_under_anothers_key_is_an_error(
        self, registry: Registry, store: Store, fresh: Store
    ) -> None:
        ours = publication(registry, store, known_layer(store, ONE))
        bring(replace(ours, ours={TWO.key(): ours.ours[ONE.key()]}))
        with pytest.raises(TrustError, match="about another one"):
            source(registry, fresh).teach([TWO], NoArrivals())

    def test_what_is_known_of_other_packages_is_an_error_that_names_the_layer(
        self, registry: Registry, store: Store, fresh: Store
    ) -> None:
        bring(publication(registry, store, replace(known_layer(store, ONE), key=TWO.key())))
        with pytest.raises(TrustError, match="file two"):
            source(registry, fresh).teach([TWO], NoArrivals())

    def test_a_repository_without_a_list_is_an_error(self, registry: Registry, fresh: Store) -> None:
        with pytest.raises(TrustError, match="no known layers"):
            source(registry, fresh).teach([ONE], NoArrivals())


class TestLayerBytes:
    def test_bytes_that_lie_elsewhere_are_fetched_when_they_are_opened(
        self, registry: Registry, store: Store
    ) -> None:
        blob = Blob.of(b"a layer")
        RegistryTarget(registry, REPOSITORY).push([blob], SILENT)
        remember_place(store, blob.descriptor.digest, Place(registry.host, REPOSITORY))
        held = LayerBytes(path=store.path, store=store, connect=lambda host: registry)
        assert held.repositories(blob.descriptor.digest, registry.host) == (REPOSITORY,)
        assert held.repositories(blob.descriptor.digest, "another.test") == ()
        with held.open(blob.descriptor) as stream:
            assert stream.read() == b"a layer"
        assert store.has(blob.descriptor.digest)

    def test_bytes_that_are_nowhere_are_an_error_that_names_the_layer(
        self, registry: Registry, store: Store
    ) -> None:
        blob = Blob.of(b"a layer").descriptor
        held = LayerBytes(path=store.path, store=store, connect=lambda host: registry)
        with pytest.raises(PublishError, match=str(blob.digest)):
            held.open(blob)
        remember_place(store, blob.digest, Place(registry.host, REPOSITORY))
        with pytest.raises(PublishError, match=f"not in {registry.host}/{REPOSITORY}"):
            held.open(blob)


def said(registry: Registry, image: Descriptor) -> Said:
    bundles = tuple(registry_bundles(registry, REPOSITORY, image.digest))
    return Said(bundles=bundles, subject=image.digest, where=REPOSITORY)


class TestProof:
    ARTIFACT = launcher_manifest.parse(launcher_artifact.manifest())

    def attach(self, registry: Registry, statements: Callable[[Subject], Sequence[Statement]]) -> Descriptor:
        target = RegistryTarget(registry, REPOSITORY)
        manifest = image_manifest()
        image = Descriptor(MediaType.MANIFEST, Digest.of(manifest), len(manifest))
        target.push([Blob.of(b"{}")], SILENT)
        target.put_manifest(str(image.digest), manifest)
        for statement in statements(Subject("registry.test/paper", image.digest)):
            attachment = signed(statement, KeySigner(OURS), image, "a statement")
            target.push([Blob.of(blob) for blob in attachment.blobs], SILENT)
            target.attach(image, [attachment.manifest])
        return image

    def test_report_and_evidence_come_back_as_they_were_attested(self, registry: Registry) -> None:
        records = [scored(record_of(self.ARTIFACT, task)) for task in self.ARTIFACT.tasks]
        image = self.attach(
            registry,
            lambda subject: [
                validation(subject, report_about(subject.digest, self.ARTIFACT), Acceptances()),
                measurements(subject, self.ARTIFACT, {}, records),
            ],
        )
        proof = attested_proof(said(registry, image), KeyPolicy(OURS.public_key))
        assert proof.report == report_about(image.digest, self.ARTIFACT)
        assert list(proof.evidence.values()) == records

    def test_another_keys_word_is_no_proof(self, registry: Registry) -> None:
        image = self.attach(
            registry,
            lambda subject: [validation(subject, report_about(subject.digest, self.ARTIFACT), Acceptances())],
        )
        with pytest.raises(TrustError, match="nobody whom we trust"):
            attested_proof(said(registry, image), KeyPolicy(THEIRS.public_key))

    def test_an_attestation_about_another_image_is_no_proof(self, registry: Registry) -> None:
        other = Subject("registry.test/paper", Digest.of(b"another image"))
        image = self.attach(
            registry, lambda _: [validation(other, report_about(other.digest, self.ARTIFACT), Acceptances())]
        )
        with pytest.raises(TrustError, match="about something else"):
            attested_proof(said(registry, image), KeyPolicy(OURS.public_key))
