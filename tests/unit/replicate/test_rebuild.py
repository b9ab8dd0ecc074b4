"""What stops a rebuild before anything is made: another release, a changed lock or code, hostile paths."""

from pathlib import Path

import pytest

from reprobridge.errors import ArtifactError, LockError, TrustError
from reprobridge.lock.doors import Doors
from reprobridge.lock.revisions import REVISIONS
from reprobridge.replicate.contents import read_contents
from reprobridge.replicate.rebuild import RebuildRequest, rebuild
from reprobridge.replicate.seen import see
from reprobridge.store.store import Store
from reprobridge.system.network import Offline
from reprobridge.system.processes import RealProcesses
from support.layers import Link
from support.reviewed_image import ReviewedImage, edited_image, reviewed_image

LOCK = "rra/lock/reprobridge.lock"
SPEC = "rra/spec/reprobridge.yaml"


class Silence:
    """Progress that nobody hears."""

    def begin(self, what: str, total: int) -> None:
        """Nothing."""

    def step(self, title: str) -> None:
        """Nothing."""


def try_to_rebuild(image: ReviewedImage, folder: Path) -> None:
    author, store = Store(folder / "author"), Store(folder / "reviewer")
    seen = see(image.build(author), author)
    doors = Doors(store=store, processes=RealProcesses(), network=Offline(), environment={})
    rebuild(RebuildRequest(image=seen, progress=Silence(), workers=1), doors)


def test_another_release_is_refused_and_the_right_one_named(tmp_path: Path) -> None:
    image = edited_image(LOCK, '"release": "0.1.0"', '"release": "0.9.9"')
    data = image.layers["artifact"][LOCK]
    assert isinstance(data, bytes)
    image.layers["artifact"][LOCK] = data.replace(f'"wheel": {REVISIONS["wheel"]}'.encode(), b'"wheel": 99')
    with pytest.raises(LockError) as caught:
        try_to_rebuild(image, tmp_path)
    assert caught.value.hint == "install reprobridge 0.9.9, which wrote the lock"
    assert "converters.wheel" in str(caught.value.found)


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ('exclude: ["__pycache__/**"]', 'exclude: ["*.txt"]', "source"),
        ("exclude_newer: 2026-11-01", "exclude_newer: 2026-10-01", "python"),
        ("template: debian12-py311\n", "template: debian12-py311\n  apt: [libgl1]\n", "debian"),
    ],
)
def test_a_specification_that_the_lock_does_not_answer_is_refused(
    old: str, new: str, part: str, tmp_path: Path
) -> None:
    with pytest.raises(LockError, match="does not answer its specification") as caught:
        try_to_rebuild(edited_image(SPEC, old, new), tmp_path)
    assert part in str(caught.value.found)


def test_code_that_is_not_the_locks_is_refused_and_the_file_named(tmp_path: Path) -> None:
    image = reviewed_image()
    image.layers["code"]["rra/code/run.py"] = "print('deviation: 1.17')\n"
    image.layers["code"]["rra/code/more.py"] = ""
    with pytest.raises(TrustError, match="not the one that its lock names") as caught:
        try_to_rebuild(image, tmp_path)
    assert "/rra/code/more.py, /rra/code/run.py not as in" in str(caught.value.found)


def test_an_image_for_a_platform_that_its_lock_does_not_cover_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LockError, match="does not cover its platform"):
        try_to_rebuild(edited_image(LOCK, '"linux/amd64"', '"linux/arm64"'), tmp_path)


@pytest.mark.parametrize("origin", ["../../../evil", "/evil", "..", "."])
def test_a_source_outside_of_the_artifact_is_refused_and_nothing_written_there(
    origin: str, tmp_path: Path
) -> None:
    image = edited_image(LOCK, '"origin": "src"', f'"origin": "{origin}"')
    with pytest.raises((ArtifactError, LockError)):
        try_to_rebuild(image, tmp_path)
    assert not list(tmp_path.rglob("evil"))
    assert not Path("/evil").exists()


def test_a_file_of_the_specification_is_not_written_through_a_link_of_the_code(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    image = reviewed_image()
    image.layers["code"]["rra/code/docs"] = Link(str(outside))
    image.layers["artifact"]["rra/spec/src/docs/GUIDE.md"] = b"# Guide\n"
    with pytest.raises((ArtifactError, TrustError)):
        try_to_rebuild(image, tmp_path)
    assert list(outside.iterdir()) == []


def test_an_image_that_is_no_artifact_is_refused(tmp_path: Path) -> None:
    image = reviewed_image()
    del image.layers["artifact"]
    with pytest.raises(ArtifactError, match="no artifact of reprobridge"):
        try_to_rebuild(image, tmp_path)


def test_what_an_image_says_about_itself_is_what_its_artifact_is(tmp_path: Path) -> None:
    store = Store(tmp_path)
    contents = read_contents(see(reviewed_image().build(store), store))
    assert sorted(map(str, contents.spec)) == ["GUIDE.md", "reprobridge.yaml", "requirements.in"]
    assert contents.read_lock().template == "debian12-py311"
