"""Wheels that were built before: in the store, in a vendor folder, or in the folder beside the lock."""

from collections.abc import Iterator

from reprobridge.digest import CHUNK
from reprobridge.frozen import frozen
from reprobridge.lock.doors import Doors
from reprobridge.lock.fetch import Fetcher, Wanted
from reprobridge.lock.model import LockedBuild, LockedFile, LockedWheel
from reprobridge.lock.sdist.ground import Ground
from reprobridge.system import files

FOLDER = "wheels"
"""Folder beside the lock for wheels that cannot be built again."""


@frozen(kw_only=True)
class KeptBuild:
    """A build of an earlier lock."""

    build: LockedBuild
    """How it was made."""
    wheel: LockedWheel
    """What came out."""
    requires: tuple[LockedWheel, ...]
    """What it was made with."""


def take_kept(file: LockedFile, ground: Ground, doors: Doors) -> bool:
    """Have a built wheel in the store without building it; whether it was anywhere. Raises ArtifactError."""
    if doors.store.has(file.sha256):
        return True
    folders = (*doors.vendored, ground.folder / FOLDER)
    names = (file.sha256.hex, file.name)
    if not any((folder / name).is_file() for folder in folders for name in names):
        return False
    wanted = Wanted(name=file.name, sha256=file.sha256, size=file.size, addresses=lambda: ())
    Fetcher(doors.store, doors.network, vendored=folders).fetch_one(wanted)
    return True


def keep_beside(file: LockedFile, ground: Ground, doors: Doors) -> None:
    """Copy a wheel that cannot be made again to where it is published with the artifact."""

    def blocks() -> Iterator[bytes]:
        with doors.store.open(file.sha256) as stream:
            while block := stream.read(CHUNK):
                yield block

    files.write_stream(ground.folder / FOLDER / file.name, blocks(), mode=files.USUAL)
