"""Who runs the command with an umask finds that no output is more, or less, open than it says."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from reprobridge.assemble.model import BuiltImage
from reprobridge.cli.build import write_digest
from reprobridge.cli.doors import Doors
from reprobridge.cli.key_files import write_pair
from reprobridge.cli.outputs import parse_output, write_output
from reprobridge.lock.file import write_lock
from reprobridge.lock.model import LockedFile
from reprobridge.lock.vendor import vendor
from reprobridge.publish.signing.keys import PrivateKey
from reprobridge.spec.scaffold import create_artifact
from reprobridge.store.store import Store
from support.reviewed_image import reviewed_image
from support.specs import sample_lock


@pytest.fixture(params=[0o022, 0o027, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """This process's umask during the test."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def modes(top: Path) -> dict[str, int]:
    """The mode of a file or folder, and of everything below it, by path."""
    return {
        path.relative_to(top.parent).as_posix(): stat.S_IMODE(path.stat().st_mode)
        for path in (top, *top.rglob("*"))
    }


def expected(top: Path, umask: int) -> dict[str, int]:
    """What any tool would give them."""
    return {
        path.relative_to(top.parent).as_posix(): (0o777 if path.is_dir() else 0o666) & ~umask
        for path in (top, *top.rglob("*"))
    }


@pytest.mark.parametrize("kind", ["oci", "oci-archive", "docker-archive"])
def test_an_image_that_is_written_out_has_the_users_modes(kind: str, umask: int, tmp_path: Path) -> None:
    doors = Doors(store_root=tmp_path / "store", offline=True, quiet=True)
    image = reviewed_image().build(doors.store)
    built = BuiltImage(name=image.name, version=image.version, manifest=image.manifest.digest, notes=())
    for _ in range(2):  # again: into a layout that is there, or in the place of an archive
        write_output(parse_output(f"{kind}:{tmp_path / 'out'}"), built, doors)
        assert modes(tmp_path / "out") == expected(tmp_path / "out", umask)


def test_a_lock_and_a_digest_have_the_users_modes(umask: int, tmp_path: Path) -> None:
    write_lock(tmp_path / "reprobridge.lock", sample_lock())
    write_digest(tmp_path / "digest", reviewed_image().build(Store(tmp_path / "store")).manifest.digest)
    for path in (tmp_path / "reprobridge.lock", tmp_path / "digest"):
        assert modes(path) == expected(path, umask)


def test_a_vendor_folder_has_the_users_modes(umask: int, tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    vendor(tmp_path / "vendor", [LockedFile("a.whl", store.add(b"a wheel"), 7)], [], store)
    assert len(modes(tmp_path / "vendor")) == 3
    assert modes(tmp_path / "vendor") == expected(tmp_path / "vendor", umask)


def test_a_new_artifact_has_the_users_modes(umask: int, tmp_path: Path) -> None:
    create_artifact(tmp_path / "new", today="2026-01-31")
    assert modes(tmp_path / "new") == expected(tmp_path / "new", umask)


def test_a_public_key_has_the_users_mode_and_a_private_one_its_own(umask: int, tmp_path: Path) -> None:
    private, public = tmp_path / "a.key", tmp_path / "a.pub"
    write_pair((private, public), PrivateKey.generate(), None)
    assert modes(public) == expected(public, umask)
    assert modes(private) == {"a.key": 0o600}
