"""The fixture of these tests: an artifact to be changed in one place and read again."""

from pathlib import Path

import pytest

from support.artifact_on_disk import FILES, ArtifactOnDisk


@pytest.fixture
def artifact(tmp_path: Path) -> ArtifactOnDisk:
    """A valid artifact with every key of the format."""
    made = ArtifactOnDisk(tmp_path / "artifact")
    for name, data in FILES.items():
        made.write(name, data)
    return made
