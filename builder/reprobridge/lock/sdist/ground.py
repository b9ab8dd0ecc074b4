"""What packages are built on: base system, interpreter, and the packages that building needs, all of them locked."""

from pathlib import Path

from reprobridge.digest import Digest, Json, digest_json
from reprobridge.frozen import frozen
from reprobridge.lock.freshness import python_target
from reprobridge.lock.model import Lock, LockedDebian, LockedPlatform, LockedPython, LockedWheel
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.lock.template import load_template

REVISION = 1
"""Grows when the same room and source would give another wheel."""


@frozen(kw_only=True)
class Ground:
    """What every room of one platform stands on."""

    template: str
    """Name of the base system."""
    platform: str
    """For example `linux/amd64`."""
    debian: LockedDebian
    """The base's packages, and those that the spec adds: compilers and headers are among them."""
    target: PythonTarget
    """The interpreter."""
    folder: Path
    """The artifact's folder, in which folders to build lie."""

    def digest(self) -> Digest:
        """Of what can reach a built wheel's bytes."""
        debs = sorted((*self.debian.base, *self.debian.extra), key=lambda deb: deb.name)
        return digest_json({"debs": [str(deb.sha256) for deb in debs], "python": self.target.to_json()})

    def room(self, wheels: tuple[LockedWheel, ...]) -> "Room":
        """The room in which these packages are installed."""
        python = LockedPython(
            wish=self.digest(),
            version=self.target.version,
            interpreter=self.target.interpreter,
            wheels=tuple(sorted(wheels, key=lambda wheel: wheel.name)),
        )
        return Room(self.template, self.platform, LockedPlatform(debian=self.debian, python=python))


@frozen
class Room:
    """A root to build in."""

    template: str
    """Name of the base system."""
    platform: str
    """For example `linux/amd64`."""
    locked: LockedPlatform
    """What is installed."""

    def to_json(self) -> Json:
        """For keys."""
        wheels = sorted(str(wheel.file.sha256) for wheel in self.locked.python.wheels)
        return {"ground": str(self.locked.python.wish), "wheels": wheels, "revision": REVISION}


def locked_ground(lock: Lock, platform: str, folder: Path) -> Ground:
    """What a lock's packages are built on; `folder` is the artifact's."""
    return Ground(
        template=lock.template,
        platform=platform,
        debian=lock.platforms[platform].debian,
        target=python_target(load_template(lock.template), platform),
        folder=folder,
    )
