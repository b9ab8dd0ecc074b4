"""What a user is told before and after."""

import pytest

from reprobridge.digest import Digest
from reprobridge.frozen import replace
from reprobridge.oci.layout import ImageParts
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.model import Attachment, Beside, Difference, Publication
from reprobridge.publish.tags import Tags
from reprobridge.publish.telling import Plan, done_json, done_text, plan_json, plan_text, run_line, size_text
from reprobridge.registry.transfer import Moved
from reprobridge_launcher import manifest as launcher_manifest
from reprobridge_launcher.record import replaced
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


def planned(
    publication: Publication,
    lacking: Difference,
    *,
    absent: tuple[Descriptor, ...] = (),
    beside: Beside = Beside(),  # noqa: B008  # frozen
) -> Plan:
    return Plan(publication=publication, lacking=lacking, absent=absent, beside=beside, target=NAME)


def test_a_dry_run_names_every_blob_attachment_and_tag(publication: Publication) -> None:
    plan = planned(publication, lacking(publication), absent=(BIG,))
    assert plan_text(plan).splitlines() == [
        f"{NAME}:1.0.0@{publication.digest}",
        "would move 1 blob (2.5 MB); 1 there already",
        f"  {BIG.digest}  2.5 MB",
        "would attach signature",
        "would tag 1.0.0, latest",
    ]
    value = plan_json(plan)
    assert isinstance(value, dict)
    assert (value["bytes"], value["present"], value["tag"]) == (2_500_000, 1, ["1.0.0", "latest"])


def test_a_dry_run_names_what_would_be_brought_besides_the_image(publication: Publication) -> None:
    beside = Beside(known=2, blobs=(SMALL,), tags=("sha256-0.sig", "known-layers"))
    plan = planned(publication, lacking(publication, nothing=True), beside=beside)
    assert plan_text(plan).splitlines()[1:] == [
        "would move 0 blobs (0 B); 2 there already",
        "would make 2 layers known in the repository (1 blob, 10 B)",
        "would tag sha256-0.sig, known-layers",
    ]
    value = plan_json(plan)
    assert isinstance(value, dict)
    assert value["beside"] == {
        "known_layers": 2,
        "move": [SMALL.to_json()],
        "tag": ["sha256-0.sig", "known-layers"],
    }


def test_a_dry_run_of_what_is_there_says_that_nothing_would_move(publication: Publication) -> None:
    said = plan_text(planned(publication, lacking(publication, nothing=True)))
    assert said.splitlines()[1:] == ["is published already: nothing would move"]


def test_afterwards_readers_are_told_what_to_type(publication: Publication) -> None:
    moved = Moved(bytes=2_500_000, uploaded=1, mounted=2, present=3)
    assert done_text(publication, lacking(publication), moved, NAME).splitlines() == [
        "1 blob pushed (2.5 MB); 2 mounted; 3 there already; attached: signature; tagged 1.0.0, latest",
        f"docker run --rm --network none {NAME}:1.0.0 run lda",
    ]
    value = done_json(publication, lacking(publication), moved, NAME)
    assert isinstance(value, dict)
    assert value["run"] == f"docker run --rm --network none {NAME}:1.0.0 run lda"


def test_afterwards_only_what_was_attached_and_tagged_now_is_named(publication: Publication) -> None:
    measured = Attachment(title="measurements", manifest=b"[]", blobs=())
    found = replace(lacking(publication, nothing=True), attachments=(measured,), tags=("latest",))
    moved = Moved(bytes=10, uploaded=1, present=2)
    said = done_text(publication, found, moved, NAME).splitlines()[0]
    assert said == "1 blob pushed (10 B); 2 there already; attached: measurements; tagged latest"
    value = done_json(publication, found, moved, NAME)
    assert isinstance(value, dict)
    assert (value["attached"], value["tagged"]) == (["measurements"], ["latest"])


def test_readers_of_a_task_on_gpus_are_told_to_give_them(publication: Publication) -> None:
    passed = publication.passed
    first = passed.artifact.tasks[0]
    task = replaced(first, resources=replaced(first.resources, gpus=1))
    artifact = replaced(passed.artifact, tasks=(task,))
    again = replace(publication, passed=let_pass(passed.image, artifact))
    assert run_line(again, NAME) == f"docker run --rm --network none --gpus all {NAME}:1.0.0 run {task.id}"


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
