"""Reading wheels' zip directories: everything that readers disagree about is refused."""

import io
import struct
import zipfile
from pathlib import Path

import pytest

from reprobridge.assemble.wheel.archive import open_wheel
from reprobridge.assemble.wheel.directory import Member
from reprobridge.errors import ArtifactError
from support.converted import convert_wheel
from support.hostile_wheels import hostile_wheels
from support.wheels import Wheel, WheelSource, build_wheel, simple_wheel
from support.zip_writer import ZipMember, write_zip

LIKE_PIP = {"symlink"}
"""What pip installs, and we too: a link's text as a file."""
HOSTILE = {key: wheel for key, wheel in hostile_wheels().items() if key not in LIKE_PIP}
SOUND = simple_wheel("sound")


def members(data: bytes, folder: Path) -> dict[str, Member]:
    """The members of an archive."""
    path = folder / "w.whl"
    path.write_bytes(data)
    with open_wheel(path, "w.whl") as archive:
        return dict(archive.members)


@pytest.mark.parametrize("wheel", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_wheel_is_refused_by_name(wheel: Wheel, tmp_path: Path) -> None:
    with pytest.raises(ArtifactError) as caught:
        convert_wheel(wheel, tmp_path)
    assert caught.value.where is not None
    assert caught.value.where.startswith(wheel.filename)
    assert caught.value.expected
    assert caught.value.found


def test_a_wheel_that_is_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    accepted = [keep for keep in range(len(SOUND.data)) if is_read(SOUND.data[:keep], tmp_path)]
    assert accepted == []


def is_read(data: bytes, folder: Path) -> bool:
    """Whether the archive is taken for a sound one."""
    try:
        members(data, folder)
    except ArtifactError:
        return False
    return True


def test_a_flipped_byte_is_refused_or_changes_no_content(tmp_path: Path) -> None:
    sound = contents(SOUND.data, tmp_path)
    changed = []
    for index in range(0, len(SOUND.data), 3):
        data = bytearray(SOUND.data)
        data[index] ^= 0x55
        if contents(bytes(data), tmp_path) not in (sound, None):
            changed.append(index)
    assert changed == []


def contents(data: bytes, folder: Path) -> dict[str, bytes] | None:
    """Installed files, or None where the wheel is refused."""
    wheel = Wheel(filename=SOUND.filename, data=data, metadata="")
    try:
        return {path: file.data for path, file in convert_wheel(wheel, folder).files.items()}
    except ArtifactError:
        return None


def test_bytes_before_the_archive_are_fine(tmp_path: Path) -> None:
    assert members(b"#!/bin/sh\n" + SOUND.data, tmp_path).keys() == members(SOUND.data, tmp_path).keys()


def test_bytes_behind_the_archive_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="other bytes"):
        members(SOUND.data + b"\0", tmp_path)


def test_an_archive_with_a_comment_is_fine(tmp_path: Path) -> None:
    data = SOUND.data[:-2] + struct.pack("<H", 5) + b"hello"
    assert members(data, tmp_path).keys() == members(SOUND.data, tmp_path).keys()


def test_zip64_records_and_sizes_are_read(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("x.py", "w", force_zip64=True) as member,
    ):
        member.write(b"x = 1\n")
    assert members(_as_zip64(stream.getvalue()), tmp_path)["x.py"].size == 6


def _as_zip64(data: bytes) -> bytes:
    """Move sizes, offsets and counts of a one-member archive into ZIP64 fields."""
    end = data.rindex(b"PK\5\6")
    size, offset = struct.unpack_from("<2L", data, end + 12)
    central = bytearray(data[offset : offset + size])
    packed, full = struct.unpack_from("<2L", central, 20)
    (place,) = struct.unpack_from("<L", central, 42)
    struct.pack_into("<2L", central, 20, 0xFFFFFFFF, 0xFFFFFFFF)
    struct.pack_into("<L", central, 42, 0xFFFFFFFF)
    extra = struct.pack("<2H3Q", 1, 24, full, packed, place)
    struct.pack_into("<H", central, 30, len(extra))
    directory = bytes(central) + extra
    end64 = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, len(directory), offset)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, offset + len(directory), 1)
    tail = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return data[:offset] + directory + end64 + locator + tail


def test_a_missing_zip64_field_is_refused(tmp_path: Path) -> None:
    data = bytearray(write_zip([ZipMember(name="x", data=b"x")]))
    central = data.index(b"PK\1\2")
    struct.pack_into("<L", data, central + 24, 0xFFFFFFFF)
    with pytest.raises(ArtifactError, match="ZIP64"):
        members(bytes(data), tmp_path)


def test_names_without_the_utf8_flag_are_code_page_437(tmp_path: Path) -> None:
    data = bytearray(write_zip([ZipMember(name=b"caf\x82", data=b"x")]))
    for signature, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        struct.pack_into("<H", data, data.index(signature) + place, 0)
    assert list(members(bytes(data), tmp_path)) == ["café"]


def test_a_second_name_in_an_extra_field_is_refused(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        info = zipfile.ZipInfo("innocent.py")
        info.extra = struct.pack("<2HBL", 0x7075, 12, 1, 0) + b"evil.py"
        archive.writestr(info, b"x")
    with pytest.raises(ArtifactError, match="second one"):
        members(stream.getvalue(), tmp_path)


def test_members_that_overlap_are_refused(tmp_path: Path) -> None:
    data = bytearray(
        write_zip([ZipMember(name="a", data=b"a" * 99), ZipMember(name="a", local_name="b", data=b"b" * 99)])
    )
    second = data.rindex(b"PK\1\2")
    data[second + 46 : second + 47] = b"b"
    place = struct.unpack_from("<L", data, second + 42)[0]
    struct.pack_into("<L", data, data.index(b"PK\1\2") + 20, place)
    with pytest.raises(ArtifactError, match="overlap"):
        members(bytes(data), tmp_path)


def test_an_archive_of_several_disks_is_refused(tmp_path: Path) -> None:
    data = bytearray(SOUND.data)
    struct.pack_into("<H", data, data.rindex(b"PK\5\6") + 4, 1)
    with pytest.raises(ArtifactError, match="one part"):
        members(bytes(data), tmp_path)


def test_names_that_no_file_system_takes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="255"):
        members(write_zip([ZipMember(name="d/" + "x" * 256)]), tmp_path)
    with pytest.raises(ArtifactError, match="path of at most"):
        members(write_zip([ZipMember(name="folder/" * 600 + "x")]), tmp_path)


def test_folders_are_left_out_and_sizes_come_from_the_directory(tmp_path: Path) -> None:
    found = members(
        write_zip([ZipMember(name="d/", mode=0o40755), ZipMember(name="d/x", data=b"hello", streamed=True)]),
        tmp_path,
    )
    assert [(member.name, member.size) for member in found.values()] == [("d/x", 5)]


def test_a_member_is_never_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "w.whl"
    path.write_bytes(write_zip([ZipMember(name="zeros", data=bytes(8 << 20))]))
    with open_wheel(path, "w.whl") as archive:
        sizes = [len(piece) for piece in archive.content(archive.members["zeros"])]
    assert max(sizes) <= 256 << 10
    assert sum(sizes) == 8 << 20


def test_metadata_of_absurd_size_is_refused_before_it_is_read(tmp_path: Path) -> None:
    source = WheelSource(
        name="big", metadata={"METADATA": ZipMember(name="", data=b"Name: big\n", size=(64 << 20) + 1)}
    )
    with pytest.raises(ArtifactError, match="at most"):
        convert_wheel(build_wheel(source), tmp_path)
