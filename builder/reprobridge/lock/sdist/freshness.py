"""Which builds of a lock are not what they would be made of now: an edited folder, another base system."""

from collections.abc import Iterator

from reprobridge.errors import Problem
from reprobridge.lock.doors import Doors
from reprobridge.lock.model import LockedPython
from reprobridge.lock.sdist.ground import Ground
from reprobridge.lock.sdist.source import read_project_folder

_HINT = "run `reprobridge lock`"


def stale_builds(locked: LockedPython, ground: Ground, doors: Doors) -> Iterator[Problem]:
    """Each of them, with what changed; looks at folders, asks no index."""
    base = ground.digest()
    for build in locked.builds:
        place = f"platforms.{ground.platform}.python.builds.{build.name}"
        if build.base != base:
            yield Problem(f"{place}.base", f"a build on base {base}", f"one on {build.base}", _HINT)
        if build.kind == "path":
            tree = read_project_folder(ground.folder / build.origin, doors)
            if tree != build.tree:
                yield Problem(
                    f"{place}.tree", f"the folder {build.origin} as it is", "an earlier state", _HINT
                )
