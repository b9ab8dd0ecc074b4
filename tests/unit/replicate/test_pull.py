"""Images of a registry in the store: each blob fetched once, verified, and only when it is needed."""

from pathlib import Path

import pytest

from fakes.registry.content import StoredManifest
from fakes.registry.exchange import Phase
from fakes.registry.server import FakeRegistry
from reprobridge.digest import Digest, Json, canonical_json
from reprobridge.errors import ArtifactError, RegistryError
from reprobridge.oci.layout import ImageParts
from reprobridge.oci.model import Descriptor, MediaType, Platform
from reprobridge.registry.client import Registry
from reprobridge.registry.model import Blob
from reprobridge.registry.reference import ImageReference
from reprobridge.registry.transfer import push_blobs
from reprobridge.replicate.contents import read_contents
from reprobridge.replicate.pull import Pulled, pull_image, remote_image
from reprobridge.replicate.seen import see
from reprobridge.store.store import Store
from reprobridge.system.http import RealHttp
from support.registries import client
from support.reviewed_image import reviewed_image

REPOSITORY = "authors/paper"
AMD64 = Platform("linux", "amd64")


class Remote:
    """An image in the fake registry, and an empty store."""

    def __init__(self, fake: FakeRegistry, http: RealHttp, folder: Path) -> None:
        self.fake = fake
        self.registry: Registry = client(fake.host, http)
        self.store = Store(folder / "reader")
        self.authors = Store(folder / "author")
        self.image = reviewed_image().build(self.authors)
        self.push(self.image, "1.0.0")
        fake.log.clear()

    def push(self, image: ImageParts, tag: str) -> None:
        blobs = [
            Blob(one, lambda digest=one.digest: self.authors.open(digest))  # type: ignore[misc]
            for one in (image.config, *image.layers)
        ]
        push_blobs(self.registry, REPOSITORY, blobs)
        self.put(tag, self.authors.read(image.manifest.digest), MediaType.MANIFEST)

    def put(self, tag: str, data: bytes, media_type: str) -> None:
        self.registry.put_manifest(REPOSITORY, tag, data, media_type)

    def name(self, target: str = ":1.0.0") -> ImageReference:
        return ImageReference.parse(f"{self.fake.host}/{REPOSITORY}{target}")

    def open(self, target: str = ":1.0.0", platform: Platform = AMD64) -> ImageParts:
        return remote_image(self.registry, self.name(target), self.store, platform)

    def pull(self) -> Pulled:
        return pull_image(self.registry, REPOSITORY, self.open(), self.store)

    def fetched(self) -> list[str]:
        """Digests of the blobs that were asked for, in order."""
        return [request.path.rpartition("/")[2] for request in self.fake.requests(Phase.BLOB_GET)]


@pytest.fixture
def remote(fake_registry: FakeRegistry, real_http: RealHttp, tmp_path: Path) -> Remote:
    return Remote(fake_registry, real_http, tmp_path)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("number", "part"), [(0, "the image's configuration"), (3, "layer 3 of the image's 4")]
)
def test_a_part_that_the_registry_lost_is_named(remote: Remote, number: int, part: str, whole: bool) -> None:
    lost = (remote.image.config, *remote.image.layers)[number].digest
    remote.fake.content.repository(REPOSITORY).blobs.remove(str(lost))
    image = remote.open()
    with pytest.raises(RegistryError, match=f"the registry has lost {part}") as caught:
        _ = remote.pull() if whole else image.path(lost)
    assert f"{REPOSITORY}@{lost}" in str(caught.value)
    assert "publish --check-blobs" in str(caught.value)


def test_a_pulled_image_is_whole_and_has_its_name_in_the_store(remote: Remote) -> None:
    pulled = remote.pull()
    assert pulled.image.manifest.digest == remote.image.manifest.digest
    assert all(remote.store.read(blob.digest) for blob in remote.image.blobs())
    name = f"{remote.fake.host}/{REPOSITORY}"
    assert remote.store.referenced(name, "1.0.0") == remote.image.manifest.digest
    sizes = sum(blob.size for blob in (remote.image.config, *remote.image.layers))
    assert (pulled.fetched, pulled.present) == (sizes, 0)


def test_a_pull_tells_which_image_the_name_meant_before(remote: Remote) -> None:
    assert remote.pull().former is None
    before = Digest.of(b"before")
    remote.store.refer(f"{remote.fake.host}/{REPOSITORY}", "1.0.0", before)
    assert remote.pull().former is None
    remote.store.refer(f"{remote.fake.host}/{REPOSITORY}", "1.0.0", remote.store.add(b"before"))
    assert remote.pull().former == before


def test_only_what_lacks_is_fetched(remote: Remote) -> None:
    for layer in remote.image.layers[:2]:
        remote.store.add(remote.authors.read(layer.digest))
    pulled = remote.pull()
    lacking = {str(blob.digest) for blob in (remote.image.config, *remote.image.layers[2:])}
    assert set(remote.fetched()) == lacking
    assert pulled.present == 2
    remote.fake.log.clear()
    assert remote.pull().fetched == 0
    assert remote.fetched() == []


def test_an_opened_image_fetches_its_manifest_alone_and_then_what_is_asked_for(remote: Remote) -> None:
    image = remote.open()
    assert remote.fetched() == []
    seen = see(image, remote.store)
    contents = read_contents(seen)
    assert contents.read_manifest().paper.id == "probable-error"
    artifact = remote.image.layers[2].digest
    assert remote.fetched() == [str(remote.image.config.digest), str(artifact)]
    assert image.path(artifact).read_bytes() == remote.authors.read(artifact)
    assert len(remote.fetched()) == 2


def test_a_blob_with_wrong_bytes_is_never_kept(remote: Remote) -> None:
    layer = remote.image.layers[0]
    wrong = remote.authors.read(layer.digest)[:-1] + b"x"
    remote.fake.content.blobs[str(layer.digest)] = wrong
    with pytest.raises(RegistryError, match=str(layer.digest)):
        remote.pull()
    assert not remote.store.has(layer.digest)
    assert remote.store.referenced(f"{remote.fake.host}/{REPOSITORY}", "1.0.0") is None


def test_an_image_named_by_its_digest_is_found(remote: Remote) -> None:
    assert remote.open(f"@{remote.image.manifest.digest}").manifest == remote.image.manifest


def test_an_image_that_is_not_there_is_refused(remote: Remote) -> None:
    with pytest.raises(RegistryError, match="no such image"):
        remote.open(":2.0.0")


def described(data: bytes, media_type: str) -> Descriptor:
    return Descriptor(media_type, Digest.of(data), len(data))


def index_of(remote: Remote, *platforms: str) -> bytes:
    entries = [
        {
            **remote.image.manifest.to_json(),
            "platform": {"os": platform.split("/")[0], "architecture": platform.split("/")[1]},
        }
        for platform in platforms
    ]
    return canonical_json({"schemaVersion": 2, "mediaType": MediaType.INDEX.value, "manifests": entries})


def test_the_image_of_this_platform_is_taken_out_of_an_index(remote: Remote) -> None:
    remote.put("many", index_of(remote, "linux/amd64", "linux/s390x"), MediaType.INDEX)
    assert remote.open(":many").manifest.digest == remote.image.manifest.digest
    with pytest.raises(RegistryError, match="not there for this platform") as caught:
        remote.open(":many", Platform("linux", "arm64"))
    assert caught.value.found == "linux/amd64, linux/s390x"


def test_the_only_image_of_an_index_is_refused_when_it_is_for_another_platform(remote: Remote) -> None:
    remote.put("one", index_of(remote, "linux/arm64"), MediaType.INDEX)
    with pytest.raises(RegistryError, match="not there for this platform") as caught:
        remote.open(":one")
    assert (caught.value.expected, caught.value.found) == ("linux/amd64", "linux/arm64")


def test_the_only_image_of_an_index_that_names_no_platform_is_taken(remote: Remote) -> None:
    def index(count: int) -> bytes:
        entries = [remote.image.manifest.to_json()] * count
        return canonical_json(
            {"schemaVersion": 2, "mediaType": MediaType.INDEX.value, "manifests": list(entries)}
        )

    remote.put("one", index(1), MediaType.INDEX)
    assert remote.open(":one").manifest.digest == remote.image.manifest.digest
    remote.put("two", index(2), MediaType.INDEX)
    with pytest.raises(RegistryError, match="a platform that is not told"):
        remote.open(":two")


def test_what_only_lies_in_a_registry_like_an_image_is_said_to_be_none(remote: Remote) -> None:
    list_of_layers: Json = {
        "schemaVersion": 2,
        "mediaType": MediaType.MANIFEST.value,
        "artifactType": "application/vnd.example.list",
        "config": described(b"{}", "application/vnd.oci.empty.v1+json").to_json(),
        "layers": [],
    }
    data = canonical_json(list_of_layers)
    repository = remote.fake.content.repository(REPOSITORY)
    repository.manifests[str(Digest.of(data))] = StoredManifest(MediaType.MANIFEST.value, data)
    repository.tags["list"] = str(Digest.of(data))
    with pytest.raises(ArtifactError, match="this is no image") as caught:
        remote.open(":list")
    assert caught.value.found == "something of type application/vnd.example.list"


@pytest.mark.parametrize(
    ("media_type", "document"),
    [
        (MediaType.INDEX, {"manifests": [1]}),
        (MediaType.INDEX, {"manifests": [{"digest": "sha256:x"}]}),
        (MediaType.MANIFEST, {"config": {}, "layers": []}),
        (MediaType.MANIFEST, {"layers": 7}),
    ],
)
def test_what_is_no_image_is_refused(
    media_type: MediaType, document: dict[str, Json], remote: Remote
) -> None:
    data = canonical_json({"schemaVersion": 2, "mediaType": media_type.value, **document})
    repository = remote.fake.content.repository(REPOSITORY)
    repository.manifests[str(Digest.of(data))] = StoredManifest(media_type.value, data)
    repository.tags["odd"] = str(Digest.of(data))
    with pytest.raises(ArtifactError, match="broken"):
        remote.open(":odd")
