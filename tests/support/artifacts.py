"""The artifacts of this repository, and their locked files at hand, so that a test's empty store fills quickly."""

import os
import shutil
from collections.abc import Iterator
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


@pytest.fixture(scope="session")
def vendored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with every locked file of every artifact, fetched once a run and shared by its workers.

    The variable REPROBRIDGE_VENDOR points to it while a test uses it.
    """
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    folder = shared / "vendored"
    with locked(shared / "vendored.lock", exclusive=True):
        if not (folder / "complete").exists():
            for artifact in EVERY.values():
                succeed(reprobridge("vendor", artifact, "--to", folder, store=shared / "vendoring"))
            shutil.rmtree(shared / "vendoring")
            (folder / "complete").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REPROBRIDGE_VENDOR", str(folder))
        yield folder
