"""What refers to an image, with and without the API."""

import json
import threading
from collections.abc import Iterator

import pytest

from fakes.registry.content import Content, StoredManifest
from fakes.registry.exchange import Phase
from fakes.registry.faults import Answer, Fault, Meanwhile, html, redirect, status
from fakes.registry.options import Options
from fakes.registry.server import FakeRegistry
from reprobridge.digest import Digest
from reprobridge.errors import RegistryError
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.registry.client import Registry
from reprobridge.registry.fallback import fallback_tag
from reprobridge.registry.referrers import Referrer, attach, attach_all, referrers
from reprobridge.registry.refusals import Throttled
from reprobridge.system.http import RealHttp
from support.registries import EMPTY_TYPE, blob_of, client, described, image_manifest, referring_manifest

IMAGE = image_manifest()
SUBJECT = described(IMAGE)
TAG = fallback_tag(SUBJECT.digest)
KINDS = ("test/one", "test/two", "test/three")


@pytest.fixture(params=[True, False], ids=["api", "fallback"])
def registry(request: pytest.FixtureRequest) -> Iterator[FakeRegistry]:
    """A registry with the API, and one without."""
    with FakeRegistry(Options(referrers=request.param)) as running:
        yield running


@pytest.fixture
def old_registry() -> Iterator[FakeRegistry]:
    """A registry without the API."""
    with FakeRegistry(Options(referrers=False)) as running:
        yield running


def with_image(registry: FakeRegistry, http: RealHttp) -> Registry:
    ours = client(registry.host, http)
    ours.push_blob("a/b", blob_of(b"{}"))
    ours.put_manifest("a/b", "1", IMAGE, MediaType.MANIFEST)
    return ours


def kinds(found: tuple[Referrer, ...]) -> list[str]:
    return sorted(referrer.artifact_type for referrer in found)


def fallback_of(content: Content) -> list[dict[str, object]]:
    repository = content.repository("a/b")
    return list(repository.manifests[repository.tags[TAG]].parsed()["manifests"])


def test_what_was_attached_is_found(registry: FakeRegistry, real_http: RealHttp) -> None:
    ours = with_image(registry, real_http)
    assert referrers(ours, "a/b", SUBJECT.digest) == ()
    attachments = [referring_manifest(SUBJECT, kind) for kind in KINDS]
    assert attach_all(ours, "a/b", SUBJECT, attachments) == tuple(map(described, attachments))
    found = referrers(ours, "a/b", SUBJECT.digest)
    assert found == tuple(
        sorted(
            (
                Referrer(descriptor=described(one), artifact_type=kind, annotations={"about": kind})
                for one, kind in zip(attachments, KINDS, strict=True)
            ),
            key=lambda referrer: referrer.descriptor.digest,
        )
    )


def test_attaching_again_changes_nothing(registry: FakeRegistry, real_http: RealHttp) -> None:
    ours = with_image(registry, real_http)
    attachment = referring_manifest(SUBJECT, KINDS[0])
    attach(ours, "a/b", SUBJECT, attachment)
    before = dict(registry.content.repository("a/b").manifests)
    attach(ours, "a/b", SUBJECT, attachment)
    assert registry.content.repository("a/b").manifests == before


def test_where_there_is_the_api_no_tag_is_made(fake_registry: FakeRegistry, real_http: RealHttp) -> None:
    ours = with_image(fake_registry, real_http)
    attach(ours, "a/b", SUBJECT, referring_manifest(SUBJECT, KINDS[0]))
    assert ours.tags("a/b") == ("1",)


def test_several_attachments_change_the_tag_once(old_registry: FakeRegistry, real_http: RealHttp) -> None:
    ours = with_image(old_registry, real_http)
    attach_all(ours, "a/b", SUBJECT, [referring_manifest(SUBJECT, kind) for kind in KINDS])
    written = [request.reference for request in old_registry.requests(Phase.MANIFEST_PUT)]
    assert written.count(TAG) == 1
    assert [entry["artifactType"] for entry in fallback_of(old_registry.content)] == list(KINDS)


def test_several_attachments_go_side_by_side(fake_registry: FakeRegistry, real_http: RealHttp) -> None:
    ours, meeting = with_image(fake_registry, real_http), threading.Barrier(2, timeout=20)
    meet = Meanwhile(lambda _: meeting.wait())
    fake_registry.fail(Fault(Phase.MANIFEST_PUT, meet, times=2))
    attach_all(ours, "a/b", SUBJECT, [referring_manifest(SUBJECT, kind) for kind in KINDS[:2]])
    assert not meeting.broken


def test_entries_of_others_stay_as_they_are(old_registry: FakeRegistry, real_http: RealHttp) -> None:
    ours = with_image(old_registry, real_http)
    theirs = referring_manifest(SUBJECT, "their/kind")
    ours.put_manifest("a/b", str(Digest.of(theirs)), theirs, MediaType.MANIFEST)
    entry = {**described(theirs).to_json(), "artifactType": EMPTY_TYPE, "extra": [1.5, None]}
    index = {
        "schemaVersion": 2,
        "mediaType": MediaType.INDEX,
        "manifests": [entry],
        "annotations": {"a": "b"},
    }
    ours.put_manifest("a/b", TAG, json.dumps(index).encode(), MediaType.INDEX)
    attach(ours, "a/b", SUBJECT, referring_manifest(SUBJECT, KINDS[0]))
    assert fallback_of(old_registry.content)[0] == entry
    # The index names a wrong type: the manifest knows better.
    assert kinds(referrers(ours, "a/b", SUBJECT.digest)) == ["test/one", "their/kind"]


def test_an_entry_whose_manifest_is_gone_is_left_out(old_registry: FakeRegistry, real_http: RealHttp) -> None:
    ours = with_image(old_registry, real_http)
    gone = Descriptor(MediaType.MANIFEST, Digest.of(b"gone"), 4)
    entries = [{**gone.to_json(), "artifactType": EMPTY_TYPE}, {"digest": "sha512:00"}, {}]
    index = json.dumps({"schemaVersion": 2, "mediaType": MediaType.INDEX, "manifests": entries}).encode()
    repository = old_registry.content.repository("a/b")
    repository.tags[TAG] = str(Digest.of(index))
    repository.manifests[repository.tags[TAG]] = StoredManifest(MediaType.INDEX, index)
    assert referrers(ours, "a/b", SUBJECT.digest) == ()


@pytest.mark.parametrize("other", ["an image", "the subject itself"])
def test_what_is_no_list_is_never_overwritten(
    old_registry: FakeRegistry, real_http: RealHttp, other: str
) -> None:
    ours = with_image(old_registry, real_http)
    index = json.dumps({"schemaVersion": 2, "mediaType": MediaType.INDEX, "manifests": []}).encode()
    subject = SUBJECT if other == "an image" else Descriptor(MediaType.INDEX, Digest.of(index), len(index))
    data, kind = (IMAGE, MediaType.MANIFEST) if other == "an image" else (index, MediaType.INDEX)
    ours.put_manifest("a/b", fallback_tag(subject.digest), data, kind)
    with pytest.raises(RegistryError, match="used for something else"):
        attach(ours, "a/b", subject, referring_manifest(subject, KINDS[0]))
    assert referrers(ours, "a/b", subject.digest) == ()
    received = ours.manifest("a/b", fallback_tag(subject.digest))
    assert received is not None
    assert received.data == data


def test_writers_of_one_client_do_not_undo_each_other(
    old_registry: FakeRegistry, real_http: RealHttp
) -> None:
    ours = with_image(old_registry, real_http)
    threads = [
        threading.Thread(target=attach, args=(ours, "a/b", SUBJECT, referring_manifest(SUBJECT, kind)))
        for kind in KINDS
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kinds(referrers(ours, "a/b", SUBJECT.digest)) == sorted(KINDS)


@pytest.mark.parametrize(
    "answer",
    [
        status(404),
        status(405),
        redirect("https://else.example/packages", 303),
        html(),
        status(200, b""),
        status(200, b'{"manifests": []}'),
        status(200, b'{"manifests": null}'),
        status(200, b'{"mediaType": "application/vnd.oci.image.manifest.v1+json", "manifests": [{}]}'),
        status(429),
    ],
    ids=["404", "405", "303", "html", "nothing", "empty", "null", "no index", "429"],
)
def test_an_api_that_says_nothing_is_not_believed(
    old_registry: FakeRegistry, real_http: RealHttp, answer: object
) -> None:
    ours = with_image(old_registry, real_http)
    attach(ours, "a/b", SUBJECT, referring_manifest(SUBJECT, KINDS[0]))
    old_registry.fail(Fault(Phase.REFERRERS, Answer(answer), times=None))  # type: ignore[arg-type]
    assert kinds(referrers(ours, "a/b", SUBJECT.digest)) == [KINDS[0]]


def test_an_api_that_has_no_time_is_not_taken_for_an_empty_list(
    old_registry: FakeRegistry, real_http: RealHttp
) -> None:
    ours = with_image(old_registry, real_http)
    old_registry.fail(Fault(Phase.REFERRERS, Answer(status(429)), times=None))
    with pytest.raises(Throttled):
        referrers(ours, "a/b", SUBJECT.digest)


def test_pages_of_referrers_are_followed(real_http: RealHttp) -> None:
    with FakeRegistry(Options(page=1)) as registry:
        ours = with_image(registry, real_http)
        attach_all(ours, "a/b", SUBJECT, [referring_manifest(SUBJECT, kind) for kind in KINDS])
        assert kinds(referrers(ours, "a/b", SUBJECT.digest)) == sorted(KINDS)


def test_what_refers_to_something_else_is_not_attached(
    fake_registry: FakeRegistry, real_http: RealHttp
) -> None:
    ours = with_image(fake_registry, real_http)
    stranger = Descriptor(MediaType.MANIFEST, Digest.of(b"stranger"), 8)
    with pytest.raises(RegistryError, match="does not refer to the image"):
        attach(ours, "a/b", SUBJECT, referring_manifest(stranger, KINDS[0]))
    with pytest.raises(RegistryError, match="does not refer to the image"):
        attach(ours, "a/b", SUBJECT, IMAGE)
