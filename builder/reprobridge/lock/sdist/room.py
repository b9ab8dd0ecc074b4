"""The room that a package is built in: the template's own root with what building needs, without network.

A room is an image's root whose Python packages are the project's build requirements, so it is made of the same
layers as images are, which `assemble` knows how to make; the door `Doors.rooms` leads there. In it the image's
own interpreter runs one file of ours (`system/build_frontend.py`), which calls the project's build backend.
Locale, time zone, hash seed, umask, paths and the time that backends write down are the same for every build.
"""

import contextlib
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from reprobridge.digest import CHUNK, Digest
from reprobridge.errors import LockError
from reprobridge.frozen import frozen
from reprobridge.lock.doors import Doors
from reprobridge.lock.kept_tree import tree_blob
from reprobridge.lock.sdist.failure import build_failure
from reprobridge.lock.sdist.ground import Room
from reprobridge.lock.sdist.project import BuildSystem
from reprobridge.sandbox.model import Shell
from reprobridge.system import build_frontend, files
from reprobridge.system.processes import Completed

EPOCH = 315619200
"""SOURCE_DATE_EPOCH of every build: 1980-01-02T00:00:00Z, the time of everything in layers."""
TIMEOUT = 3 * 3600
"""Seconds after which a build is given up."""

_PLACE = "/build"
_LONGEST_ANSWER = 1 << 20
_WHEEL = re.compile(r"[\w.+!-]+\.whl", re.ASCII)
_ENVIRONMENT = {
    "PATH": "/opt/env/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/tmp",  # noqa: S108  a place in the room
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONNOUSERSITE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "SOURCE_DATE_EPOCH": str(EPOCH),
}


class Rooms(Protocol):
    """Makes rooms and runs commands in them (`assemble/build_room.py`)."""

    def __call__(self, room: Room, shell: Shell, doors: Doors) -> Completed:
        """Run a command in the room to its end. Raises SandboxError, and what making layers raises."""


@frozen(kw_only=True)
class Project:
    """A source that can be built."""

    title: str
    """What people call it, for example `docopt 0.6.2`."""
    tree: Digest
    """Its files."""
    subdirectory: str | None
    """The part of them that holds the project."""
    system: BuildSystem
    """How it is built."""


def ask_requirements(project: Project, room: Room, doors: Doors) -> tuple[str, ...]:
    """What the backend wants besides what stands in pyproject.toml (PEP 517), as requirements."""
    with _hook(project, room, build_frontend.REQUIRES, doors) as result:
        answer = result.answer()
    if not isinstance(answer, list) or not all(isinstance(line, str) for line in answer):
        raise _odd(project, "a list of requirements", answer)
    return tuple(answer)


def build_once(project: Project, room: Room, doors: Doors) -> tuple[str, Digest]:
    """Build a wheel and keep it in the store; its file name and digest. Raises LockError when it cannot be built."""
    with _hook(project, room, build_frontend.BUILD, doors) as result:
        name = result.answer()
        if not isinstance(name, str) or not _WHEEL.fullmatch(name):
            raise _odd(project, "the name of a wheel", name)
        with doors.store.writer() as blob:
            for block in result.blocks(name):
                blob.write(block)
            return name, blob.commit()


@frozen
class _Result:
    """The folder that a build wrote into: a stranger's, so no link in it is followed."""

    folder: Path
    project: Project

    def answer(self) -> object:
        """What the hook returned."""
        data = b"".join(self.blocks(build_frontend.RESULT, _LONGEST_ANSWER))
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            raise _odd(self.project, "JSON", str(error)) from error

    def blocks(self, name: str, limit: int | None = None) -> Iterator[bytes]:
        """A file's bytes in pieces."""
        try:
            with self._open(name) as stream:
                while block := stream.read(CHUNK):
                    yield block
                    if limit is not None and stream.tell() > limit:
                        raise _odd(self.project, f"at most {limit} bytes", f"more in {name}")
        except OSError as error:
            raise _odd(self.project, f"a file {name}", error.strerror or str(error)) from error

    def _open(self, name: str) -> BinaryIO:
        handle = os.open(self.folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        stream = os.fdopen(handle, "rb")
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            stream.close()
            raise _odd(self.project, f"a file {name}", "a folder, device or pipe")
        return stream


@contextlib.contextmanager
def _hook(project: Project, room: Room, hook: str, doors: Doors) -> Iterator[_Result]:
    """What a hook of the project's backend left. Raises LockError when it failed."""
    if doors.rooms is None:
        raise LockError(
            "nothing can be built here", where=project.title, hint="lock it with `reprobridge lock`"
        )
    with files.scratch_folder(doors.scratch) as given, files.shared_folder(doors.scratch) as work:
        job = {
            "source": f"{_PLACE}/source.tar",
            "work": f"{_PLACE}/work",
            "subdirectory": project.subdirectory,
            "backend": project.system.backend,
            "backend_path": list(project.system.backend_path),
            "hook": hook,
        }
        files.write_file(given / "job.json", json.dumps(job).encode())
        files.write_file(given / "frontend.py", Path(build_frontend.__file__).read_bytes())
        shell = Shell(
            argv=("/opt/env/bin/python", f"{_PLACE}/frontend.py", f"{_PLACE}/job.json"),
            environment=_ENVIRONMENT,
            tmpfs=("/tmp",),  # noqa: S108  a place in the room
            readonly={
                f"{_PLACE}/frontend.py": given / "frontend.py",
                f"{_PLACE}/job.json": given / "job.json",
                f"{_PLACE}/source.tar": doors.store.path(tree_blob(doors.store, project.tree)),
            },
            writable={f"{_PLACE}/work": work},
            timeout=TIMEOUT,
        )
        ended = doors.rooms(room, shell, doors)
        if ended.returncode != 0 or ended.timed_out:
            raise build_failure(project.title, ended, TIMEOUT)
        yield _Result(work, project)


def _odd(project: Project, expected: str, found: object) -> LockError:
    return LockError(
        "a build backend answers what it must not", where=project.title, expected=expected, found=repr(found)
    )
