"""In what a stale lock and its spec differ, in words.

A lock keeps the digest of each wish and not the wish, so what changed is read off the answer: a requirement
without a package, a package that nobody asks for, a version that does not fit, a file that is not the locked
one. Where the answer shows no difference, the words say what else the wish is made of.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.digest import Digest
from reprobridge.errors import Problem
from reprobridge.lock.doors import Doors
from reprobridge.lock.kept_tree import has_tree
from reprobridge.lock.model import Lock, LockedDebian, LockedPython, LockedSource, LockedTools, LockedWheel
from reprobridge.lock.source import origin, source_kind
from reprobridge.lock.tools import tool_differences
from reprobridge.lock.tree import tree_difference
from reprobridge.spec.model import ArchiveSource, FolderSource, GitSource, Spec
from reprobridge.spec.package_name import normalized

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_WISH = re.compile(r"platforms\.(?P<platform>[^.]+)(\.(?P<section>debian|python))?")
_BUILD = re.compile(r"platforms\.[^.]+\.python\.builds\.(?P<name>.+)\.(?P<part>base|tree)")
_BUILT_OF = {"base": "its base system", "tree": "its folder"}


def staleness(stale: list[Problem], spec: Spec, lock: Lock, folder: Path, doors: Doors) -> list[str]:
    """One line a difference; `stale` is what `stale_wishes` found."""
    lines: list[str] = []
    for problem in stale:
        found = _WISH.fullmatch(problem.where)
        if problem.where == "source":
            lines += _source(spec, lock.source, folder, doors)
        elif found is None:
            lines.append(_other(problem))
        elif found["section"] is None:
            lines.append(f"environment.platforms: {found['platform']} is not locked")
        elif found["section"] == "debian":
            lines += _debian(spec, lock.platforms[found["platform"]].debian)
        else:
            lines += _python(spec, lock.platforms[found["platform"]].python)
    return list(dict.fromkeys(lines))


def tool_changes(tools: LockedTools) -> list[str]:
    """One line a difference between the release that locked and this one."""
    return [_tool(problem) for problem in tool_differences(tools)]


def _tool(problem: Problem) -> str:
    try:
        Digest.parse(problem.expected)
    except ValueError:
        return f"{problem.where}: the lock pins {problem.expected}, this release has {problem.found}"
    return f"{problem.where}: the lock pins another one than this release has"


def _other(problem: Problem) -> str:
    """A part of the lock that has no wish of its own."""
    if build := _BUILD.fullmatch(problem.where):
        return f"environment.python: {build['name']} was built before {_BUILT_OF[build['part']]} changed"
    return f"{problem.where}: {problem.expected} is asked for, {problem.found} is locked"


# the three wishes


def _source(spec: Spec, locked: LockedSource, folder: Path, doors: Doors) -> list[str]:
    source = spec.source
    pairs = {"kind": (source_kind(source), locked.kind), "origin": (origin(source), locked.origin)}
    if isinstance(source, GitSource):
        pairs["commit"] = (source.commit, str(locked.commit))
    if isinstance(source, ArchiveSource) and locked.file:
        pairs["sha256"] = (str(source.sha256), str(locked.file.sha256))
    lines = [
        f"source: {what} {asked} is asked for, {known} is locked"
        for what, (asked, known) in pairs.items()
        if asked != known
    ]
    if not lines and isinstance(source, FolderSource):
        found = doors.read_folder(folder / source.path, spec.exclude).kept.tree
        if found != locked.tree and has_tree(doors.store, locked.tree):
            lines.append(f"source: {tree_difference(doors.store, locked.tree, found)}")
        elif found != locked.tree:
            lines.append(f"source: the files below {source.path} are not the locked ones")
    return lines or ["source: `source.exclude`, a patch of `changes` or their order is another one"]


def _debian(spec: Spec, locked: LockedDebian) -> list[str]:
    known = {package.name for package in (*locked.base, *locked.extra)}
    lines = [
        f"environment.apt: {name} is asked for and not locked"
        for name in spec.environment.apt
        if name not in known
    ]
    definition = f"the definition of the base system {spec.environment.template} changed"
    gone = "a package is not asked for any more, or " if locked.extra else ""
    return lines or [f"environment.apt: {gone}{definition}"]


def _python(spec: Spec, locked: LockedPython) -> list[str]:
    path = spec.environment.python.requirements
    where = "environment.python" if path is None else str(path)
    asked = [] if path is None else list(_requirements(spec.files[path].decode("utf-8-sig")))
    wheels = {wheel.name: wheel for wheel in locked.wheels}
    # Their requirements may have no name, and their address is none of a wheel.
    built = {build.name for build in locked.builds}
    lines = [_misfit(requirement, wheels.get(name)) for name, requirement in asked if name not in built]
    names = {name for name, _ in asked}
    lines += [
        f"{wheel.name} {wheel.version} is locked and not asked for any more"
        for wheel in locked.wheels
        if wheel.requested and wheel.name not in names | built
    ]
    other = "its text changed (comments count), or constraints, exclude_newer, indexes or the interpreter"
    return [f"{where}: {line}" for line in lines if line] or [f"{where}: {other}"]


def _misfit(requirement: "Requirement", wheel: LockedWheel | None) -> str | None:
    """Why the locked package is no answer to the requirement; None where nothing shows."""
    if wheel is None or not wheel.requested:
        # One with a marker may be for other interpreters.
        return None if requirement.marker else f"{requirement} is asked for and not locked"
    fits = requirement.specifier.contains(wheel.version, prereleases=True)
    if fits and (requirement.url is None or requirement.url == wheel.url):
        return None
    return f"{requirement} is asked for, {wheel.url or wheel.version} is locked"


def _requirements(text: str) -> "Iterator[tuple[str, Requirement]]":
    """Requirements by normalised name, as far as they can be read: locking says what is wrong with the others."""
    from packaging.requirements import Requirement

    for line in text.replace("\\\n", " ").splitlines():
        stripped = re.sub(r"(^|\s)#.*$", "", line).strip()
        try:
            requirement = Requirement(stripped)
        except (ValueError, RecursionError):
            continue
        yield normalized(requirement.name), requirement
