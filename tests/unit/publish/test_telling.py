"""What a user is told before and after."""

import pytest

from reprobridge.digest import Digest
from reprobridge.oci.layout import ImageParts
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.publication import Attachment, Difference, Publication
from reprobridge.publish.tags import Tags
from reprobridge.publish.telling import done_json, done_text, plan_json, plan_text, size_text
from reprobridge.registry.transfer import Moved
from reprobridge_launcher import manifest as launcher_manifest
from support import launcher_artifact
from support.publishing import let_pass

BIG = Descriptor(MediaType.LAYER, Digest.of(b"big"), 2_500_000)
SMALL = Descriptor(MediaType.LAYER, Digest.of(b"small"), 10)
NAME = "ghcr.io/me/wine"


@pytest.fixture
def publication() -> Publication:
    artifact = launcher_manifest.parse(launcher_artifact.manifest())
    image = ImageParts(
        name="reprobridge/wine",
        version="1.0.0",
        manifest=Descriptor(MediaType.MANIFEST, Digest.of(b"manifest"), 8),
        config=SMALL,
        layers=(BIG,),
        path=lambda digest: pytest.fail(str(digest)),
    )
    attachment = Attachment(title="signature", manifest=b"{}", blobs=())
    return Publication(
        passed=let_pass(image, artifact),
        tags=Tags(version="1.0.0", also=("latest",)),
        attachments=(attachment,),
    )


def lacking(publication: Publication, *, nothing: bool = False) -> Difference:
    if nothing:
        return Difference(blobs=(), proven=(BIG, SMALL), manifest=False, attachments=(), tags=())
    tags, attachments = publication.tags.all(), publication.attachments
    return Difference(blobs=(BIG, SMALL), proven=(), manifest=True, attachments=attachments, tags=tags)


def test_a_dry_run_names_every_blob_attachment_and_tag(publication: Publication) -> None:
    assert plan_text(publication, lacking(publication), [BIG], NAME).splitlines() == [
        f"{NAME}:1.0.0@{publication.digest}",
        "would move 1 blob (2.5 MB); 1 there already",
        f"  {BIG.digest}  2.5 MB",
        "would attach signature",
        "would tag 1.0.0, latest",
    ]
    value = plan_json(publication, lacking(publication), [BIG], NAME)
    assert isinstance(value, dict)
    assert (value["bytes"], value["present"], value["tag"]) == (2_500_000, 1, ["1.0.0", "latest"])


def test_a_dry_run_of_what_is_there_says_that_nothing_would_move(publication: Publication) -> None:
    said = plan_text(publication, lacking(publication, nothing=True), [], NAME)
    assert said.splitlines()[1:] == ["is published already: nothing would move"]


def test_afterwards_readers_are_told_what_to_type(publication: Publication) -> None:
    moved = Moved(bytes=2_500_000, uploaded=1, mounted=2, present=3)
    assert done_text(publication, lacking(publication), moved, NAME).splitlines() == [
        "1 blob pushed (2.5 MB); 2 mounted; 3 there already; attached: signature; tagged 1.0.0, latest",
        f"docker run --rm {NAME}:1.0.0 run lda",
    ]
    value = done_json(publication, moved, NAME)
    assert isinstance(value, dict)
    assert value["run"] == f"docker run --rm {NAME}:1.0.0 run lda"


def test_nothing_moved_is_said_in_few_words(publication: Publication) -> None:
    said = done_text(publication, lacking(publication, nothing=True), Moved(present=2), NAME)
    assert said.startswith("is published already: nothing moved\n")


def test_a_layout_is_not_something_to_run(publication: Publication) -> None:
    assert "docker" not in done_text(publication, lacking(publication), Moved(), "oci:out")


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1234567, "1.2 MB"), (3 * 10**9, "3.0 GB")],
)
def test_sizes_are_written_as_registries_count(size: int, text: str) -> None:
    assert size_text(size) == text
