"""A publication: what is brought, in which order, and that it can end anywhere and be run again."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from fakes.target import MemoryTarget
from reprobridge.digest import Digest, Json, canonical_json
from reprobridge.errors import AssembleError, PublishError, RegistryError, UsageError
from reprobridge.oci.layout import DamagedBlobError, read_layout
from reprobridge.oci.model import Descriptor
from reprobridge.publish.layout_target import LayoutTarget
from reprobridge.publish.model import Attachment, Difference, Publication, Target
from reprobridge.publish.publication import carry_out, difference, named_blobs, survey
from reprobridge.publish.tags import Tags
from reprobridge.registry.model import Blob, Progress
from reprobridge.registry.transfer import Moved
from reprobridge.store.store import Store
from support.artifact_image import ArtifactImage
from support.publishing import let_pass, tiny_image

EMPTY = b"{}"
"""The configuration of an attachment."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return Store(tmp_path_factory.mktemp("store"))


@pytest.fixture(scope="module")
def whole(store: Store) -> Publication:
    """An image with two tags and two attachments."""
    passed = let_pass(*tiny_image(store))
    subject = passed.image.manifest
    attachments = tuple(attachment(subject, text) for text in (b"one", b"two"))
    tags = Tags(version="1.0.0", also=("1.0", "latest"))
    return Publication(passed=passed, tags=tags, attachments=attachments)


def attachment(subject: Descriptor, text: bytes) -> Attachment:
    described: dict[str, Json] = {
        "config": Descriptor("application/vnd.oci.empty.v1+json", Digest.of(EMPTY), len(EMPTY)).to_json(),
        "layers": [Descriptor("text/plain", Digest.of(text), len(text)).to_json()],
    }
    manifest = canonical_json({"artifactType": "text/plain", "subject": subject.to_json(), **described})
    return Attachment(title=text.decode(), manifest=manifest, blobs=(EMPTY, text))


def publish(publication: Publication, target: Target) -> tuple[Difference, Moved]:
    lacking = difference(publication, survey(publication, target))
    path = publication.passed.image.path
    moved = carry_out(
        publication, lacking, target, lambda blob: Blob(blob, lambda: path(blob.digest).open("rb"))
    )
    return lacking, moved


def test_layers_come_first_then_the_manifest_then_attachments_and_tags_last(whole: Publication) -> None:
    target = MemoryTarget()
    _, moved = publish(whole, target)
    image = whole.passed.image
    blobs = [f"blob {blob.digest.hex[:8]}" for blob in (*image.layers, image.config)]
    kinds = [step.split()[0] for step in target.log[len(blobs) :]]
    assert target.log[: len(blobs)] == blobs
    assert kinds == ["manifest", *["blob"] * 3, *["referrer"] * 2, *["manifest"] * 3]
    assert [step.split()[1] for step in target.log[-3:]] == ["1.0.0", "1.0", "latest"]
    assert target.manifests["1.0.0"] == image.path(image.manifest.digest).read_bytes()
    assert moved.uploaded == len(blobs) + 3
    assert moved.bytes == sum(map(len, target.blobs.values()))


def test_publishing_again_changes_nothing(whole: Publication) -> None:
    target = MemoryTarget()
    publish(whole, target)
    before = list(target.log)
    lacking, moved = publish(whole, target)
    assert lacking.nothing
    assert (moved.bytes, moved.uploaded, moved.mounted) == (0, 0, 0)
    assert target.log == before


def test_wherever_it_breaks_running_again_gives_the_same_and_sends_nothing_twice(whole: Publication) -> None:
    unbroken = MemoryTarget()
    publish(whole, unbroken)
    for step in range(len(unbroken.log)):
        target = MemoryTarget(breaks_at=step)
        with pytest.raises(RegistryError, match="broke"):
            publish(whole, target)
        shown = [target.manifests[tag] for tag in whole.tags.all() if tag in target.manifests]
        assert all(named_blobs(data) <= set(target.blobs) for data in shown)
        assert not shown or len(target.referrers[whole.digest]) == 2
        target.breaks_at = None
        publish(whole, target)
        assert (target.blobs, target.manifests) == (unbroken.blobs, unbroken.manifests)
        assert sorted(target.referrers[whole.digest]) == sorted(unbroken.referrers[whole.digest])
        sent = [entry for entry in target.log if entry.startswith("blob")]
        assert len(sent) == len(set(sent))


@pytest.fixture(scope="module")
def changed(store: Store) -> Publication:
    """The same version with other code."""
    image = ArtifactImage(code={"run.py": "print('accuracy: 1.0')\n"})
    return Publication(passed=let_pass(*tiny_image(store, image)), tags=Tags(version="1.0.0"))


def test_a_published_version_is_not_moved_and_nothing_is_sent(
    whole: Publication, changed: Publication
) -> None:
    target = MemoryTarget()
    publish(whole, target)
    before = list(target.log)
    with pytest.raises(PublishError, match="published already, with another digest") as caught:
        publish(changed, target)
    assert "--move-tag" in str(caught.value)
    assert target.log == before


def test_a_version_is_moved_when_that_is_asked_for_and_only_what_differs_is_sent(
    whole: Publication, changed: Publication
) -> None:
    target = MemoryTarget()
    publish(whole, target)
    moving = Publication(passed=changed.passed, tags=Tags(version="1.0.0", move_version=True))
    lacking, _ = publish(moving, target)
    assert Digest.of(target.manifests["1.0.0"]) == changed.digest
    assert Digest.of(target.manifests["latest"]) == whole.digest
    ours = {blob.digest for blob in changed.passed.image.layers}
    theirs = {blob.digest for blob in whole.passed.image.layers}
    assert {blob.digest for blob in lacking.blobs} == (ours - theirs) | {changed.passed.image.config.digest}


def test_somebody_who_publishes_the_version_meanwhile_is_not_overwritten(
    whole: Publication, changed: Publication
) -> None:
    class Raced(MemoryTarget):
        def put_manifest(self, reference: str, data: bytes) -> None:
            super().put_manifest(reference, data)
            if reference.startswith("sha256:") and "1.0.0" not in self.manifests:
                publish(changed, self)

    target = Raced()
    with pytest.raises(PublishError, match="published already"):
        publish(whole, target)
    assert Digest.of(target.manifests["1.0.0"]) == changed.digest


def test_layers_of_the_latest_image_of_the_repository_are_not_asked_for(
    whole: Publication, changed: Publication
) -> None:
    class Counting(MemoryTarget):
        asked = 0

        def push(self, blobs: Sequence[Blob], progress: Progress) -> Moved:
            self.asked += len(blobs)
            return super().push(blobs, progress)

    target = Counting()
    publish(whole, target)
    target.asked = 0
    other = Publication(passed=changed.passed, tags=Tags(version="1.0.1"))
    publish(other, target)
    shared = {blob.digest for blob in changed.passed.image.layers} & {
        blob.digest for blob in whole.passed.image.layers
    }
    assert shared
    assert target.asked == len({blob.digest for blob in changed.passed.image.layers} - shared) + 1


def test_blobs_that_a_registry_lost_are_sent_again(whole: Publication, changed: Publication) -> None:
    target = MemoryTarget()
    publish(whole, target)
    lost = whole.passed.image.layers[0].digest
    assert lost in {blob.digest for blob in changed.passed.image.layers}
    del target.blobs[lost]
    publish(Publication(passed=changed.passed, tags=Tags(version="1.0.1")), target)
    assert lost in target.blobs
    assert Digest.of(target.manifests["1.0.1"]) == changed.digest


def test_a_manifest_that_changed_since_the_gate_is_not_published(store: Store) -> None:
    image, artifact = tiny_image(store, ArtifactImage(code={"run.py": "print('accuracy: 2.0')\n"}))
    publication = Publication(passed=let_pass(image, artifact), tags=Tags(version="1.0.0"))
    with store.path(image.manifest.digest).open("ab") as stream:
        stream.write(b" ")
    target = MemoryTarget()
    with pytest.raises(PublishError, match="damaged"):
        publish(publication, target)
    assert target.log == []


@pytest.mark.parametrize("tag", ["", "-a", "a b", "a/b", "sha256-" + "0" * 64, "x" * 129])
def test_what_is_no_tag_of_an_image_is_refused(tag: str) -> None:
    with pytest.raises(UsageError, match="no tag for an image"):
        Tags(version="1.0.0", also=(tag,))


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{}", b'{"config": 1, "layers": []}', b"[" * 10000])
def test_a_manifest_of_another_kind_proves_nothing(data: bytes) -> None:
    assert named_blobs(data) == frozenset()


def test_a_layout_takes_the_image_its_attachments_and_tags(whole: Publication, tmp_path: Path) -> None:
    folder = tmp_path / "layout"
    target = LayoutTarget(folder, "reprobridge/tiny")
    _, moved = publish(whole, target)
    again, nothing = publish(whole, target)
    assert moved.uploaded == len({*whole.passed.image.layers, whole.passed.image.config}) + 3
    assert again.nothing
    assert nothing.bytes == 0
    assert read_layout(folder, "1.0").manifest.digest == whole.digest
    assert read_layout(folder).name == "reprobridge/tiny"
    assert target.attached(whole.passed.image.manifest) == {one.digest for one in whole.attachments}


def test_what_a_registry_lost_of_a_whole_publication_is_looked_for_only_when_that_is_asked_for(
    whole: Publication,
) -> None:
    target = MemoryTarget()
    publish(whole, target)
    held = dict(target.blobs)
    lost = (whole.passed.image.layers[0].digest, Digest.of(b"one"))
    for digest in lost:
        del target.blobs[digest]
    assert publish(whole, target)[0].nothing
    target.proves_blobs = False
    lacking, moved = publish(whole, target)
    assert [one.title for one in lacking.attachments] == ["one"]
    assert moved.uploaded == len(lost)
    assert target.blobs == held
    assert publish(whole, target)[0].nothing


def test_what_was_deleted_or_cut_in_a_layout_is_brought_again(whole: Publication, tmp_path: Path) -> None:
    target = LayoutTarget(tmp_path / "layout", "reprobridge/tiny")
    publish(whole, target)
    blobs = tmp_path / "layout" / "blobs" / "sha256"
    before = {path.name: path.read_bytes() for path in blobs.iterdir()}
    first, second = (blob.digest.hex for blob in whole.passed.image.layers[:2])
    attached = whole.attachments[0].digest.hex
    for name in (first, attached, Digest.of(b"two").hex):
        (blobs / name).unlink()
    (blobs / second).unlink()
    (blobs / second).write_bytes(before[second][:-1])
    lacking, _ = publish(whole, target)
    assert {blob.digest.hex for blob in lacking.blobs} == {first, second}
    assert len(lacking.attachments) == 2
    assert {path.name: path.read_bytes() for path in blobs.iterdir()} == before
    assert publish(whole, target)[0].nothing


def test_a_damaged_layer_does_not_reach_a_layout(store: Store, tmp_path: Path) -> None:
    image, artifact = tiny_image(store, ArtifactImage(code={"run.py": "print('accuracy: 3.0')\n"}))
    damaged = next(blob for blob in image.layers if blob.size < 4096)
    publication = Publication(passed=let_pass(image, artifact), tags=Tags(version="1.0.0"))
    path = store.path(damaged.digest)
    path.write_bytes(bytes(damaged.size))
    target = LayoutTarget(tmp_path / "layout", "reprobridge/tiny")
    try:
        with pytest.raises(DamagedBlobError, match=f"{path}: a blob is damaged") as caught:
            publish(publication, target)
    finally:
        path.unlink()
    assert "delete this file and build again" in str(caught.value)
    assert target.manifest("1.0.0") is None


def test_a_folder_of_something_else_is_left_alone(whole: Publication, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(Exception, match="in use"):
        publish(whole, LayoutTarget(tmp_path, "reprobridge/tiny"))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_folder_that_takes_nothing_is_said_in_words(whole: Publication) -> None:
    with pytest.raises(AssembleError, match="cannot be written") as caught:
        publish(whole, LayoutTarget(Path("/proc/layout"), "reprobridge/tiny"))
    assert caught.value.found == "No such file or directory"
