"""Somebody who locks Python packages with the real uv, against an index of the test's own."""

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

import pytest

from reprobridge.errors import ReproBridgeError
from reprobridge.lock.doors import Doors
from reprobridge.lock.model import LockedWheel
from reprobridge.lock.pypi import KeptPython, PythonTarget, lock_python
from reprobridge.lock.sdist.ground import Ground
from reprobridge.spec.model import Environment, PythonWish, Spec
from support.file_server import FileServer
from support.lock_doors import doors as make_doors
from support.lock_doors import impatient
from support.specs import PLATFORM, sample_lock, sample_spec
from support.wheels import Wheel, WheelSource, build_wheel

TARGET = PythonTarget(version="3.11", architecture="x86_64", glibc=(2, 36), interpreter="/usr/bin/python3.11")
"""What is locked for."""


def spec(requirements: str, *, constraints: str | None = None, **wish: object) -> Spec:
    """A spec that asks for packages."""
    files = {PurePosixPath("r.in"): requirements.encode()}
    if constraints is not None:
        files[PurePosixPath("c.txt")] = constraints.encode()
    python = PythonWish(
        requirements=PurePosixPath("r.in"),
        constraints=None if constraints is None else PurePosixPath("c.txt"),
        **wish,  # type: ignore[arg-type]  # the fields are the class's
    )
    return sample_spec(environment=Environment(template="debian12-py311", python=python), files=files)


def locked_wheels(
    wish: Spec,
    doors: Doors,
    *,
    kept: Iterable[LockedWheel] = (),
    target: PythonTarget = TARGET,
    warned: tuple[str, ...] = (),
) -> tuple[LockedWheel, ...]:
    """What is locked, where nothing has to be built and nothing is warned of but this."""
    debian = sample_lock().platforms[PLATFORM].debian
    ground = Ground(template="debian12-py311", platform=PLATFORM, debian=debian, target=target, folder=Path())
    locked, warnings = lock_python(wish, KeptPython(wheels=tuple(kept)), ground, doors)
    assert (locked.builds, warnings) == ((), warned)
    return locked.wheels


class User:
    """Somebody with an index."""

    def __init__(self, folder: Path, index: str) -> None:
        self.settings = {
            "UV_DEFAULT_INDEX": index,
            "UV_CACHE_DIR": str(folder / "uv"),
            "HOME": str(folder),
            "UV_HTTP_RETRIES": "0",
        }
        self.doors: Doors = make_doors(folder / "store", network=impatient(), environment=self.settings)

    def lock(
        self, wish: Spec, kept: Iterable[LockedWheel] = (), target: PythonTarget = TARGET
    ) -> dict[str, LockedWheel]:
        """Lock; by name."""
        return {wheel.name: wheel for wheel in locked_wheels(wish, self.doors, kept=kept, target=target)}

    def failure(self, wish: Spec) -> ReproBridgeError:
        """What locking fails with."""
        with pytest.raises(ReproBridgeError) as caught:
            self.lock(wish)
        return caught.value


@pytest.fixture
def user(tmp_path: Path, file_server: FileServer) -> User:
    """A user of an index on the test's server."""
    return User(tmp_path, f"{file_server.url}/simple")


def platform_wheel(tag: str, version: str = "1.0") -> Wheel:
    """A wheel for one platform."""
    return build_wheel(
        WheelSource(name="built", version=version, tag=tag, purelib=False, files={"built.py": tag})
    )
