"""An author whose requirements need packages without a wheel: a folder, an index of our own, the real uv."""

from pathlib import Path, PurePosixPath

import pytest

from reprobridge.errors import LockError
from reprobridge.frozen import replace
from reprobridge.lock.doors import Doors
from reprobridge.lock.model import LockedPython
from reprobridge.lock.pypi import KeptPython, PythonTarget, lock_python
from reprobridge.lock.sdist.freshness import stale_builds
from reprobridge.lock.sdist.ground import Ground
from reprobridge.spec.model import Environment, PythonWish
from support.build_rooms import HostRooms, ProjectSource
from support.file_server import FileServer
from support.lock_doors import doors as make_doors
from support.lock_doors import impatient, temporary_files
from support.package_index import serve_index
from support.sdists import Sdist, build_sdist
from support.specs import PLATFORM, sample_lock, sample_spec
from support.wheels import Wheel

TARGET = PythonTarget(version="3.11", architecture="x86_64", glibc=(2, 36), interpreter="/usr/bin/python3.11")
CHANGING = "repr(os.urandom(8))"
"""Code that is another one in each build."""


def sdist(source: ProjectSource) -> Sdist:
    """A project as an sdist."""
    return build_sdist(source.name, source.version, files=source.files())


class Author:
    """Somebody with an artifact's folder and an index."""

    def __init__(self, folder: Path, server: FileServer) -> None:
        self.server, self.rooms = server, HostRooms()
        self.ground = Ground(
            template="debian12-py311",
            platform=PLATFORM,
            debian=sample_lock().platforms[PLATFORM].debian,
            target=TARGET,
            folder=folder / "artifact",
        )
        self.settings = {
            "UV_DEFAULT_INDEX": f"{server.url}/simple",
            "UV_CACHE_DIR": str(folder / "uv"),
            "HOME": str(folder),
            "UV_HTTP_RETRIES": "0",
        }
        self.doors = self.with_store(folder / "store")

    def with_store(self, folder: Path, **settings: str) -> Doors:
        """Doors to a store."""
        made = make_doors(folder, network=impatient(), environment={**self.settings, **settings})
        return replace(made, rooms=self.rooms)

    def publish(self, *files: Wheel | ProjectSource, **more: str) -> None:
        """Have these in the index."""
        serve_index(
            self.server, [sdist(one) if isinstance(one, ProjectSource) else one for one in files], **more
        )

    def answer(
        self, requirements: str, kept: KeptPython | None = None, **wish: object
    ) -> tuple[LockedPython, tuple[str, ...]]:
        """Lock these requirements."""
        files = {PurePosixPath("r.in"): requirements.encode()}
        if isinstance(constraints := wish.pop("constraints", None), str):
            files[PurePosixPath("c.txt")] = constraints.encode()
            wish["constraints"] = PurePosixPath("c.txt")
        python = PythonWish(requirements=PurePosixPath("r.in"), **wish)  # type: ignore[arg-type]  # the class's
        spec = sample_spec(environment=Environment(template="debian12-py311", python=python), files=files)
        return lock_python(spec, kept or KeptPython(), self.ground, self.doors)

    def lock(self, requirements: str, kept: KeptPython | None = None, **wish: object) -> LockedPython:
        """Lock without warnings."""
        locked, warnings = self.answer(requirements, kept, **wish)
        assert warnings == ()
        return locked

    def failure(self, requirements: str, **wish: object) -> LockError:
        """What locking fails with."""
        with pytest.raises(LockError) as caught:
            self.answer(requirements, None, **wish)
        assert temporary_files(self.doors.store.root) == []
        return caught.value

    def stale(self, locked: LockedPython) -> list[str]:
        """Places of what is stale."""
        return [problem.where for problem in stale_builds(locked, self.ground, self.doors)]
