"""Building a wheel when locking: requirements resolved and locked, built twice, compared, remembered.

A wheel of equal inputs is built once a store. What two builds give differently cannot be made again from the
lock, so it is an input: `resolve.py` keeps it beside the lock.
"""

from collections.abc import Mapping

from reprobridge.digest import Digest, digest_json
from reprobridge.errors import LockError
from reprobridge.frozen import field, frozen, replace
from reprobridge.lock.doors import Doors
from reprobridge.lock.model import LockedBuild, LockedFile, LockedWheel
from reprobridge.lock.pypi_choice import choose_published
from reprobridge.lock.pypi_uv import Dependencies, NoWheelError
from reprobridge.lock.pypi_wish import PythonRequest
from reprobridge.lock.sdist.ground import Ground, Room
from reprobridge.lock.sdist.kept import FOLDER, KeptBuild, take_kept
from reprobridge.lock.sdist.project import read_build_system
from reprobridge.lock.sdist.room import Project, ask_requirements, build_once
from reprobridge.lock.sdist.source import ToBuild
from reprobridge.lock.sdist.wheel import differences, read_wheel

BUILT = "built-wheel"
"""Kind of the store's results that lead from a source and a room to the wheel that was built there."""
WANTED = "build-requirements"
"""Kind of those that lead to what a backend asked for."""


@frozen(kw_only=True)
class Built:
    """A wheel that was built, in the store."""

    file: LockedFile
    """The wheel."""
    dependencies: Dependencies
    """What it says about itself."""
    build: LockedBuild
    """How it came to be."""
    requires: tuple[LockedWheel, ...]
    """What it was built with."""
    warnings: tuple[str, ...]
    """That it cannot be built again, and why."""


@frozen(kw_only=True)
class Bench:
    """What all wheels of one lock are built with."""

    request: PythonRequest
    """Constraints, dates and indexes, which hold for build requirements too."""
    ground: Ground
    """What they are built on."""
    doors: Doors
    """The doors."""
    kept: Mapping[str, KeptBuild] = field(default_factory=dict)
    """Earlier builds by `LockedBuild.subject`: their requirements stay where nothing speaks against it, and so does
    the wheel when all its inputs are the same."""

    def build(self, wanted: ToBuild) -> Built:
        """Build a wheel. Raises LockError when it can't be built, SandboxError when nothing can be built here."""
        title = wanted.origin if wanted.kind == "sdist" else f"{wanted.kind} {wanted.origin}"
        tree, subdirectory = wanted.source.tree, wanted.subdirectory
        system = read_build_system(self.doors.store, tree, subdirectory, title)
        project = Project(title=title, tree=tree, subdirectory=subdirectory, system=system)
        before = self.kept.get(wanted.subject)
        requires, room = self._furnished(project, before.requires if before else ())
        digests, base = tuple(sorted(wheel.file.sha256 for wheel in requires)), self.ground.digest()
        made_of = (tree, subdirectory, digests, base)
        made = self._made_before(before, made_of) or self._twice(project, room)
        known = read_wheel(self.doors.store, made.file, self.ground.target, title)
        if wanted.name not in (None, known.name):
            raise LockError(
                "a package builds another one", where=title, expected=wanted.name, found=known.name
            )
        build = LockedBuild(
            name=known.name,
            kind=wanted.kind,
            origin=wanted.origin,
            index=None,
            commit=wanted.commit,
            subdirectory=subdirectory,
            file=wanted.source.file,
            tree=tree,
            requires=digests,
            base=base,
            repeatable=made.repeatable,
        )
        return Built(
            file=made.file, dependencies=known, build=build, requires=requires, warnings=made.warnings
        )

    def _furnished(
        self, project: Project, before: tuple[LockedWheel, ...]
    ) -> tuple[tuple[LockedWheel, ...], Room]:
        """The room with all that building needs: what pyproject.toml says, and what the backend asks for in it."""
        requires = self._resolve(project, project.system.requires, before)
        room = self.ground.room(requires)
        if more := self._asked(project, room):
            requires = self._resolve(project, (*project.system.requires, *more), before)
            room = self.ground.room(requires)
        return requires, room

    def _resolve(
        self, project: Project, requires: tuple[str, ...], before: tuple[LockedWheel, ...]
    ) -> tuple[LockedWheel, ...]:
        text = "".join(f"{line}\n" for line in requires)
        request = replace(self.request, requirements=text, file="build-system.requires")
        try:
            return choose_published(request, before, self.doors).wheels
        except NoWheelError as error:
            raise LockError(
                "what building a package requires has no wheel itself",
                where=project.title,
                expected=f"wheels for {', '.join(requires)}",
                found=f"none of {', '.join(error.names)}",
                hint="constraints hold for build requirements too: name a version there that has a wheel",
            ) from error
        except LockError as error:
            raise LockError(
                "what building a package requires cannot be resolved",
                where=project.title,
                expected=error.expected,
                found=error.found or error.message,
                hint="constraints and exclude_newer hold for build requirements too",
            ) from error

    def _asked(self, project: Project, room: Room) -> tuple[str, ...]:
        key = _key(project, room)
        match self.doors.store.result(WANTED, key):
            case {"requires": [*known]}:
                return tuple(map(str, known))
        asked = ask_requirements(project, room, self.doors)
        self.doors.store.remember(WANTED, key, {"requires": list(asked)})
        return asked

    def _made_before(self, before: KeptBuild | None, made_of: tuple[object, ...]) -> "_Made | None":
        """The wheel that is locked already, if it was made of the same and is still to be had."""
        if before is None or before.build.made_of != made_of:
            return None
        file = before.wheel.file
        return _Made(file, before.build.repeatable) if take_kept(file, self.ground, self.doors) else None

    def _twice(self, project: Project, room: Room) -> "_Made":
        key, store = _key(project, room), self.doors.store
        match store.result(BUILT, key):
            case {"name": str(known), "sha256": str(sha256), "warnings": [*lines]}:
                if store.has(digest := Digest.parse(sha256)):
                    file = LockedFile(known, digest, store.size(digest))
                    return _Made(file, not lines, tuple(map(str, lines)))
        name, first = build_once(project, room, self.doors)
        _, second = build_once(project, room, self.doors)
        warnings = () if first == second else (_difference(project, differences(store, first, second)),)
        store.remember(BUILT, key, {"name": name, "sha256": str(first), "warnings": warnings})
        return _Made(LockedFile(name, first, store.size(first)), not warnings, warnings)


@frozen
class _Made:
    """What came out of building."""

    file: LockedFile
    repeatable: bool
    warnings: tuple[str, ...] = ()


def _difference(project: Project, members: str) -> str:
    return (
        f"{project.title}: two builds differ in {members}, so the wheel is kept in {FOLDER}/ beside the lock"
    )


def _key(project: Project, room: Room) -> Digest:
    """Of everything that a built wheel depends on."""
    system = project.system
    return digest_json(
        {
            "tree": str(project.tree),
            "subdirectory": project.subdirectory,
            "backend": system.backend,
            "backend_path": system.backend_path,
            "room": room.to_json(),
        }
    )
