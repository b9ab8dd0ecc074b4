"""What `check` finds in an image and on a machine."""

import hashlib
import os
from pathlib import Path

import pytest

from reprobridge_launcher import checks, hardware, inventory
from reprobridge_launcher.finding import Finding
from reprobridge_launcher.layout import of_root
from reprobridge_launcher.manifest import parse
from support.launcher_artifact import Artifact, manifest, task


def findings(artifact: Artifact, **changes: object) -> dict[str, Finding]:
    made = parse(manifest(**changes))
    return {finding.id: finding for finding in checks.all_checks(of_root(str(artifact.root)), made)}


@pytest.fixture
def artifact(tmp_path: Path) -> Artifact:
    return Artifact(tmp_path).write(files={"run.py": "print(1)\n", "lib/a.py": "x = 1\n"})


def test_a_whole_image_passes(artifact: Artifact) -> None:
    assert {f.verdict for f in findings(artifact).values()} <= {"passed", "warning"}
    assert findings(artifact)["code"].detail == "2 files are as built"


class TestIntegrity:
    def broken(self, artifact: Artifact) -> str:
        finding = findings(artifact)["code"]
        assert (finding.verdict, finding.code) == ("failed", 7)
        assert finding.remedy
        return finding.detail

    def test_a_changed_file_is_named(self, artifact: Artifact) -> None:
        (artifact.root / "code/run.py").write_text("print(2)\n")
        assert "changed /rra/code/run.py" in self.broken(artifact)

    def test_a_changed_mode_is_named(self, artifact: Artifact) -> None:
        (artifact.root / "code/run.py").chmod(0o600)
        assert "changed mode of /rra/code/run.py" in self.broken(artifact)

    def test_a_missing_file_is_named(self, artifact: Artifact) -> None:
        (artifact.root / "code/lib/a.py").unlink()
        assert "missing /rra/code/lib/a.py" in self.broken(artifact)

    def test_an_unexpected_file_is_named(self, artifact: Artifact) -> None:
        (artifact.root / "code/lib/sitecustomize.py").write_text("")
        assert "unexpected /rra/code/lib/sitecustomize.py" in self.broken(artifact)

    def test_a_file_that_became_a_link_is_named(self, artifact: Artifact) -> None:
        path = artifact.root / "code/run.py"
        path.rename(artifact.folder / "elsewhere.py")
        path.symlink_to(artifact.folder / "elsewhere.py")
        assert "changed link /rra/code/run.py" in self.broken(artifact)

    def test_a_stray_file_in_an_environment_that_is_not_listed_is_named(self, artifact: Artifact) -> None:
        stray = artifact.folder / "opt/env/lib/x.pth"
        stray.parent.mkdir(parents=True)
        stray.write_text("import os")
        assert "unexpected /opt/env/lib/x.pth" in findings(artifact)["environment"].detail

    def test_a_missing_or_broken_inventory_fails(self, artifact: Artifact) -> None:
        (artifact.root / "inventory.txt").write_text("nonsense")
        assert findings(artifact)["inventory"].code == 7
        (artifact.root / "inventory.txt").unlink()
        assert findings(artifact)["inventory"].code == 7
        assert findings(artifact, integrity=None)["inventory"].code == 7

    def test_an_inventory_without_the_code_or_the_environment_fails(self, artifact: Artifact) -> None:
        (artifact.root / "inventory.txt").write_text(inventory.write([]))
        assert "/rra/code/" in findings(artifact)["inventory"].detail
        environment = {"python": "/opt/env/bin/python", "variables": {}, "locks": {}}
        assert "/opt/env/" in findings(artifact, environment=environment)["inventory"].detail


class TestDataAndHardware:
    def test_data_must_be_there_with_its_digest(self, artifact: Artifact) -> None:
        digest = hashlib.sha256(b"data").hexdigest()
        entry = {"id": "d", "path": "d.bin", "sha256": digest, "size": 4, "delivery": "mount"}
        finding = findings(artifact, data=[entry])["data d"]
        assert (finding.code, "missing" in finding.detail) == (3, True)
        assert "docker run -v FILE:" in str(finding.remedy)
        (artifact.folder / "data/d.bin").write_bytes(b"other")
        assert "expected " + digest in findings(artifact, data=[entry])["data d"].detail
        (artifact.folder / "data/d.bin").write_bytes(b"data")
        assert findings(artifact, data=[entry])["data d"].verdict == "passed"

    def test_too_little_memory_or_disk_is_told_with_a_remedy(self, artifact: Artifact) -> None:
        huge = task(resources={"gpus": 0, "memory": 1 << 60, "disk": 1 << 60})
        found = findings(artifact, tasks=[huge])
        assert [found[name].code for name in ("memory", "disk")] == [4, 4]
        assert "docker run" in str(found["disk"].remedy)

    def test_a_gpu_that_is_not_there_is_told_with_the_line_that_helps(self, artifact: Artifact) -> None:
        wanted = len(hardware.gpus()) + 1
        found = findings(artifact, tasks=[task(resources={"gpus": wanted})])["gpu"]
        assert (found.verdict, found.code) == ("failed", 4)
        assert "--gpus all" in str(found.remedy)

    def test_versions_are_compared_by_number(self) -> None:
        assert hardware.version_key("550.54.15") > hardware.version_key("550.9")
        assert hardware.version_key("12.4") < hardware.version_key("13")

    @pytest.mark.parametrize(
        ("limit", "cores"),
        [
            ("", 8),
            ("max 100000\n", 8),
            ("150000 100000\n", 2),
            ("900000 100000", 8),
            ("5000 100000", 1),
            ("1 0", 8),
        ],
    )
    def test_cores_are_cut_at_the_containers_quota(self, limit: str, cores: int) -> None:
        assert hardware.cut(8, limit) == cores

    def test_the_machine_is_described(self) -> None:
        found = hardware.read()
        assert 1 <= found.cpus <= len(os.sched_getaffinity(0))
        assert found.memory > 1 << 20
        assert found.machine == os.uname().machine
