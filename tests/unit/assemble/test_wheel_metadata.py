"""What a wheel says about itself: what pip refuses is refused, what pip warns of is a warning."""

from pathlib import Path

import pytest

from reprobridge.assemble.wheel.archive import open_wheel
from reprobridge.assemble.wheel.metadata import EntryPoint, WheelMetadata, read_metadata
from reprobridge.errors import ArtifactError
from support.converted import convert_wheel
from support.wheels import Wheel, WheelSource, build_wheel, simple_wheel
from support.zip_writer import ZipMember

HEAD = "Metadata-Version: 2.1\n"


def read(wheel: Wheel, folder: Path) -> WheelMetadata:
    """The dist-info of a wheel."""
    with open_wheel(wheel.write(folder), wheel.filename) as archive:
        return read_metadata(archive)


def with_file(name: str, content: str | bytes) -> Wheel:
    """A wheel whose dist-info has this file."""
    return build_wheel(WheelSource(name="meta", metadata={name: content}))


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("WHEEL", "Wheel-Version: 2.0\n", "2.0"),
        ("WHEEL", "Wheel-Version: one\n", "one"),
        ("WHEEL", "Root-Is-Purelib: true\n", "''"),
        ("METADATA", f"{HEAD}Name: other\nVersion: 1.0\n", "other"),
        ("METADATA", f"{HEAD}Name: meta\nVersion: 2.0\n", "2.0"),
        ("METADATA", f"{HEAD}Name: meta\nVersion: nonsense\n", "nonsense"),
        ("METADATA", f"{HEAD}Version: 1.0\n", "''"),
        ("METADATA", f"{HEAD}Name: ../meta\nVersion: 1.0\n", "../meta"),
        ("METADATA", b"Name: \xff\n", "decode"),
        ("entry_points.txt", "[console_scripts]\nx = meta\n", "x = meta"),
        ("entry_points.txt", "[console_scripts]\nx = import os; os:x\n", "import os"),
        ("entry_points.txt", "[console_scripts]\n../x = meta:main\n", "../x"),
        ("entry_points.txt", "[gui_scripts]\n.. = meta:main\n", ".."),
        ("entry_points.txt", "[gui_scripts]\n.wh.x = meta:main\n", ".wh.x"),
    ],
)
def test_what_pip_refuses_is_refused(name: str, content: str | bytes, found: str, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError) as caught:
        read(with_file(name, content), tmp_path)
    assert caught.value.where == f"meta-1.0-py3-none-any.whl: 'meta-1.0.dist-info/{name}'"
    assert found in str(caught.value.found)


def test_a_newer_minor_version_of_the_format_is_a_warning(tmp_path: Path) -> None:
    facts = convert_wheel(with_file("WHEEL", "Wheel-Version: 1.9\n"), tmp_path).facts
    assert len(facts.warnings) == 1
    assert "1.9" in facts.warnings[0]


@pytest.mark.parametrize("missing", ["WHEEL", "METADATA", "RECORD"])
def test_a_wheel_without_its_metadata_is_refused(missing: str, tmp_path: Path) -> None:
    source = simple_wheel("meta")
    renamed = source.data.replace(f"dist-info/{missing}".encode(), f"dist-info/{missing[:-1]}_".encode())
    with pytest.raises(ArtifactError, match="this file"):
        convert_wheel(Wheel(filename=source.filename, data=renamed, metadata=""), tmp_path)


def test_two_dist_info_folders_are_refused(tmp_path: Path) -> None:
    source = WheelSource(name="meta", files={"meta-2.0.dist-info/METADATA": ""})
    with pytest.raises(ArtifactError, match=r"one \.dist-info folder"):
        read(build_wheel(source), tmp_path)


@pytest.mark.parametrize(
    "name", ["other-1.0-py3-none-any.whl", "meta-1.0.zip", "meta-1.0-any.whl", "m-2-3-4-5-6-7.whl"]
)
def test_a_file_name_that_does_not_fit_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError):
        read(Wheel(filename=name, data=simple_wheel("meta").data, metadata=""), tmp_path)


def test_names_and_versions_are_compared_normalised(tmp_path: Path) -> None:
    source = WheelSource(
        name="Meta.Data",
        version="1.0+cpu",
        metadata={"METADATA": f"{HEAD}Name: meta-data\nVersion: 1.0.0+CPU\n"},
    )
    found = read(build_wheel(source), tmp_path)
    assert (found.name, found.version) == ("meta-data", "1.0.0+CPU")


def test_entry_points_are_read_as_installers_read_them(tmp_path: Path) -> None:
    text = (
        "# comment\r\n; another\r\n[console_scripts]\r\n\r\n  b-tool = pkg.mod : Class.run [x, y]\r\n"
        "a=pkg:main\r\n[other]\r\nc = not a function\r\n[gui_scripts]\r\nd = pkg:show\r\n"
    )
    found = read(with_file("entry_points.txt", text), tmp_path)
    assert found.console == (
        EntryPoint(name="a", module="pkg", attribute="main"),
        EntryPoint(name="b-tool", module="pkg.mod", attribute="Class.run"),
    )
    assert [point.name for point in found.gui] == ["d"]


def test_fields_of_several_lines_are_joined_and_the_body_is_left_out(tmp_path: Path) -> None:
    text = f"{HEAD}Name: meta\nVersion: 1.0\nLicense: first\n  second\nSummary: s\n\nName: body\n"
    found = read(with_file("METADATA", text), tmp_path)
    assert found.one("license") == "first\nsecond"
    assert found.headers["name"] == ("meta",)
    assert found.one("author") is None


@pytest.mark.parametrize(
    ("name", "shipped", "written"),
    [
        ("pip", ["pip", "pip3", "pip3.6"], {"pip", "pip3", "pip3.11"}),
        ("pip", ["pipx", "pip"], {"pip", "pip3", "pip3.11", "pipx"}),
        ("setuptools", ["easy_install", "easy_install-2.7"], {"easy_install", "easy_install-3.11"}),
        ("other", ["pip3.6", "easy_install-2.7"], {"pip3.6", "easy_install-2.7"}),
    ],
)
def test_scripts_with_a_python_version_in_their_names_are_put_right(
    name: str, shipped: list[str], written: set[str], tmp_path: Path
) -> None:
    lines = "".join(f"{script} = {name}:main\n" for script in shipped)
    source = WheelSource(name=name, metadata={"entry_points.txt": f"[console_scripts]\n{lines}"})
    files = convert_wheel(build_wheel(source), tmp_path).files
    assert {path.rpartition("/")[2] for path in files if path.startswith("opt/env/bin/")} == written


def test_the_folder_of_headers_cannot_leave_the_prefix(tmp_path: Path) -> None:
    source = WheelSource(
        name="meta",
        data={"headers/x.h": ZipMember(name="", data=b"x")},
        metadata={"METADATA": f"{HEAD}Name: meta/../../x\nVersion: 1.0\n"},
    )
    with pytest.raises(ArtifactError, match="Name: meta"):
        convert_wheel(build_wheel(source), tmp_path)
