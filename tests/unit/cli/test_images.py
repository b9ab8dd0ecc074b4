"""Which image a word of the command line means."""

from pathlib import Path

import pytest

from reprobridge.cli.doors import Doors
from reprobridge.cli.images import layout_of, names_image, names_registry, open_image, pull
from reprobridge.digest import Digest
from reprobridge.errors import NetworkError, UsageError
from reprobridge.oci.layout import write_layout
from support.reviewed_image import reviewed_image


@pytest.fixture
def doors(store_folder: Path) -> Doors:
    return Doors(store_root=store_folder, offline=True, quiet=True)


@pytest.mark.parametrize(
    ("word", "remote"),
    [
        ("localhost/x", True),
        ("localhost:5000/x:1", True),
        ("ghcr.io/owner/name", True),
        ("ghcr.io/owner/name@sha256:" + "0" * 64, True),
        ("reprobridge/wine:1.0.0", False),
        ("reprobridge/wine@sha256:" + "0" * 64, False),
        ("sha256:" + "0" * 64, False),
        ("./artifact", False),
        ("../artifact", False),
        ("/abs/artifact", False),
        ("wine:1.0.0", False),
    ],
)
def test_a_first_part_that_is_a_host_means_a_registry(word: str, *, remote: bool) -> None:
    assert names_registry(word) is remote


def test_every_form_is_an_image_and_a_tasks_id_is_none() -> None:
    assert all(map(names_image, ("localhost:5000/x", "oci:folder", "name:tag", ".", "name@sha256:x")))
    assert not names_image("lda")


def test_a_layouts_tag_stands_behind_its_folder(tmp_path: Path) -> None:
    assert layout_of(f"oci:{tmp_path}:1.0.0") == (tmp_path, "1.0.0")
    assert layout_of(f"oci:{tmp_path}") == (tmp_path, None)


def test_images_of_store_and_layout_are_found_by_every_name(doors: Doors, tmp_path: Path) -> None:
    image = reviewed_image().build(doors.store)
    digest = image.manifest.digest
    doors.store.refer(image.name, "1.0.0", digest)
    write_layout(tmp_path / "layout", image)
    for word in (
        f"{image.name}:1.0.0",
        f"{image.name}@{digest}",
        str(digest),
        f"localhost:5000/x@{digest}",
        f"oci:{tmp_path / 'layout'}",
        f"oci:{tmp_path / 'layout'}:1.0.0",
    ):
        assert open_image(word, doors).manifest.digest == digest


def test_a_pulled_tag_is_taken_from_the_store_when_offline(doors: Doors) -> None:
    image = reviewed_image().build(doors.store)
    doors.store.refer("localhost:5000/x", "1.0.0", image.manifest.digest)
    assert open_image("localhost:5000/x:1.0.0", doors).manifest == image.manifest


def test_offline_a_registrys_image_that_is_not_in_the_store_cannot_be_had(doors: Doors) -> None:
    for word in ("localhost:5000/x:1.0.0", f"localhost:5000/x@{Digest.of(b'x')}"):
        with pytest.raises(NetworkError, match="localhost:5000"):
            open_image(word, doors)


def test_what_is_pulled_needs_a_host(doors: Doors, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no registry is named") as caught:
        pull("pe", doors)
    assert "docker.io/…" in str(caught.value.hint)
    with pytest.raises(UsageError, match="a file or folder of this machine"):
        pull(str(tmp_path), doors)


@pytest.mark.parametrize("word", ["reprobridge/none:1.0.0", "none", f"x@{Digest.of(b'x')}", "x@sha256:1"])
def test_an_image_that_is_nowhere_is_refused_with_what_may_be_named(word: str, doors: Doors) -> None:
    with pytest.raises(UsageError) as caught:
        open_image(word, doors)
    assert word.rpartition("@")[2] in str(caught.value)


@pytest.mark.parametrize("word", ["sha256:zz", "reprobridge/wine@sha256:zz", "sha256:" + "0" * 64])
def test_a_digest_that_names_nothing_leads_to_those_of_the_store(word: str, doors: Doors) -> None:
    with pytest.raises(UsageError) as caught:
        open_image(word, doors)
    assert "`reprobridge cache info`" in (caught.value.hint or "")


def test_an_empty_word_is_no_image_and_not_the_artifact_here(doors: Doors) -> None:
    with pytest.raises(UsageError, match="an empty word"):
        open_image("", doors)
