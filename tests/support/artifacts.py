"""The artifacts of this repository, and their locked files at hand, so that a test's empty store fills quickly."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reprobridge.system.files import locked
from support.command import ROOT, reprobridge, succeed

WINE = ROOT / "examples" / "wine-classifiers"
"""The worked paper."""
PYGAM = ROOT / "tests" / "artifacts" / "pygam-wage"
"""A published sdist with patches."""
MINIMAL = ROOT / "tests" / "artifacts" / "minimal"
"""The smallest artifact: no Python packages."""
EVERY = {path.name: path for path in (WINE, PYGAM, MINIMAL)}
"""All of them by folder name."""


def golden_digest(artifact: Path) -> str:
    """The image digest that is committed beside an artifact."""
    return (artifact / "image.digest").read_text().strip()


def copy_of(artifact: Path, folder: Path) -> Path:
    """The artifact in another place."""
    return Path(shutil.copytree(artifact, folder / artifact.name))


@contextmanager
def _made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Iterator[Path]:
    """A folder that is filled once a run and shared by its workers."""
    shared = factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    with locked(shared / f"{name}.lock", exclusive=True):
        if not (shared / f"{name}.complete").exists():
            make(shared / name)
            (shared / f"{name}.complete").touch()
    yield shared / name


def _vendor(folder: Path) -> None:
    store = folder.with_name("vendoring")
    for artifact in EVERY.values():
        succeed(reprobridge("vendor", artifact, "--to", folder, store=store))
    shutil.rmtree(store)


@pytest.fixture(scope="session")
def vendored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with every locked file of every artifact.

    The variable REPROBRIDGE_VENDOR points to it while a test uses it.
    """
    with _made_once(tmp_path_factory, "vendored", _vendor) as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPROBRIDGE_VENDOR", str(folder))
        yield folder


@pytest.fixture
def built_store(vendored: Path, tmp_path_factory: pytest.TempPathFactory, store_folder: Path) -> Path:
    """A store of the test's own in which the smallest artifact has just been built; nothing is unpacked yet."""
    assert vendored.is_dir()

    def build(folder: Path) -> None:
        succeed(reprobridge("build", MINIMAL, store=folder))

    with _made_once(tmp_path_factory, "built", build) as made:
        shutil.copytree(made, store_folder, copy_function=os.link)
    (store_folder / "lock").unlink()  # which is nobody else's
    return store_folder
