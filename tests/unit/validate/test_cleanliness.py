"""What must not be in an image is counted where it is told."""

from pathlib import Path

import pytest

from reprobridge.sandbox.bubblewrap import BubblewrapSandbox
from reprobridge.store.store import Store
from reprobridge.system.processes import RealProcesses
from reprobridge.validate.checks.cleanliness import check_history
from reprobridge.validate.shell import CleanShell
from reprobridge.validate.subject import open_subject
from support.artifact_image import RUN, ArtifactImage


@pytest.mark.parametrize(("names", "told"), [(["HEAD"], "1 path"), (["HEAD", "config"], "2 paths")])
def test_a_folder_of_version_control_is_told_with_the_number_of_its_files(
    names: list[str], told: str, tmp_path: Path
) -> None:
    store = Store(tmp_path / "store")
    image = ArtifactImage(code={"run.py": RUN, **{f".git/{name}": "x" for name in names}})
    sandbox = BubblewrapSandbox(store, RealProcesses(), as_root=False)
    finding = check_history(CleanShell(open_subject(image.build(store), store), sandbox))
    assert finding.evidence == (f"/rra/code/.git: {told}",)
