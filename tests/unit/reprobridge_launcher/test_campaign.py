"""Where the evidence of a run goes, and whether it stays there when the container has gone."""

from pathlib import Path

import pytest

from reprobridge_launcher import campaign
from support.launcher_artifact import artifact

MOUNTS = """\
1 0 0:1 / / rw - overlay overlay rw
2 1 0:2 / /proc rw - proc proc rw
3 1 8:1 /srv/runs /out rw - ext4 /dev/sda1 rw
4 1 8:1 /srv/all /my\\040runs rw - ext4 /dev/sda1 rw
5 1 0:3 / /scratch rw - tmpfs tmpfs rw
6 5 8:1 /srv/kept /scratch/kept rw - ext4 /dev/sda1 rw
7 1 8:1 /srv/over /over rw - ext4 /dev/sda1 rw
8 7 0:4 / /over rw - tmpfs tmpfs rw
"""


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/out", True),
        ("/out/deeper/x", True),
        ("/outer", False),
        ("/nonexist/x", False),
        ("/my runs/x", True),
        ("/scratch/x", False),
        ("/scratch/kept/x", True),
        ("/over/x", False),
    ],
)
def test_only_what_lies_below_a_mounted_folder_of_the_host_is_kept(
    tmp_path: Path, path: str, kept: bool
) -> None:
    (tmp_path / "mountinfo").write_text(MOUNTS)
    assert campaign.is_host_folder(path, str(tmp_path / "mountinfo")) == kept


def test_a_folder_for_the_evidence_that_goes_with_the_container_is_told(tmp_path: Path) -> None:
    out = tmp_path / "elsewhere" / "x"
    result = artifact(tmp_path).call("run", "lda", "--out", str(out))
    assert (result.returncode, out.is_dir()) == (0, True)
    told = f"no folder of the host is mounted at {out}, so the evidence goes with the container" in (
        result.stderr
    )
    assert told != campaign.is_host_folder(str(out))
