"""Names of images."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.digest import Digest
from reprobridge.errors import UsageError
from reprobridge.registry.reference import ImageReference

DIGEST = Digest("ab" * 32)
HOST = st.sampled_from(["ghcr.io", "a", "127.0.0.1", "registry-1.docker.io"])
PART = st.sampled_from(["a", "a.b", "a_b", "a__b", "a--b", "0", "lib-x9"])
TAG = st.text("aZ0_.-", min_size=1, max_size=128).filter(lambda tag: tag[0] not in ".-")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ghcr.io/owner/name", ImageReference("ghcr.io", "owner/name")),
        ("ghcr.io/owner/name:1.0.0", ImageReference("ghcr.io", "owner/name", "1.0.0")),
        (f"ghcr.io/owner/name@{DIGEST}", ImageReference("ghcr.io", "owner/name", None, DIGEST)),
        (f"ghcr.io/a/b:1@{DIGEST}", ImageReference("ghcr.io", "a/b", "1", DIGEST)),
        ("localhost:5000/name:1", ImageReference("localhost:5000", "name", "1")),
        ("localhost/name", ImageReference("localhost", "name")),
        ("[::1]:5000/name", ImageReference("[::1]:5000", "name")),
        ("ubuntu:22.04", ImageReference("docker.io", "library/ubuntu", "22.04")),
        ("owner/name", ImageReference("docker.io", "owner/name")),
    ],
)
def test_a_name_is_read(text: str, expected: ImageReference) -> None:
    assert ImageReference.parse(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "a repository in lower case"),
        ("ghcr.io/", "a repository in lower case"),
        ("ghcr.io/Owner/name", "a repository in lower case"),
        ("ghcr.io/owner//name", "a repository in lower case"),
        ("ghcr.io/../name", "a repository in lower case"),
        ("https://ghcr.io/owner/name", "a registry's host"),
        ("user:secret@ghcr.io/owner/name", "a digest"),
        ("ghcr.io/owner/name:", "a tag"),
        ("ghcr.io/owner/name:a b", "a tag"),
        ("ghcr.io/owner/name:.hidden", "a tag"),
        ("ghcr.io/owner/name@sha256:1234", "a digest"),
        ("ghcr.io/owner/name@", "a digest"),
        ("ghcr.io/owner/name\n", "a repository in lower case"),
    ],
)
def test_what_is_no_name_is_refused_with_what_is_expected(text: str, expected: str) -> None:
    with pytest.raises(UsageError, match=f"expected: {expected}"):
        ImageReference.parse(text)


@given(HOST, st.lists(PART, min_size=2, max_size=4), st.none() | TAG, st.booleans())
def test_a_written_name_reads_as_itself(host: str, path: list[str], tag: str | None, pinned: bool) -> None:
    reference = ImageReference(f"{host}:5000", "/".join(path), tag, DIGEST if pinned else None)
    assert ImageReference.parse(str(reference)) == reference


def test_the_digest_wins_over_the_tag() -> None:
    reference = ImageReference.parse(f"ghcr.io/a/b:1@{DIGEST}")
    assert reference.target == str(DIGEST)
    assert ImageReference.parse("ghcr.io/a/b:1").target == "1"
    assert ImageReference.parse("ghcr.io/a/b").target == "latest"
    assert reference.name == "ghcr.io/a/b"
