"""What is published is whole: sdist and wheel hold code and data, and a fresh environment can use them."""

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import reprobridge
from support.artifacts import MINIMAL, golden_digest
from support.interpreters import interpreter
from support.source_tree import ROOT, own_files

DATA_FOLDERS = ("image-templates", "lockfiles")


@pytest.fixture(scope="module")
def distributions(module_folder: Path) -> Path:
    """A folder with the sdist and the wheel that was built from it."""
    command = [sys.executable, "-m", "build", "--no-isolation", f"--outdir={module_folder}", str(ROOT)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return module_folder


def own_paths(folder: str) -> set[str]:
    """Every file of ours below a folder, as a path below that folder."""
    return {
        path.relative_to(ROOT / folder).as_posix() for path in own_files() if ROOT / folder in path.parents
    }


def test_the_release_is_the_same_in_code_and_metadata() -> None:
    metadata = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert metadata["project"]["version"] == reprobridge.RELEASE


def test_the_changelog_speaks_of_this_release() -> None:
    assert f"## {reprobridge.RELEASE}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.slow
class TestDistributions:
    def test_the_wheel_holds_all_code_and_data_and_nothing_else(self, distributions: Path) -> None:
        (wheel,) = distributions.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            held = {name for name in archive.namelist() if ".dist-info/" not in name}
        data = {f"reprobridge/_data/{folder}/{path}" for folder in DATA_FOLDERS for path in own_paths(folder)}
        assert held == own_paths("builder") | data

    @pytest.mark.parametrize(
        "folder", ["builder", "image-templates", "lockfiles", "tests", "examples", "guides"]
    )
    def test_the_sdist_holds_every_file(self, distributions: Path, folder: str) -> None:
        (sdist,) = distributions.glob("*.tar.gz")
        with tarfile.open(sdist) as archive:
            held = {name.partition("/")[2] for name in archive.getnames()}
        assert {f"{folder}/{path}" for path in own_paths(folder)} <= held

    @pytest.mark.network
    @pytest.mark.usefixtures("vendored")
    @pytest.mark.parametrize("minor", [11, 13])
    def test_the_installed_wheel_begins_an_artifact_and_builds_the_committed_digest(
        self, distributions: Path, minor: int, tmp_path: Path
    ) -> None:
        python = interpreter(minor)
        (wheel,) = distributions.glob("*.whl")
        uv = str(Path(sys.executable).with_name("uv"))
        environment = tmp_path / "env"
        subprocess.run([uv, "venv", "--quiet", "--python", str(python), str(environment)], check=True)
        subprocess.run([uv, "pip", "install", "--quiet", f"--python={environment}", str(wheel)], check=True)
        (tmp_path / "work").mkdir()

        def installed(*words: str) -> str:
            clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
            command = [str(environment / "bin/reprobridge"), *words, "--store", str(tmp_path / "store")]
            done = subprocess.run(
                command, cwd=tmp_path / "work", env=clean, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        installed("init", "my-paper")
        assert (tmp_path / "work/my-paper/reprobridge.yaml").is_file()
        assert golden_digest(MINIMAL) in installed("build", str(MINIMAL))
