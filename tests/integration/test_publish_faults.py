"""A whole publication over real sockets that is broken at every single request, and then run again."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes.registry.content import MANIFEST, Content
from fakes.registry.exchange import Phase
from fakes.registry.faults import Answer, Fault, Happening, LostReply, Meanwhile, Reset, status
from fakes.registry.options import Options
from fakes.registry.server import FakeRegistry
from reprobridge.digest import Digest, Json, canonical_json
from reprobridge.errors import PublishError, RegistryError
from reprobridge.oci.layout import ImageParts
from reprobridge.oci.model import Descriptor, Manifest, MediaType
from reprobridge.publish.gate import Passed
from reprobridge.publish.model import Attachment, Publication
from reprobridge.publish.publication import carry_out, difference, survey
from reprobridge.publish.registry_target import RegistryTarget
from reprobridge.publish.tags import Tags
from reprobridge.registry.client import Registry
from reprobridge.registry.credentials import Anonymous
from reprobridge.registry.model import Blob
from reprobridge.registry.options import Options as ClientOptions
from reprobridge.registry.options import Patience
from reprobridge.system.http import RealHttp
from reprobridge_launcher import manifest as launcher_manifest
from support.artifact_image import ArtifactImage
from support.publishing import let_pass
from support.registry_faults.jobs import FALLBACK, OTHER_IMAGE
from support.registry_faults.state import meaning

NAME = "lab/paper"
API, NO_API = Options(), Options(referrers=False)
SIGNATURE = b'{"signed": "yes"}'
INTERRUPTIONS = {
    "reset-fallback": (Reset(), NO_API),
    "lost-api": (LostReply(), API),
    "lost-fallback": (LostReply(), NO_API),
}
TROUBLES = {"reset-body-fallback": (Reset(body=10), NO_API), "500-api": (Answer(status(500)), API)}


@pytest.fixture(scope="module")
def publication(module_folder: Path) -> Publication:
    """An image with three tags and two attachments."""
    passed = passed_image(module_folder, b"base system", b"environment", b"code")
    attachments = tuple(attachment(passed.image.manifest, text) for text in (SIGNATURE, b"{}"))
    return Publication(
        passed=passed, tags=Tags(version="1.0.0", also=("1.0", "latest")), attachments=attachments
    )


@pytest.fixture(scope="module")
def next_version(module_folder: Path) -> Publication:
    """Other code, the same environment."""
    passed = passed_image(module_folder, b"base system", b"environment", b"other code")
    return Publication(passed=passed, tags=Tags(version="1.0.1"))


def passed_image(folder: Path, *layers: bytes) -> Passed:
    """An image of a few bytes that the gate let pass: publishing does not look into layers."""

    def kept(kind: str, data: bytes) -> Descriptor:
        digest = Digest.of(data)
        (folder / digest.hex).write_bytes(data)
        return Descriptor(kind, digest, len(data))

    config = kept(MediaType.CONFIG, canonical_json({"layers": [layer.decode() for layer in layers]}))
    described = tuple(kept(MediaType.LAYER, layer) for layer in layers)
    image = ImageParts(
        name="reprobridge/tiny",
        version="1.0.0",
        manifest=kept(MediaType.MANIFEST, Manifest(config=config, layers=described).to_bytes()),
        config=config,
        layers=described,
        path=lambda digest: folder / digest.hex,
    )
    return let_pass(image, launcher_manifest.parse(ArtifactImage()._manifest("0" * 64)))


def attachment(subject: Descriptor, text: bytes) -> Attachment:
    manifest: dict[str, Json] = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "artifactType": "text/plain",
        "config": Descriptor("application/vnd.oci.empty.v1+json", Digest.of(b"{}"), 2).to_json(),
        "layers": [Descriptor("text/plain", Digest.of(text), len(text)).to_json()],
        "subject": subject.to_json(),
    }
    return Attachment(title=text.decode(), manifest=canonical_json(manifest), blobs=(b"{}", text))


@dataclass(frozen=True)
class Author:
    """Somebody at a command line: publishes, and may do so again."""

    registry: FakeRegistry
    http: RealHttp

    def publish(self, publication: Publication, *, patient: bool = True) -> int:
        """Run the command; bytes that moved. Without patience every trouble ends it."""
        patience = Patience(pause=lambda _: None, tries=5 if patient else 1)
        client = Registry(self.registry.host, self.http, Anonymous(), ClientOptions(patience=patience))
        target = RegistryTarget(client, NAME)
        lacking = difference(publication, survey(publication, target))
        path = publication.passed.image.path
        return carry_out(
            publication, lacking, target, lambda blob: Blob(blob, lambda: path(blob.digest).open("rb"))
        ).bytes


@contextmanager
def author(http: RealHttp, options: Options = API) -> Iterator[Author]:
    with FakeRegistry(options) as registry:
        yield Author(registry, http)


@pytest.fixture(scope="module")
def http() -> Iterator[RealHttp]:
    door = RealHttp()
    yield door
    door.close()


@dataclass(frozen=True)
class Unbroken:
    """A publication in which nothing goes wrong."""

    meaning: Mapping[str, object]
    requests: int


def unbroken(publication: Publication, http: RealHttp, options: Options) -> Unbroken:
    with author(http, options) as one:
        one.publish(publication)
        return Unbroken(meaning(one.registry.content), len(one.registry.log))


def stored_twice(registry: FakeRegistry) -> list[str | None]:
    """Blobs whose whole body was taken, and that answered, more than once."""
    ended = [one for one in registry.log if one.request.phase is Phase.UPLOAD_END]
    taken = Counter(one.request.parameter("digest") for one in ended if one.status == 201)
    return [digest for digest, count in taken.items() if count > 1]


def is_whole(content: Content, publication: Publication) -> bool:
    """Whether what a reader can see is complete: a tag names an image with all its parts and signatures."""
    repository = content.repositories.get(NAME)
    if repository is None or "1.0.0" not in repository.tags:
        return True
    image = publication.passed.image
    parts = {str(blob.digest) for blob in (*image.layers, image.config)}
    attached = {str(one.digest) for one in publication.attachments}
    return parts <= repository.blobs and attached <= set(repository.manifests)


@pytest.mark.parametrize(("what", "options"), INTERRUPTIONS.values(), ids=INTERRUPTIONS)
def test_interrupted_at_any_request_and_run_again_nothing_is_lost_or_doubled(
    publication: Publication, http: RealHttp, what: Happening, options: Options
) -> None:
    wanted = unbroken(publication, http, options)
    for skip in range(wanted.requests):
        with author(http, options) as one:
            one.registry.fail(Fault(None, what, skip=skip))
            with pytest.raises(RegistryError, match=one.registry.host):
                one.publish(publication, patient=False)
            assert one.registry.faults.met == 1
            assert is_whole(one.registry.content, publication), f"request {skip}"
            one.publish(publication)
            assert meaning(one.registry.content) == wanted.meaning, f"request {skip}"
            assert stored_twice(one.registry) == [], f"request {skip}"
            assert one.publish(publication) == 0


@pytest.mark.parametrize(("what", "options"), TROUBLES.values(), ids=TROUBLES)
def test_a_trouble_at_any_request_is_lived_through(
    publication: Publication, http: RealHttp, what: Happening, options: Options
) -> None:
    wanted = unbroken(publication, http, options)
    for skip in range(wanted.requests):
        with author(http, options) as one:
            one.registry.fail(Fault(None, what, skip=skip))
            one.publish(publication)
            assert one.registry.faults.met == 1
            assert meaning(one.registry.content) == wanted.meaning, f"request {skip}"
            assert stored_twice(one.registry) == [], f"request {skip}"


def test_a_version_that_somebody_else_publishes_meanwhile_is_not_overwritten(
    publication: Publication, http: RealHttp
) -> None:
    with author(http) as one:
        content = one.registry.content
        digest = str(publication.digest)
        others = Meanwhile(lambda _: content.put_manifest(NAME, OTHER_IMAGE, tag="1.0.0"), after=True)
        one.registry.fail(Fault(Phase.MANIFEST_PUT, others, reference=digest))
        with pytest.raises(PublishError, match="published already, with another digest"):
            one.publish(publication)
        named = content.repositories[NAME].manifests[content.repositories[NAME].tags["1.0.0"]]
        assert named.data == OTHER_IMAGE
        assert set(content.repositories[NAME].tags) == {"1.0.0"}


def test_blobs_that_the_registry_lost_are_brought_again(
    publication: Publication, next_version: Publication, http: RealHttp
) -> None:
    shared = {blob.digest for blob in publication.passed.image.layers} & {
        blob.digest for blob in next_version.passed.image.layers
    }
    with author(http) as one:
        one.publish(publication)
        lost = min(map(str, shared))
        one.registry.content.repositories[NAME].blobs.remove(lost)
        one.publish(next_version)
        repository = one.registry.content.repositories[NAME]
        assert lost in repository.blobs
        assert repository.tags["1.0.1"] == str(next_version.digest)


def test_signatures_of_others_survive_ours(publication: Publication, http: RealHttp) -> None:
    with author(http, NO_API) as one:
        other = attachment(publication.passed.image.manifest, b"somebody else's")
        fallback = f"sha256-{publication.digest.hex}"
        assert fallback != FALLBACK
        one.publish(Publication(passed=publication.passed, tags=publication.tags, attachments=(other,)))
        one.publish(publication)
        listed = meaning(one.registry.content)[NAME]
        assert isinstance(listed, dict)
        assert len(listed["tags"][fallback]) == 3


def test_two_authors_at_once_leave_both_their_signatures(publication: Publication, http: RealHttp) -> None:
    with author(http, NO_API) as one:
        other = attachment(publication.passed.image.manifest, b"somebody else's")
        theirs = Publication(passed=publication.passed, tags=publication.tags, attachments=(other,))
        fallback = f"sha256-{publication.digest.hex}"
        again = Meanwhile(lambda _: one.publish(theirs), after=True)
        one.registry.fail(Fault(Phase.MANIFEST_PUT, again, reference=fallback))
        one.publish(publication)
        listed = meaning(one.registry.content)[NAME]
        assert isinstance(listed, dict)
        assert len(listed["tags"][fallback]) == 3
