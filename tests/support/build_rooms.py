"""Build rooms without a sandbox and a base system: this Python calls the backend, in folders of the host.

For what happens around a build. What a real room gives (isolation, the image's interpreter, installed build
requirements) is tested with real ones.
"""

import functools
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from reprobridge.digest import Digest
from reprobridge.lock.doors import Doors
from reprobridge.lock.sdist.ground import Room
from reprobridge.lock.tree import found_file, keep_tree
from reprobridge.sandbox.model import Shell
from reprobridge.store.store import Store
from reprobridge.system.processes import Completed

BACKEND = """\
import os
import socket
import sys
import zipfile

NAME, VERSION, REQUIRES, TAG = {name!r}, {version!r}, {requires!r}, {tag!r}


def get_requires_for_build_wheel(config_settings=None):
    return {wants!r}


def build_wheel(directory, config_settings=None, metadata_directory=None):
    file = f"{{NAME}}-{{VERSION}}-{{TAG}}.whl"
    info = f"{{NAME}}-{{VERSION}}.dist-info"
    lines = ["Metadata-Version: 2.1", f"Name: {{NAME}}", f"Version: {{VERSION}}"]
    lines += [f"Requires-Dist: {{one}}" for one in REQUIRES]
    members = {{
        f"{{NAME}}.py": {code},
        f"{{info}}/METADATA": "\\n".join(lines) + "\\n",
        f"{{info}}/WHEEL": f"Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: {{TAG}}\\n",
        f"{{info}}/RECORD": "",
    }}
    with zipfile.ZipFile(os.path.join(directory, file), "w") as archive:
        for path, text in members.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    return file
"""
PYPROJECT = """\
[build-system]
requires = {requires}
build-backend = "backend"
backend-path = ["tools"]
"""


@dataclass(kw_only=True)
class ProjectSource:
    """A project with a backend of its own, which needs nothing but Python."""

    name: str
    version: str = "1.0"
    requires: tuple[str, ...] = ()
    """What the wheel depends on."""
    build_requires: tuple[str, ...] = ()
    """What pyproject.toml says that building needs."""
    wants: tuple[str, ...] = ()
    """What the backend asks for besides."""
    tag: str = "py3-none-any"
    code: str = "'x = 1\\n'"
    """A Python expression that gives the module's text while the wheel is built; knows os, socket and sys."""

    def files(self) -> dict[str, str]:
        """The project's files by path."""
        backend = BACKEND.format(
            name=self.name,
            version=self.version,
            requires=self.requires,
            tag=self.tag,
            wants=list(self.wants),
            code=self.code,
        )
        pyproject = PYPROJECT.format(requires=json.dumps(self.build_requires))
        return {"pyproject.toml": pyproject, "tools/backend.py": backend}

    def write(self, folder: Path) -> Path:
        """Put the project into a folder."""
        for path, text in self.files().items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return folder


def keep_files(store: Store, files: Mapping[str, str]) -> Digest:
    """A tree of these files, kept in a store."""
    contents = {path: text.encode() for path, text in files.items()}
    found = [
        found_file(path, len(data), executable=False, opener=functools.partial(BytesIO, data))
        for path, data in contents.items()
    ]
    return keep_tree(store, found, where="test").tree


@dataclass
class HostRooms:
    """`Rooms` on this machine; remembers what it was asked for."""

    rooms: list[Room] = field(default_factory=list)
    shells: list[Shell] = field(default_factory=list)
    after: Callable[[Path], object] = lambda work: None
    """Called with the writable folder when a command has ended: what hostile builds may leave there."""

    def __call__(self, room: Room, shell: Shell, doors: Doors) -> Completed:
        """Run the frontend with the places of the room turned into those of the host."""
        self.rooms.append(room)
        self.shells.append(shell)
        work = shell.writable["/build/work"]
        job = json.loads(shell.readonly["/build/job.json"].read_text())
        job |= {"source": str(shell.readonly["/build/source.tar"]), "work": str(work)}
        job_path = work / "job.json"
        job_path.write_text(json.dumps(job))
        done = subprocess.run(
            [sys.executable, shell.readonly["/build/frontend.py"], job_path],
            env={**shell.environment, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            check=False,
        )
        self.after(work)
        return Completed(argv=shell.argv, returncode=done.returncode, stdout=done.stdout, stderr=done.stderr)
