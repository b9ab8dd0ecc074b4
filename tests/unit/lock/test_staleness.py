"""A stale lock says in words what changed."""

import shutil
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import Problem
from reprobridge.frozen import replace
from reprobridge.lock.doors import Doors
from reprobridge.lock.file import read_lock
from reprobridge.lock.freshness import stale_wishes
from reprobridge.lock.model import Lock
from reprobridge.lock.staleness import staleness, tool_changes
from reprobridge.lock.tools import current_tools
from reprobridge.spec.parse import read_spec
from reprobridge.store.store import Store
from reprobridge.system.network import Offline
from reprobridge.system.processes import RealProcesses
from support.artifacts import MINIMAL, PYGAM, WINE


@pytest.fixture
def doors(store_folder: Path) -> Doors:
    """Doors without a network: what is asked here must be answered without."""
    return Doors(store=Store(store_folder), processes=RealProcesses(), network=Offline(), environment={})


@pytest.fixture
def wine(tmp_path: Path) -> Path:
    """An artifact with requirements and an older lock, to edit."""
    return Path(shutil.copytree(WINE, tmp_path / "wine"))


def edit(path: Path, old: str, new: str) -> None:
    """Replace text in a file; it must be there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def words(folder: Path, doors: Doors, lock: Lock | None = None) -> list[str]:
    """What is said of an edited artifact."""
    spec, lock = read_spec(folder), lock or read_lock(folder / "reprobridge.lock")
    return staleness(stale_wishes(spec, lock, folder, doors), spec, lock, folder, doors)


def test_a_fresh_lock_has_nothing_to_say(wine: Path, doors: Doors) -> None:
    assert words(wine, doors) == []


@pytest.mark.parametrize(
    ("requirements", "said"),
    [
        ("numpy\nscikit-learn\nSix_ >= 1  # why\n", ["six_>=1 is asked for and not locked"]),
        ("numpy\nscikit_learn\nsix; python_version < '3'\n", ["its text changed"]),
        ("numpy < 2\nscikit-learn\n", ["numpy<2 is asked for, 2."]),
        ("numpy @ https://example.org/numpy-1-py3-none-any.whl\nscikit-learn\n", ["numpy @ https://"]),
        ("scikit-learn\n", ["numpy 2.", "is locked and not asked for any more"]),
        ("numpy\nnumpy<2\nscikit-learn\n", ["numpy<2 is asked for"]),
        ("# a comment\nnumpy\nscikit-learn\n", ["its text changed (comments count)"]),
        ("\ufeffnumpy\nscikit-learn < 1\n", ["scikit-learn<1 is asked for"]),
    ],
)
def test_a_requirement_is_named(requirements: str, said: list[str], wine: Path, doors: Doors) -> None:
    (wine / "requirements.in").write_text(requirements)
    (line,) = words(wine, doors)
    assert line.lower().startswith("requirements.in: ")
    assert all(text in line.lower() for text in said), line


def test_a_debian_package_is_named(wine: Path, doors: Doors) -> None:
    edit(wine / "reprobridge.yaml", "environment:\n", "environment:\n  apt: [libgomp1, graphviz]\n")
    assert words(wine, doors) == ["environment.apt: graphviz is asked for and not locked"]


def test_an_edited_file_of_the_source_is_named(tmp_path: Path, doors: Doors) -> None:
    folder = Path(shutil.copytree(MINIMAL, tmp_path / "minimal"))
    (folder / "src" / "more.py").write_text("")
    assert words(folder, doors) == ["source: the files below src are not the locked ones"]
    (folder / "src" / "more.py").unlink()
    assert words(folder, doors) == []  # the locked tree is in the store now
    (folder / "src" / "more.py").write_text("")
    assert words(folder, doors) == ["source: more.py (new)"]


def test_a_folder_in_place_of_another_kind_of_source_is_named(tmp_path: Path, doors: Doors) -> None:
    folder = Path(shutil.copytree(MINIMAL, tmp_path / "minimal"))
    lock = read_lock(folder / "reprobridge.lock")
    other = replace(lock.source, kind="git", origin="https://example.org/x", wish=Digest.of(b""))
    assert words(folder, doors, replace(lock, source=other)) == [
        "source: kind path is asked for, git is locked",
        "source: origin src is asked for, https://example.org/x is locked",
    ]


def test_another_patch_is_told_apart_from_another_source(tmp_path: Path, doors: Doors) -> None:
    folder = Path(shutil.copytree(PYGAM, tmp_path / "pygam"))
    (patch, *_) = sorted((folder / "patches").glob("*.patch"))
    patch.write_text(patch.read_text() + "\n")
    (line,) = words(folder, doors)
    assert "a patch of `changes`" in line


def test_another_base_system_is_named(wine: Path, doors: Doors) -> None:
    edit(wine / "reprobridge.yaml", "debian12-py311", "debian13-py313")
    assert words(wine, doors)[0] == "template: debian13-py313 is asked for, debian12-py311 is locked"


@pytest.mark.parametrize(("part", "what"), [("tree", "its folder"), ("base", "its base system")])
def test_a_package_that_was_built_of_something_else_is_named(
    part: str, what: str, wine: Path, doors: Doors
) -> None:
    stale = [Problem(f"platforms.linux/amd64.python.builds.my-solver.{part}", "a", "b")]
    lock = read_lock(wine / "reprobridge.lock")
    assert staleness(stale, read_spec(wine), lock, wine, doors) == [
        f"environment.python: my-solver was built before {what} changed"
    ]


def test_a_new_platform_is_named(wine: Path, doors: Doors) -> None:
    lock = replace(read_lock(wine / "reprobridge.lock"), platforms={})
    assert words(wine, doors, lock) == ["environment.platforms: linux/amd64 is not locked"]


def test_tools_of_another_release_are_named_without_digests() -> None:
    tools = replace(current_tools(), launcher=Digest.of(b""), encoder="another")
    encoder, launcher = tool_changes(tools)
    assert encoder.startswith("tools.encoder: the lock pins another, this release has ")
    assert launcher == "tools.launcher: the lock pins another one than this release has"
    assert tool_changes(current_tools()) == []
