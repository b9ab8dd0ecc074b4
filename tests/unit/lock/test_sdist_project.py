"""How a project says that it is built."""

from pathlib import Path

import pytest

from reprobridge.errors import LockError
from reprobridge.lock.sdist.project import BuildSystem, read_build_system
from reprobridge.store.store import Store
from support.build_rooms import keep_files

LEGACY = BuildSystem(requires=("setuptools >= 40.8.0",), backend="setuptools.build_meta:__legacy__")


def read(folder: Path, pyproject: str, *, subdirectory: str | None = None, **more: str) -> BuildSystem:
    """The build system of a project with this pyproject.toml."""
    store = Store(folder)
    prefix = f"{subdirectory}/" if subdirectory else ""
    files = {f"{prefix}pyproject.toml": pyproject, **more}
    return read_build_system(store, keep_files(store, files), subdirectory, "x 1.0")


def test_everything_is_read(store_folder: Path) -> None:
    text = '[build-system]\nrequires = ["a>=1", "b"]\nbuild-backend = "m:o.p"\nbackend-path = ["./tools/", "."]\n'
    found = read(store_folder, text, **{"tools/m.py": ""})
    assert found == BuildSystem(requires=("a>=1", "b"), backend="m:o.p", backend_path=("tools", "."))


def test_a_project_below_the_top_has_its_own(store_folder: Path) -> None:
    found = read(
        store_folder,
        '[build-system]\nrequires = ["inner"]\n',
        subdirectory="py",
        **{"pyproject.toml": "broken"},
    )
    assert found.requires == ("inner",)


@pytest.mark.parametrize("text", ["", "[project]\nname = 'x'\n"])
def test_a_project_that_says_nothing_is_built_by_setuptools(store_folder: Path, text: str) -> None:
    assert read(store_folder, text) == LEGACY


def test_a_project_of_old_is_built_by_setuptools(store_folder: Path) -> None:
    store = Store(store_folder)
    assert read_build_system(store, keep_files(store, {"setup.py": ""}), None, "x") == LEGACY


def test_what_is_no_project_is_refused_with_what_it_has(store_folder: Path) -> None:
    store = Store(store_folder)
    with pytest.raises(LockError, match="README"):
        read_build_system(store, keep_files(store, {"README": ""}), None, "x")


@pytest.mark.parametrize(
    "text",
    [
        "[build-system",
        "build-system = 3",
        '[build-system]\nrequires = "a"\n',
        "[build-system]\nrequires = [1]\n",
        "[build-system]\nrequires = []\nbuild-backend = 1\n",
        '[build-system]\nrequires = []\nbackend-path = [".."]\n',
        '[build-system]\nrequires = []\nbackend-path = ["/tools"]\n',
        '[build-system]\nrequires = []\nbackend-path = ["absent"]\n',
    ],
)
def test_a_wrong_table_is_refused_with_the_packages_name(store_folder: Path, text: str) -> None:
    with pytest.raises(LockError, match=r"x 1\.0"):
        read(store_folder, text)
