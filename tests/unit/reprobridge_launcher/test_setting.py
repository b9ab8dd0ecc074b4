"""What a run records of its environment: distributions by their own metadata, data sets by their own bytes."""

import hashlib
from pathlib import Path

import pytest

from reprobridge_launcher import setting
from reprobridge_launcher.layout import of_root
from reprobridge_launcher.manifest import Data
from reprobridge_launcher.outcome import StopError


def installed(folder: Path) -> list[tuple[str, str]]:
    """What is found beside an interpreter of this environment."""
    return [(item.name, item.version) for item in setting.installed(str(folder / "bin/python"))]


def put(folder: Path, name: str, text: str) -> None:
    """Put a file into an environment's site-packages."""
    path = folder / "lib/python3.11/site-packages" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_the_metadata_decides_and_not_the_name_of_its_folder(tmp_path: Path) -> None:
    put(
        tmp_path,
        "numpy-1.0.dist-info/METADATA",
        "Metadata-Version: 2.1\nName: NumPy\nVersion: 2.1.0\n\nVersion: 9\n",
    )
    assert installed(tmp_path) == [("numpy", "2.1.0")]


def test_names_are_those_of_the_lock(tmp_path: Path) -> None:
    put(tmp_path, "a.dist-info/METADATA", "Name: ruamel.yaml__Clib\nVersion: 0.2\n")
    put(tmp_path, "b.egg-info/PKG-INFO", "Name: Old_Style\r\nVersion: 1.0-rc1\r\n")
    put(tmp_path, "c.egg-info", "Name: single\nVersion: 3\n")
    assert installed(tmp_path) == [("old-style", "1.0-rc1"), ("ruamel-yaml-clib", "0.2"), ("single", "3")]


def test_what_has_no_metadata_is_not_installed(tmp_path: Path) -> None:
    (tmp_path / "lib/python3.11/site-packages/left-1.0.dist-info").mkdir(parents=True)
    put(tmp_path, "half-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: half\n\nVersion: 1.0\n")
    put(tmp_path, "odd-1.0.dist-info/METADATA", "\0\n")
    assert installed(tmp_path) == []
    assert setting.installed(None) == ()


def data(content: bytes) -> Data:
    """A declared data set with these bytes."""
    digest = hashlib.sha256(content).hexdigest()
    return Data(
        id="d", path="d.bin", sha256=digest, size=len(content), delivery="mount", urls=(), license=None
    )


def test_a_data_set_is_recorded_as_it_lies_there(tmp_path: Path) -> None:
    layout = of_root(str(tmp_path / "rra"))
    (tmp_path / "data").mkdir()
    for content, said in (
        (b"", "is missing"),
        (b"other", "has SHA-256 " + hashlib.sha256(b"other").hexdigest()),
    ):
        if content:
            (tmp_path / "data/d.bin").write_bytes(content)
        with pytest.raises(StopError, match=said) as stop:
            setting.data_file(layout, data(b"data"))
        assert stop.value.code == 3
    (tmp_path / "data/d.bin").write_bytes(b"data")
    found = setting.data_file(layout, data(b"data"))
    assert (found.path, found.sha256, found.size) == ("d.bin", hashlib.sha256(b"data").hexdigest(), 4)
