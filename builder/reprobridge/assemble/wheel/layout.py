"""Where a wheel's files stand in the image: /opt/env is one virtual environment for all of them.

Everything goes into one site-packages, purelib and platlib alike (the nvidia-* wheels find each other through
$ORIGIN). The rules are pip's; two members for one path are refused, where pip lets the last one win.
"""

import stat
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import NamedTuple

from reprobridge.assemble.wheel.archive import WheelArchive
from reprobridge.assemble.wheel.directory import Member, broken
from reprobridge.assemble.wheel.metadata import WheelMetadata
from reprobridge.frozen import frozen

PREFIX = "opt/env"
"""The virtual environment."""
SCRIPTS = f"{PREFIX}/bin"
"""Where scripts stand."""
INTERPRETER = f"/{SCRIPTS}/python"
"""What scripts run with."""

_SCHEMES = ("data", "headers", "platlib", "purelib", "scripts")


_path = attrgetter("path")


def site_packages(python: str) -> str:
    """Where modules of an interpreter of this minor version stand."""
    return f"{PREFIX}/lib/python{python}/site-packages"


class PlacedFile(NamedTuple):
    """A member with its place in the image."""

    path: str
    """In the image."""
    mode: int
    """Permission bits."""
    member: Member
    """Its bytes."""
    script: bool = False
    """Whether `#!python` in its first line stands for the environment's interpreter."""


@frozen(kw_only=True)
class Layout:
    """Where things of one wheel go."""

    archive: WheelArchive
    """The wheel."""
    metadata: WheelMetadata
    """What it says about itself."""
    python: str
    """Minor version of the interpreter."""

    def place(self) -> list[PlacedFile]:
        """Every member that is installed as it is, sorted by path. Raises ArtifactError for what has no place."""
        entry_points = {point.name for point in (*self.metadata.console, *self.metadata.gui)}
        site = site_packages(self.python)
        placed = []
        for member in self.archive.members.values():
            # pip's rule; set-user-id and all other bits are dropped, and a symbolic link's text is a file's bytes
            mode = 0o755 if member.mode & 0o111 and stat.S_ISREG(member.mode) else 0o644
            top, _, rest = member.name.partition("/")
            if rest and top.endswith(".data"):
                file = self._place_data(member, mode, rest)
                if not (file.script and _wraps(file.path, entry_points)):
                    placed.append(file)
            else:
                placed.append(PlacedFile(f"{site}/{member.name}", mode, member))
        placed.sort(key=_path)  # by code points, which is the order of their bytes in UTF-8
        return placed

    def _place_data(self, member: Member, mode: int, rest: str) -> PlacedFile:
        """A member of the wheel's `.data` folder, `rest` being its path in there."""
        scheme, _, path = rest.partition("/")
        if scheme not in _SCHEMES or not path:
            expected = f"NAME.data/SCHEME/PATH with one of the schemes {', '.join(_SCHEMES)}"
            raise broken(self.archive.name, member.name, expected, "another path")
        return PlacedFile(f"{self._root(scheme)}/{path}", mode, member, script=scheme == "scripts")

    def _root(self, scheme: str) -> str:
        match scheme:
            case "scripts":
                return SCRIPTS
            case "data":
                return PREFIX
            case "headers":
                return f"{PREFIX}/include/site/python{self.python}/{self.metadata.name}"
            case _:
                return site_packages(self.python)


def refuse_clashes(wheel: str, paths: Iterable[str]) -> None:
    """Raise ArtifactError when two things want one path, or one is a folder of another."""
    files: set[str] = set()
    folders: set[str] = set()
    for path in paths:
        if path in files:
            raise broken(wheel, path, "one file for each path", "two")
        files.add(path)
        folders.update(_new_parents(path, folders))
    if clash := files & folders:
        raise broken(wheel, min(clash), "a file or a folder", "both")


def _new_parents(path: str, known: set[str]) -> Iterator[str]:
    while (slash := path.rfind("/")) > 0:
        path = path[:slash]
        if path in known:
            return
        yield path


def _wraps(path: str, entry_points: set[str]) -> bool:
    """Whether a shipped script is a build tool's wrapper of an entry point, which pip leaves out."""
    name = path.rpartition("/")[2]
    lower = name.lower()
    if lower.endswith((".exe", ".pya")):
        return name[:-4] in entry_points
    return (name[: -len("-script.py")] if lower.endswith("-script.py") else name) in entry_points
