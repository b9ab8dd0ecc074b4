"""direct_url.json: what pip would write for each kind of source, and no place of the machine that built it."""

import json

import pytest

from reprobridge.frozen import replace
from reprobridge.lock.model import LockedBuild, LockedFile, LockedWheel
from reprobridge.plan.contents.direct_url import direct_url
from support.specs import digest, sample_wheel

WHEEL = sample_wheel("solver")
SDIST = LockedFile("solver-1.0.tar.gz", digest("sdist"), 1000)
COMMIT = "0123456789" * 4


def build(kind: str, origin: str, **more: object) -> LockedBuild:
    """How the wheel came to be."""
    fields: dict[str, object] = {
        "name": "solver", "kind": kind, "origin": origin, "index": None, "commit": None, "subdirectory": None,
        "file": None, "tree": digest("tree"), "requires": (), "base": digest("base"), "repeatable": True, **more,
    }  # fmt: skip
    return LockedBuild(**fields)  # type: ignore[arg-type]  # the fields are the model's


def hashed(file: LockedFile) -> dict[str, object]:
    return {"hash": f"sha256={file.sha256.hex}", "hashes": {"sha256": file.sha256.hex}}


def read(wheel: LockedWheel, made: LockedBuild | None) -> object:
    text = direct_url(wheel, made)
    assert text is not None
    return json.loads(text)


@pytest.mark.parametrize("made", [None, build("sdist", "solver==1.0", file=SDIST)])
def test_what_an_index_gave_has_none(made: LockedBuild | None) -> None:
    assert direct_url(WHEEL, made) is None


def test_a_wheel_at_an_address_names_it_without_the_fragment_and_the_wheels_digest() -> None:
    url = "https://example.org/solver-1.0-py3-none-any.whl"
    expected = {"url": url, "archive_info": hashed(WHEEL.file)}
    assert read(replace(WHEEL, url=f"{url}#sha256=00"), None) == expected


def test_an_sdist_at_an_address_names_it_and_the_sdists_digest() -> None:
    url = "https://example.org/solver-1.0.tar.gz"
    expected = {"url": url, "archive_info": hashed(SDIST), "subdirectory": "python"}
    assert read(WHEEL, build("archive", url, file=SDIST, subdirectory="python")) == expected


def test_a_repository_names_its_commit() -> None:
    url = "https://example.org/solver.git"
    info = {"vcs": "git", "commit_id": COMMIT, "requested_revision": COMMIT}
    expected = {"url": url, "vcs_info": info}
    assert read(WHEEL, build("git", url, commit=COMMIT)) == expected


@pytest.mark.parametrize(
    ("origin", "url"),
    [
        ("packages/my solver", "file:///rra/spec/packages/my%20solver"),
        (".", "file:///rra/spec"),
    ],
)
def test_a_folder_is_named_by_where_it_lies_beside_the_specification(origin: str, url: str) -> None:
    assert read(WHEEL, build("path", origin)) == {"url": url, "dir_info": {}}
