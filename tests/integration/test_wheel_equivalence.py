"""Our environment against pip's: the same wheels, installed by pip into a virtual environment elsewhere.

What may differ is the closed list of `allowed`; everything else must be equal: paths, modes, bytes. Who asked for
a package and where it comes from is compared in test_wheel_origins.py.
"""

import csv
import io
import os
import re
import subprocess
import sys
import venv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.converted import convert_file

PIP = "pip==25.3"
"""The installer that we are compared with; it is run from its wheel, and is one of the wheels."""
WHEELS = (
    PIP,  # entry points whose names have a Python version
    "black==25.1.0",  # an entry point with extras, compiled modules at the top
    "ruff==0.12.0",  # a program in .data/scripts
    "ninja==1.13.0",  # likewise, with folders in the archive
    "greenlet==3.2.3",  # headers
    "protobuf==6.31.1",  # the namespace google
    "zope.interface==7.2",  # a dot in the name
    "sphinxcontrib-jsmath==1.0.1",  # -nspkg.pth
    "setuptools==80.9.0",  # distutils-precedence.pth, long paths
    "jmespath==1.0.1",  # #!python in a shipped script
    "jupyterlab-widgets==3.0.15",  # data files below share/ and etc/
    "nvidia-nvtx-cu12==12.8.90",  # a namespace of libraries
    "numpy==2.3.1",  # libraries in folders of their own
    "matplotlib==3.10.3",  # namespace mpl_toolkits, fonts, modules
    "jedi==0.19.2",  # thousands of files, paths over 100 bytes
    "tzdata==2025.2",  # data files that look like modules
)
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
ALLOWED = re.compile(r"[^/]+\.dist-info/(INSTALLER|REQUESTED|direct_url\.json|RECORD)")

pytestmark = [pytest.mark.network, pytest.mark.slow]


@dataclass(frozen=True)
class Installed:
    """A file below the environment."""

    mode: int
    data: bytes


@pytest.fixture(scope="module")
def wheels(module_folder: Path) -> list[Path]:
    """The wheels, fetched by pip with the user's own settings."""
    folder = module_folder / "wheels"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    subprocess.run([*command, "--dest", str(folder), *WHEELS], check=True)
    found = sorted(folder.glob("*.whl"))
    assert len(found) == len(WHEELS)
    return found


@pytest.fixture(scope="module")
def by_pip(wheels: list[Path], module_folder: Path) -> dict[str, Installed]:
    """What pip installs, by path below the environment."""
    prefix = module_folder / "pip" / "env"
    venv.create(prefix, with_pip=False, symlinks=True)
    before = set(files_of(prefix))
    pip = next(path for path in wheels if path.name.startswith("pip-"))
    command = [f"{prefix}/bin/python", f"{pip}/pip", "install", "--quiet", "--no-deps", "--no-compile"]
    environment = {"PATH": os.environ["PATH"], "PIP_CONFIG_FILE": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([*command, "--no-index", *map(str, wheels)], check=True, env=environment)
    interpreter = f"#!{prefix}/bin/python{PYTHON}\n".encode(), f"#!{prefix}/bin/python\n".encode()
    return {
        path: Installed(file.mode, with_our_interpreter(path, file.data, interpreter))
        for path, file in files_of(prefix).items()
        if path not in before
    }


@pytest.fixture(scope="module")
def by_us(wheels: list[Path]) -> dict[str, Installed]:
    """What our fragments hold, by path below the environment."""
    found: dict[str, Installed] = {}
    for wheel in wheels:
        for path, file in convert_file(wheel, python=PYTHON).files.items():
            assert path.startswith("opt/env/")
            found[path.removeprefix("opt/env/")] = Installed(file.mode, file.data)
    return found


def files_of(folder: Path) -> dict[str, Installed]:
    """Every regular file below a folder; links and folders are the environment's own."""
    return {
        path.relative_to(folder).as_posix(): Installed(path.stat().st_mode & 0o7777, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and "lib64" not in path.parts
    }


def with_our_interpreter(path: str, data: bytes, interpreters: tuple[bytes, ...]) -> bytes:
    """A script as it would be at our prefix."""
    for interpreter in interpreters:
        if path.startswith("bin/") and data.startswith(interpreter):
            return b"#!/opt/env/bin/python\n" + data.removeprefix(interpreter)
    return data


def allowed(path: str) -> bool:
    """Files that may differ, or be on one side only: these four of each package, not of what it vendors."""
    return ALLOWED.fullmatch(path.removeprefix(f"lib/python{PYTHON}/site-packages/")) is not None


def rows(record: bytes) -> dict[str, tuple[str, str]]:
    """RECORD's hash and size by path, without the rows of what may differ."""
    found = {row[0]: (row[1], row[2]) for row in csv.reader(io.StringIO(record.decode()))}
    return {
        path: value
        for path, value in found.items()
        if not allowed(path) and not path.startswith("../../../bin/")
    }


def without_allowed(files: Mapping[str, Installed]) -> dict[str, Installed]:
    """What must be equal."""
    return {path: file for path, file in files.items() if not allowed(path)}


def test_the_paths_are_the_same(by_us: dict[str, Installed], by_pip: dict[str, Installed]) -> None:
    assert sorted(without_allowed(by_us)) == sorted(without_allowed(by_pip))
    assert len(by_us) > 5000


def test_the_modes_are_the_same(by_us: dict[str, Installed], by_pip: dict[str, Installed]) -> None:
    modes = {path: oct(file.mode) for path, file in without_allowed(by_pip).items()}
    assert {path: oct(file.mode) for path, file in without_allowed(by_us).items()} == modes


def test_the_bytes_are_the_same(by_us: dict[str, Installed], by_pip: dict[str, Installed]) -> None:
    assert [path for path, file in without_allowed(by_pip).items() if by_us[path].data != file.data] == []


def test_record_is_the_same(by_us: dict[str, Installed], by_pip: dict[str, Installed]) -> None:
    records = [path for path in by_pip if allowed(path) and path.endswith("/RECORD")]
    assert len(records) == len(WHEELS)
    for path in records:
        assert rows(by_us[path].data) == rows(by_pip[path].data)


def test_what_differs_is_there(by_us: dict[str, Installed]) -> None:
    ours = sorted({path.rpartition("/")[2] for path in by_us if allowed(path)})
    assert ours == ["INSTALLER", "RECORD"]
