"""Where a publication goes, as users write it."""

from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import PublishError, UsageError
from reprobridge.publish.tags import Tags, require_free
from reprobridge.publish.target import Layout, Repository, default_target, names_target, parse_target
from reprobridge_launcher import manifest as launcher_manifest
from reprobridge_launcher.manifest import Manifest
from support import launcher_artifact

ONE, OTHER = Digest.of(b"one"), Digest.of(b"other")


@pytest.mark.parametrize(
    ("word", "target"),
    [
        ("ghcr.io/me/paper", Repository("ghcr.io", "me/paper")),
        ("localhost/paper", Repository("localhost", "paper")),
        ("127.0.0.1:5000/a/b/c", Repository("127.0.0.1:5000", "a/b/c")),
        ("ghcr.io/me/paper:1.0.0", Repository("ghcr.io", "me/paper")),
        ("docker.io/me/paper", Repository("docker.io", "me/paper")),
        ("oci:out/folder", Layout(Path("out/folder"))),
    ],
)
def test_a_target_names_its_registry_or_a_layout(word: str, target: Repository | Layout) -> None:
    assert names_target(word)
    assert parse_target(word, "1.0.0") == target


@pytest.mark.parametrize("word", ["examples/wine", "./examples/wine", "../wine", "wine", ".", "a/b/c"])
def test_a_folder_is_never_taken_for_a_registry(word: str) -> None:
    assert not names_target(word)
    with pytest.raises(UsageError, match="not a place to publish to"):
        parse_target(word, "1.0.0")


@pytest.mark.parametrize("word", ["ghcr.io/me/paper:2.0.0", f"ghcr.io/me/paper@{ONE}"])
def test_the_tag_is_the_artifacts_version_and_nothing_else(word: str) -> None:
    with pytest.raises(UsageError, match="tagged with the artifact's version"):
        parse_target(word, "1.0.0")


@pytest.mark.parametrize("word", ["ghcr.io/", "ghcr.io/Me/paper", "ghcr.io/me//paper"])
def test_what_is_no_repository_is_refused(word: str) -> None:
    with pytest.raises(UsageError):
        parse_target(word, "1.0.0")


def artifact_at(repository: str | None) -> Manifest:
    fields = {"id": "a" * 64, "version": "1.0.0", "license": None, "repository": repository}
    return launcher_manifest.parse(launcher_artifact.manifest(artifact=fields))


@pytest.mark.parametrize("end", ["", "/", ".git"])
def test_a_repository_on_github_has_its_place_on_ghcr(end: str) -> None:
    artifact = artifact_at(f"https://github.com/Some-Lab/papers{end}")
    assert default_target(artifact) == Repository("ghcr.io", "some-lab/wine")


@pytest.mark.parametrize(
    "repository",
    [None, "https://example.org/lab/paper", "https://github.com.evil.org/a/b", "https://github.com/lab"],
)
def test_elsewhere_the_user_must_say_where(repository: str | None) -> None:
    with pytest.raises(UsageError, match=r"ghcr\.io/YOU/wine"):
        default_target(artifact_at(repository))


def test_every_tag_is_set_once_and_the_version_first() -> None:
    assert Tags(version="1.0.0", also=("latest", "1.0.0", "latest")).all() == ("1.0.0", "latest")


def test_only_a_version_that_stands_for_another_image_is_in_the_way() -> None:
    tags = Tags(version="1.0.0")
    require_free(tags, None, ONE, "here")
    require_free(tags, ONE, ONE, "here")
    require_free(Tags(version="1.0.0", move_version=True), OTHER, ONE, "here")
    with pytest.raises(PublishError, match=r"here:1\.0\.0"):
        require_free(tags, OTHER, ONE, "here")
