"""Outputs on a disk that turns out to be full: an error with a way out, and everything is as it was."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reprobridge.assemble.model import BuiltImage
from reprobridge.cli.doors import Doors
from reprobridge.cli.key_files import VARIABLE
from reprobridge.cli.outputs import parse_output, require_writable, write_output
from reprobridge.errors import AssembleError, LockError
from reprobridge.lock.file import lock_bytes, write_lock
from reprobridge.lock.model import LockedFile
from reprobridge.lock.vendor import vendor
from reprobridge.oci.layout import ImageParts, read_layout
from support.reviewed_image import reviewed_image
from support.small_disk import fill, small_disk
from support.specs import sample_lock

BIG = random.Random(1).randbytes(2 << 20)
"""What fits on no small disk, compressed neither."""
BLOCK = 4096


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of a megabyte."""
    with small_disk(tmp_path / "disk") as place:
        yield place


@pytest.fixture
def doors(tmp_path: Path) -> Doors:
    """With a store that has room."""
    return Doors(store_root=tmp_path / "store", offline=True, quiet=True)


def named(image: ImageParts) -> BuiltImage:
    return BuiltImage(name=image.name, version=image.version, manifest=image.manifest.digest, notes=())


def big(doors: Doors) -> BuiltImage:
    """An image for which there is no room."""
    image = reviewed_image()
    image.layers["code"] = {"rra/code/big": BIG}
    return named(image.build(doors.store))


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("kind", ["oci", "oci-archive", "docker-archive"])
def test_an_image_that_does_not_fit_leaves_nothing(kind: str, disk: Path, doors: Doors) -> None:
    output = parse_output(f"{kind}:{disk / 'out'}")
    require_writable(output)
    with pytest.raises(AssembleError) as caught:
        write_output(output, big(doors), doors)
    assert caught.value.where == str(disk / "out")
    assert caught.value.found == "No space left on device"
    assert "make room" in str(caught.value.hint)
    assert list(disk.iterdir()) == []


@pytest.mark.parametrize("kind", ["oci-archive", "docker-archive"])
def test_an_archive_for_whose_successor_there_is_no_room_stays(kind: str, disk: Path, doors: Doors) -> None:
    output = parse_output(f"{kind}:{disk / 'out'}")
    write_output(output, named(reviewed_image().build(doors.store)), doors)
    before = content(disk)
    with pytest.raises(AssembleError):
        write_output(output, big(doors), doors)
    assert content(disk) == before


def test_a_layout_for_whose_second_image_there_is_no_room_keeps_its_first(disk: Path, doors: Doors) -> None:
    output = parse_output(f"oci:{disk / 'out'}")
    first = reviewed_image().build(doors.store)
    write_output(output, named(first), doors)
    before = content(disk)
    with pytest.raises(AssembleError, match="the layout cannot be written"):
        write_output(output, big(doors), doors)
    assert before.items() <= content(disk).items()
    assert read_layout(disk / "out").manifest == first.manifest


def test_a_lock_for_whose_successor_there_is_no_room_stays(disk: Path) -> None:
    path = disk / "reprobridge.lock"
    path.write_bytes(lock_bytes(sample_lock()))
    fill(disk, but=0)
    before = content(disk)
    with pytest.raises(LockError, match="the lock cannot be written"):
        write_lock(path, sample_lock())
    assert content(disk) == before


def test_a_vendor_folder_without_room_keeps_what_is_whole(disk: Path, doors: Doors) -> None:
    small, large = b"a wheel", BIG
    files = [
        LockedFile(name, doors.store.add(data), len(data)) for name, data in (("a", small), ("b", large))
    ]
    with pytest.raises(AssembleError, match="the vendor folder cannot be written"):
        vendor(disk / "vendor", files, [], doors.store)
    assert content(disk) == {"vendor/a": small}


@pytest.mark.parametrize("blocks", [0, 1])
def test_keys_for_which_there_is_no_room_leave_no_half_pair(blocks: int, disk: Path) -> None:
    filler = fill(disk, but=blocks * BLOCK)
    argv = [sys.executable, "-m", "reprobridge", "keygen", "--output", str(disk / "paper")]
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={key: value for key, value in os.environ.items() if key != VARIABLE},
    )
    assert (done.returncode, done.stdout) == (6, "")
    assert "found: No space left on device" in done.stderr
    assert "hint: make the folder, or room in it" in done.stderr
    assert list(disk.iterdir()) == [filler]
