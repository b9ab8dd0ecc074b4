"""Folders for what tests share: gone with the last test that uses them, not with the run, which would fill the disk.

A test's own folder, `tmp_path`, goes with the test when it has passed (`tmp_path_retention_policy`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from reprobridge.system.files import remove_folder


@contextmanager
def passing_folder(factory: pytest.TempPathFactory, name: str) -> Iterator[Path]:
    """An empty folder for the time of a fixture."""
    folder = factory.mktemp(name)
    try:
        yield folder
    finally:
        remove_folder(folder)


@pytest.fixture(scope="module")
def module_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty folder for the time of a module's tests."""
    with passing_folder(tmp_path_factory, "module") as folder:
        yield folder
