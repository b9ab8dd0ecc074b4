"""What a freshly built wheel says about itself."""

from pathlib import Path

import pytest

from reprobridge.errors import LockError
from reprobridge.lock.model import LockedFile
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.lock.pypi_uv import Dependencies
from reprobridge.lock.sdist.wheel import differences, read_wheel
from reprobridge.store.store import Store
from support.wheels import WheelSource, build_wheel, simple_wheel
from support.zip_writer import ZipMember, write_zip

TARGET = PythonTarget(version="3.11", architecture="x86_64", glibc=(2, 36), interpreter="/usr/bin/python3.11")


def read(folder: Path, name: str, data: bytes) -> Dependencies:
    """Keep a wheel and read it."""
    store = Store(folder)
    return read_wheel(store, LockedFile(name, store.add(data), len(data)), TARGET, "x 1.0")


def test_requirements_and_extras_are_read(store_folder: Path) -> None:
    text = (
        "Metadata-Version: 2.1\nName: My.Pkg\nVersion: 1.0\nRequires-Python: >=3.8\nProvides-Extra: plot\n"
        "Requires-Dist: a>=1\nRequires-Dist: b; extra == 'plot'\n\nRequires-Dist: no-field\n"
    )
    wheel = build_wheel(WheelSource(name="my_pkg", metadata={"METADATA": text}))
    assert read(store_folder, wheel.filename, wheel.data) == Dependencies(
        name="my-pkg",
        version="1.0",
        requires=("a>=1", "b; extra == 'plot'"),
        requires_python=">=3.8",
        extras=("plot",),
    )


@pytest.mark.parametrize("tag", ["cp311-cp311-linux_x86_64", "cp38-abi3-linux_x86_64", "py2.py3-none-any"])
def test_what_a_build_on_the_target_names_is_taken(store_folder: Path, tag: str) -> None:
    wheel = build_wheel(WheelSource(name="x", tag=tag))
    assert read(store_folder, wheel.filename, wheel.data).name == "x"


@pytest.mark.parametrize("tag", ["cp312-cp312-linux_x86_64", "cp311-cp311-linux_aarch64", "py2-none-any"])
def test_a_wheel_for_another_target_is_refused(store_folder: Path, tag: str) -> None:
    wheel = build_wheel(WheelSource(name="x", tag=tag))
    with pytest.raises(LockError, match=tag):
        read(store_folder, wheel.filename, wheel.data)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x-1.0-py3-none-any.whl", b"no zip"),
        ("x-1.0-py3-none-any.whl", write_zip((ZipMember(name="x.py", data=b""),))),
        ("x.whl", simple_wheel("x").data),
        ("other-1.0-py3-none-any.whl", simple_wheel("x").data),
    ],
)
def test_what_is_no_wheel_of_its_name_is_refused_with_its_place(
    store_folder: Path, name: str, data: bytes
) -> None:
    with pytest.raises(LockError, match=r"x 1\.0"):
        read(store_folder, name, data)


def test_differences_are_named_by_member(store_folder: Path) -> None:
    store = Store(store_folder)
    sources = [{"a.py": "1", "b.py": "1"}, {"a.py": "2", "c.py": "1"}]
    one, other = (build_wheel(WheelSource(name="x", files=files)) for files in sources)
    found = differences(store, store.add(one.data), store.add(other.data))
    assert found == "a.py, b.py, c.py, x-1.0.dist-info/RECORD"


def test_what_is_no_archive_differs_all_the_same(store_folder: Path) -> None:
    store = Store(store_folder)
    assert "no archive" in differences(store, store.add(b"1"), store.add(b"2"))


def test_wheels_that_differ_in_no_member_differ_in_the_archive(store_folder: Path) -> None:
    store = Store(store_folder)
    members = [ZipMember(name="a.py", data=b"1"), ZipMember(name="b.py", data=b"1")]
    one, other = (store.add(write_zip(tuple(order))) for order in (members, members[::-1]))
    assert "archive" in differences(store, one, other)
