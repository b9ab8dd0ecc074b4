"""Converting wheels: the same files as pip's, at fixed places, with everything that an installer adds."""

import csv
import gzip
import hashlib
import io
import random
import stat
from base64 import urlsafe_b64encode
from pathlib import Path
from posixpath import relpath

import pytest

from reprobridge.assemble.fragment import LONG
from reprobridge.errors import ArtifactError
from support.converted import Result, convert_beside_a_helper, convert_file, convert_wheel
from support.hostile_wheels import dubious_wheels, hostile_wheels
from support.typical_wheels import typical_wheels
from support.wheels import WheelSource, build_wheel, executable, simple_wheel
from support.zip_writer import Method, ZipMember

SITE = "opt/env/lib/python3.11/site-packages"
TYPICAL = typical_wheels()


def rows(result: Result, info: str) -> dict[str, tuple[str, str]]:
    """RECORD's hash and size by path."""
    text = result.files[f"{SITE}/{info}.dist-info/RECORD"].data.decode()
    return {row[0]: (row[1], row[2]) for row in csv.reader(io.StringIO(text))}


def encoded(data: bytes) -> str:
    """A digest as RECORD has it."""
    return urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


@pytest.mark.parametrize("kind", TYPICAL)
def test_record_is_true_of_everything_that_is_installed(kind: str, tmp_path: Path) -> None:
    result = convert_wheel(TYPICAL[kind], tmp_path)
    info = next(path for path in result.files if path.endswith(".dist-info/RECORD")).split("/")[-2]
    expected = {
        relpath(path, SITE): (f"sha256={encoded(file.data)}", str(len(file.data)))
        for path, file in result.files.items()
    }
    expected[f"{info}/RECORD"] = ("", "")
    assert rows(result, info.removesuffix(".dist-info")) == expected


@pytest.mark.parametrize("kind", TYPICAL)
def test_streams_index_and_facts_agree(kind: str, tmp_path: Path) -> None:
    result = convert_wheel(TYPICAL[kind], tmp_path)
    assert gzip.decompress(result.gzip) == result.tar
    assert {entry.path: (entry.mode, entry.content) for entry in result.entries} == {
        path: (file.mode, hashlib.sha256(file.data).hexdigest()) for path, file in result.files.items()
    }
    assert result.facts.warnings == ()
    assert result.facts.record_warnings == ()


def test_files_come_in_the_order_of_their_paths_and_generated_ones_last(tmp_path: Path) -> None:
    paths = list(convert_wheel(TYPICAL["entry-points"], tmp_path).files)
    info = f"{SITE}/entry_points-1.0.dist-info"
    generated = [
        "opt/env/bin/enter",
        "opt/env/bin/enter-gui",
        "opt/env/bin/extra",
        f"{info}/INSTALLER",
        f"{info}/RECORD",
    ]
    assert paths[-5:] == generated
    assert paths[:-5] == sorted(paths[:-5])


def test_names_beyond_ascii_come_in_the_order_of_their_bytes(tmp_path: Path) -> None:
    names = ["z.py", "\u00e9.py", "\ud7ff.py", "\ufffd.py", "\U0001f600.py", "~.py"]
    wheel = build_wheel(WheelSource(name="named", files=dict.fromkeys(names, "1")))
    found = [path.encode() for path in convert_wheel(wheel, tmp_path).files if path.endswith(".py")]
    assert found == sorted(found)
    assert len(found) == len(names)


def test_a_thread_beside_the_conversion_changes_nothing(tmp_path: Path) -> None:
    files = {f"m{number}.so": random.Random(number).randbytes(LONG + number) for number in range(5)}
    source = WheelSource(name="large", files={**files, "small.py": "1", "zeros.bin": bytes(LONG * 2)})
    path = build_wheel(source).write(tmp_path)
    alone, helped = convert_file(path), convert_beside_a_helper(path)
    assert (helped.tar, helped.gzip, helped.facts) == (alone.tar, alone.gzip, alone.facts)
    assert sorted(helped.entries) == sorted(alone.entries)


def test_the_order_of_the_archive_does_not_matter(tmp_path: Path) -> None:
    files = {"a/x.py": "1", "b.py": "2", "a/__init__.py": "3"}
    outputs = set()
    for number, order in enumerate((list(files), sorted(files), sorted(files, reverse=True))):
        (tmp_path / str(number)).mkdir()
        wheel = build_wheel(WheelSource(name="order", files={name: files[name] for name in order}))
        outputs.add(convert_wheel(wheel, tmp_path / str(number)).gzip)
    assert len(outputs) == 1


def test_schemes_are_mapped_as_pip_does_in_a_virtual_environment(tmp_path: Path) -> None:
    files = convert_wheel(TYPICAL["data-and-headers"], tmp_path).files
    assert {path: file.data for path, file in files.items() if ".dist-info/" not in path} == {
        "opt/env/share/data_headers/table.csv": b"1,2\n",
        "opt/env/etc/data_headers.conf": b"x = 1\n",
        "opt/env/include/site/python3.11/Data-Headers/data_headers.h": b"#define X 1\n",
        f"{SITE}/in_purelib.py": b"x = 1\n",
        f"{SITE}/in_platlib.py": b"x = 2\n",
    }


def test_shipped_scripts_run_with_the_environment_and_others_stay_as_they_are(tmp_path: Path) -> None:
    files = convert_wheel(TYPICAL["scripts"], tmp_path).files
    rewritten = b"#!/opt/env/bin/python\nimport scripts\nscripts.main()\n"
    assert files["opt/env/bin/rewritten"].data == rewritten
    assert files["opt/env/bin/windowed"].data == rewritten
    assert files["opt/env/bin/shell.sh"].data == b"#!/bin/sh\necho shell\n"
    assert {file.mode for path, file in files.items() if path.startswith("opt/env/bin/")} == {0o755}


def test_entry_points_get_scripts_and_their_extras_are_dropped(tmp_path: Path) -> None:
    result = convert_wheel(TYPICAL["entry-points"], tmp_path)
    script = result.files["opt/env/bin/extra"]
    assert script.mode == 0o755
    assert script.data.startswith(b"#!/opt/env/bin/python\n")
    assert b"from entry import Group\n" in script.data
    assert b"sys.exit(Group.main())\n" in script.data
    assert {"opt/env/bin/enter", "opt/env/bin/enter-gui"} < set(result.files)


@pytest.mark.parametrize("name", ["tool", "tool.exe", "tool-script.py", "TOOL-script.py"])
def test_a_shipped_wrapper_of_an_entry_point_is_left_out(name: str, tmp_path: Path) -> None:
    source = WheelSource(
        name="wrapped",
        files={"wrapped.py": "def main(): pass\n"},
        data={
            f"scripts/{name}": executable("#!python\nold\n"),
            "scripts/other": executable("#!python\nkept\n"),
        },
        metadata={"entry_points.txt": f"[console_scripts]\n{name[:4]} = wrapped:main\n"},
    )
    files = convert_wheel(build_wheel(source), tmp_path).files
    scripts = {path: file.data for path, file in files.items() if path.startswith("opt/env/bin/")}
    assert scripts.keys() == {f"opt/env/bin/{name[:4]}", "opt/env/bin/other"}
    assert b"old" not in scripts[f"opt/env/bin/{name[:4]}"]


def test_modes_follow_pip(tmp_path: Path) -> None:
    files = convert_wheel(TYPICAL["modes"], tmp_path).files
    assert {path.rpartition("/")[2]: file.mode for path, file in files.items() if "/modes/" in path} == {
        "run.sh": 0o755,
        "private.txt": 0o644,
        "setuid.txt": 0o755,
        "untyped.sh": 0o644,
        "modeless.txt": 0o644,
    }


def test_a_symbolic_link_becomes_a_file_with_its_text(tmp_path: Path) -> None:
    files = convert_wheel(hostile_wheels()["symlink"], tmp_path).files
    assert (files[f"{SITE}/bad/link"].data, files[f"{SITE}/bad/link"].mode) == (b"/etc/passwd", 0o644)


def test_compiled_files_and_path_files_are_kept(tmp_path: Path) -> None:
    cache = "kept/__pycache__/x.cpython-311.pyc"
    source = WheelSource(name="kept", files={cache: b"\0\0", "kept.pth": "import kept\n", "kept/x.py": ""})
    files = convert_wheel(build_wheel(source), tmp_path).files
    assert files[f"{SITE}/{cache}"].data == b"\0\0"
    assert files[f"{SITE}/kept.pth"].data == b"import kept\n"


def test_stored_members_are_checked_and_compressed(tmp_path: Path) -> None:
    data = b"abc" * 100_000
    member = ZipMember(name="", data=data, method=Method.STORED)
    result = convert_wheel(build_wheel(WheelSource(name="stored", files={"big.txt": member})), tmp_path)
    assert result.files[f"{SITE}/big.txt"].data == data
    assert len(result.gzip) < 5000


def test_a_stored_member_with_a_wrong_crc_is_refused(tmp_path: Path) -> None:
    member = ZipMember(name="", data=b"abc", method=Method.STORED, crc=1)
    with pytest.raises(ArtifactError, match="CRC"):
        convert_wheel(build_wheel(WheelSource(name="stored", files={"x.txt": member})), tmp_path)


def test_the_installer_is_named_and_nobody_is_said_to_have_asked(tmp_path: Path) -> None:
    source = WheelSource(
        name="asked", files={"asked.py": ""}, metadata={"INSTALLER": "somebody\n", "direct_url.json": "{}"}
    )
    files = convert_wheel(build_wheel(source), tmp_path).files
    assert files[f"{SITE}/asked-1.0.dist-info/INSTALLER"].data == b"reprobridge\n"
    assert f"{SITE}/asked-1.0.dist-info/REQUESTED" not in files


def test_a_direct_reference_is_recorded(tmp_path: Path) -> None:
    result = convert_wheel(simple_wheel("direct"), tmp_path, origin='{"url": "https://example.org"}')
    path = "direct-1.0.dist-info/direct_url.json"
    assert result.files[f"{SITE}/{path}"].data == b'{"url": "https://example.org"}'
    assert path in rows(result, "direct-1.0")


def test_omitted_paths_stand_neither_in_the_layer_nor_in_record(tmp_path: Path) -> None:
    omit = [f"{SITE}/entry.py", "opt/env/bin/enter"]
    result = convert_wheel(TYPICAL["entry-points"], tmp_path, omit=omit)
    assert not set(omit) & set(result.files)
    listed = rows(result, "entry_points-1.0")
    assert "entry.py" not in listed
    assert "../../../bin/enter" not in listed
    assert "../../../bin/extra" in listed
    assert result.facts.record_warnings == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"files": {"same.py": "1"}}, {"data": {"purelib/same.py": "1"}}),
        ({"files": {"same": "1"}}, {"data": {"platlib/same/x": "1"}}),
        ({"data": {"data/bin/tool": "1"}}, {"data": {"scripts/tool": "1"}}),
    ],
)
def test_two_members_for_one_path_are_refused(
    first: dict[str, dict[str, str]], second: dict[str, dict[str, str]], tmp_path: Path
) -> None:
    wheel = build_wheel(
        WheelSource(
            name="clash",
            files=first.get("files", {}),
            data={**first.get("data", {}), **second["data"]},
        )
    )
    with pytest.raises(ArtifactError) as caught:
        convert_wheel(wheel, tmp_path)
    assert "clash-1.0-py3-none-any.whl" in str(caught.value)


def test_a_data_file_that_is_also_a_generated_script_gives_way_to_it(tmp_path: Path) -> None:
    source = WheelSource(
        name="both",
        files={"both.py": "def main(): pass\n"},
        data={"data/bin/tool": "data"},
        metadata={"entry_points.txt": "[console_scripts]\ntool = both:main\n"},
    )
    files = convert_wheel(build_wheel(source), tmp_path).files
    assert files["opt/env/bin/tool"].data.startswith(b"#!/opt/env/bin/python\n")


@pytest.mark.parametrize("kind", dubious_wheels())
def test_a_record_that_is_wrong_is_a_warning_and_written_right(kind: str, tmp_path: Path) -> None:
    result = convert_wheel(dubious_wheels()[kind], tmp_path)
    assert len(result.facts.record_warnings) == 1
    assert result.facts.record_warnings[0].startswith("bad/__init__.py: ")
    assert rows(result, "bad-1.0")["bad/__init__.py"] == ("sha256=" + encoded(b"x = 1\n"), "6")


def test_record_speaks_of_files_that_are_not_there(tmp_path: Path) -> None:
    source = WheelSource(name="ghost", metadata={"RECORD": "gone.py,sha256=x,1\n"})
    warnings = convert_wheel(build_wheel(source), tmp_path).facts.record_warnings
    assert "gone.py: in RECORD, but not in the wheel" in warnings


def test_paths_of_a_wheel_that_differ_in_case_alone_are_warned_of(tmp_path: Path) -> None:
    wheel = build_wheel(WheelSource(name="twice", files={"twice/A.py": "", "twice/a.py": "", "Twice/b": ""}))
    (warning,) = convert_wheel(wheel, tmp_path).facts.warnings
    assert warning == (
        f"/{SITE}/twice/A.py and /{SITE}/twice/a.py are one path where case doesn't count (macOS, Windows)"
    )


def test_another_python_means_another_site_packages(tmp_path: Path) -> None:
    files = convert_wheel(simple_wheel("thirteen"), tmp_path, python="3.13").files
    assert "opt/env/lib/python3.13/site-packages/thirteen/__init__.py" in files


def test_big_binary_scripts_are_passed_on(tmp_path: Path) -> None:
    binary = b"\x7fELF" + hashlib.sha256(b"x").digest() * 3000
    member = ZipMember(name="", data=binary, mode=stat.S_IFREG | 0o755)
    source = WheelSource(name="binary", data={"scripts/ruff": member})
    result = convert_wheel(build_wheel(source), tmp_path)
    assert result.files["opt/env/bin/ruff"].data == binary
    assert result.files["opt/env/bin/ruff"].mode == 0o755


def test_facts_say_what_marks_and_the_bill_of_materials_need(tmp_path: Path) -> None:
    metadata = (
        "Metadata-Version: 2.4\nName: Fact.Wheel\nVersion: 1.0\n"
        "License-Expression: MIT\nClassifier: License :: OSI Approved :: MIT License\n"
        "Classifier: Topic :: Software\n\nBody\n"
    )
    source = WheelSource(name="Fact.Wheel", files={"fact/__init__.py": ""}, metadata={"METADATA": metadata})
    facts = convert_wheel(build_wheel(source), tmp_path).facts
    assert facts.folder == "fact_wheel-1.0.dist-info"
    assert (facts.license_expression, facts.license) == ("MIT", None)
    assert facts.classifiers == ("License :: OSI Approved :: MIT License",)
