"""An empty folder for a store of a test's own."""

from pathlib import Path

import pytest


@pytest.fixture
def store_folder(tmp_path: Path) -> Path:
    """A folder that doesn't exist yet: a store creates itself, with the modes that it wants."""
    return tmp_path / "store"
