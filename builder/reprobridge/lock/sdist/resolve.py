"""Resolving requirements some of which have no wheel: whatever must be built is built on the way.

A source that a requirement names is built first and offered to uv as a wheel. Of packages without a wheel uv may
choose sdists; what a chosen one depends on is known only when it is built, so uv is asked again until it
chooses nothing that is still unknown. It ends, since each round builds a release or names a package that none
before did.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.digest import Digest
from reprobridge.errors import LockError
from reprobridge.frozen import replace
from reprobridge.lock.fetch import Wanted
from reprobridge.lock.model import LockedPython, LockedWheel
from reprobridge.lock.pypi_choice import Answer, take_wheels
from reprobridge.lock.pypi_uv import NoWheelError, Question, address, compile_pylock
from reprobridge.lock.sdist.build import Bench, Built
from reprobridge.lock.sdist.kept import keep_beside
from reprobridge.lock.sdist.source import ToBuild, bring_sdist, bring_wish
from reprobridge.spec.requirement_source import SourceWish
from reprobridge.system import files

if TYPE_CHECKING:
    from packaging.pylock import Package, Pylock

    from reprobridge.lock.pypi_wish import Asked


def resolve_building(
    asked: "Asked", question: Question, bench: Bench
) -> tuple[LockedPython, tuple[str, ...]]:
    """The packages that answer the question, with what was built of them, and warnings.

    Raises LockError for what can't be resolved or built, and what fetching and sandboxes raise.
    """
    with files.scratch_folder(bench.doors.scratch) as folder:
        search = _Search(bench, folder)
        lines = [search.offer(wish) for wish in asked.sources if _is_wanted(wish, bench)]
        question = replace(question, requirements=asked.published + "".join(f"{line}\n" for line in lines))
        question, pylock = search.settle(question)
        names = asked.names | search.offered.keys()
        built = search.chosen(pylock)
        answer = Answer(
            question=question,
            pylock=pylock,
            requested=frozenset(names),
            built={name: one.file for name, one in built.items()},
        )
        taken = take_wheels(answer, bench.doors)
    builds = [replace(one.build, index=taken.origins.get(name)) for name, one in sorted(built.items())]
    for one in built.values():
        if not one.build.repeatable:
            keep_beside(one.file, bench.ground, bench.doors)
    locked = LockedPython(
        wish=bench.request.digest(),
        version=bench.ground.target.version,
        interpreter=bench.ground.target.interpreter,
        wheels=taken.wheels,
        builds=tuple(builds),
        build_wheels=_distinct(built.values()),
    )
    return locked, (
        *taken.warnings,
        *(warning for _, one in sorted(built.items()) for warning in one.warnings),
    )


class _Search:
    """What was built so far."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        """`folder` takes wheels under their names, for uv."""
        self._bench, self._folder = bench, folder
        self._sdists: dict[tuple[str, str], Built] = {}
        self.offered: dict[str, Built] = {}
        """Wheels of the sources that requirements name, by project."""

    def offer(self, wish: SourceWish) -> str:
        """Build a source; the requirement for its wheel."""
        built = self._bench.build(bring_wish(wish, self._bench.ground.folder, self._bench.doors))
        name = built.dependencies.name
        if name in self.offered:
            raise LockError("two requirements name one project", where=wish.place, found=name)
        self.offered[name] = built
        path = self._folder / built.file.name
        files.link_or_copy(self._bench.doors.store.path(built.file.sha256), path)
        return wish.as_requirement(name, path.as_uri())

    def settle(self, question: Question) -> tuple[Question, "Pylock"]:
        """Ask until everything that is chosen is known; the last question and its answer."""
        while True:
            known = tuple(built.dependencies for built in self._sdists.values())
            question = replace(question, metadata=known)
            try:
                pylock = compile_pylock(question, self._bench.doors)
            except NoWheelError as error:
                more = [name for name in error.names if name not in question.unpublished]
                if not more:
                    raise
                question = replace(question, unpublished=(*question.unpublished, *more))
                continue
            sdists = [package for package in pylock.packages if package.name in question.unpublished]
            unknown = [package for package in sdists if _release(package) not in self._sdists]
            if not unknown:
                return question, pylock
            for package in unknown:
                self._sdists[_release(package)] = self._bench.build(_of_release(package, self._bench))

    def chosen(self, pylock: "Pylock") -> dict[str, Built]:
        """What of all that was built belongs to the answer, by name."""
        releases = map(_release, pylock.packages)
        built = {
            name: self._sdists[name, version] for name, version in releases if (name, version) in self._sdists
        }
        return self.offered | built


def _release(package: "Package") -> tuple[str, str]:
    return package.name, str(package.version)


def _of_release(package: "Package", bench: Bench) -> ToBuild:
    """A release's sdist, which is fetched."""
    sdist = package.sdist
    if sdist is None or "sha256" not in sdist.hashes:
        raise LockError("an index gives no SHA-256 of an sdist", where=f"{package.name} {package.version}")
    url = address(sdist)
    wanted = Wanted(
        name=sdist.filename,
        sha256=Digest(sdist.hashes["sha256"].lower()),
        size=sdist.size,
        addresses=lambda: (url,),
    )
    return ToBuild(
        kind="sdist",
        origin=f"{package.name}=={package.version}",
        source=bring_sdist(wanted, bench.doors),
        name=package.name,
    )


def _is_wanted(wish: SourceWish, bench: Bench) -> bool:
    """Whether the target requires it at all."""
    from packaging.markers import Marker

    return not wish.marker or Marker(wish.marker).evaluate(dict(bench.ground.target.markers()))


def _distinct(built: Iterable[Built]) -> tuple[LockedWheel, ...]:
    """Everything that was built with, each file once."""
    wheels = {wheel.file.sha256: replace(wheel, requested=False) for one in built for wheel in one.requires}
    return tuple(sorted(wheels.values(), key=lambda wheel: (wheel.name, wheel.version, wheel.file)))
