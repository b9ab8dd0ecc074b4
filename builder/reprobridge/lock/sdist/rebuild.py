"""Having the built wheels of a lock again: from a folder that keeps them, or built anew and compared."""

from collections.abc import Collection

from reprobridge.digest import Digest
from reprobridge.errors import LockError
from reprobridge.lock.doors import Doors
from reprobridge.lock.model import LockedBuild, LockedPython, LockedWheel
from reprobridge.lock.sdist.ground import Ground
from reprobridge.lock.sdist.kept import FOLDER, take_kept
from reprobridge.lock.sdist.project import read_build_system
from reprobridge.lock.sdist.room import Project, build_once
from reprobridge.lock.sdist.source import obtain_source


def obtain_built(locked: LockedPython, wanted: Collection[Digest], ground: Ground, doors: Doors) -> None:
    """Have these of the lock's built wheels in the store.

    Raises LockError when one comes out different or cannot be made again, SandboxError when nothing can be
    built here, and what fetching the sources raises.
    """
    for build, wheel in locked.built:
        if wheel.file.sha256 in wanted and not take_kept(wheel.file, ground, doors):
            _build_again(build, wheel, locked, ground, doors)


def _build_again(
    build: LockedBuild, wheel: LockedWheel, locked: LockedPython, ground: Ground, doors: Doors
) -> None:
    if not build.repeatable:
        raise LockError(
            "a wheel is missing that cannot be built again",
            where=str(ground.folder / FOLDER / wheel.file.name),
            expected=str(wheel.file.sha256),
            found="no file",
            hint="restore it from version control, or lock anew with `reprobridge lock --upgrade "
            f"{build.name}`, which gives another image",
        )
    tree = obtain_source(build, ground.folder, doors)
    title = f"{build.name} {wheel.version}"
    system = read_build_system(doors.store, tree, build.subdirectory, title)
    project = Project(title=title, tree=tree, subdirectory=build.subdirectory, system=system)
    wheels = tuple(one for one in locked.build_wheels if one.file.sha256 in build.requires)
    name, found = build_once(project, ground.room(wheels), doors)
    if (name, found) != (wheel.file.name, wheel.file.sha256):
        raise LockError(
            "a package was built into another wheel than the locked one",
            where=title,
            expected=f"{wheel.file.name}, {wheel.file.sha256}",
            found=f"{name}, {found}",
            hint="its build depends on something that is not locked (this machine's processor or kernel?): take "
            "the wheel from whoever locked it, by `reprobridge vendor` there and REPROBRIDGE_VENDOR here, "
            "or run `reprobridge lock --upgrade` for another image",
        )
