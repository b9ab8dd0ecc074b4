"""Choosing wheels: uv resolves, the target's tags and markers pick one file for each package."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote, urlsplit, urlunsplit

from reprobridge.digest import Digest
from reprobridge.errors import LockError
from reprobridge.frozen import field, frozen, replace
from reprobridge.lock.doors import Doors
from reprobridge.lock.model import LockedFile, LockedWheel
from reprobridge.lock.pypi_settings import index_settings
from reprobridge.lock.pypi_uv import Question, address, compile_pylock, compile_sources
from reprobridge.lock.pypi_wish import PythonRequest

if TYPE_CHECKING:
    from packaging.pylock import Package, PackageArchive, PackageWheel, Pylock


def choose_published(request: PythonRequest, kept: Sequence[LockedWheel], doors: Doors) -> "Taken":
    """The wheels that answer the request, all of them published.

    `kept` are versions to stay at. Raises NoWheelError for packages without one, LockError, NetworkError.
    """
    asked = request.asked()
    if asked.sources:
        raise LockError(
            "only releases can be named here", expected="a release", found=asked.sources[0].origin
        )
    if not asked.names:
        return Taken((), {})
    question = ask_for(request, kept, doors)
    pylock = compile_pylock(question, doors)
    return take_wheels(Answer(question=question, pylock=pylock, requested=asked.names), doors)


def ask_for(request: PythonRequest, kept: Sequence[LockedWheel], doors: Doors) -> Question:
    """The question that a request puts to uv."""
    return Question(
        requirements=request.requirements,
        constraints=request.constraints,
        target=request.target,
        settings=index_settings(doors.environment, author_first=bool(request.indexes)),
        preferred=kept,
        indexes=request.indexes,
        cutoff=request.cutoff(),
        places=request.places(),
    )


@frozen(kw_only=True)
class Answer:
    """What uv found."""

    question: Question
    """What it was asked."""
    pylock: "Pylock"
    """Its answer."""
    requested: frozenset[str]
    """Names that the requirements ask for."""
    built: Mapping[str, LockedFile] = field(default_factory=dict)
    """Wheels of ours for packages that have none, by name."""


@frozen
class Taken:
    """One wheel for each package."""

    wheels: tuple[LockedWheel, ...]
    """Sorted by name."""
    origins: Mapping[str, str]
    """Which package, built ones included, comes from which index of the spec."""
    undated: tuple[str, ...] = ()
    """Packages, with their versions, of which nobody says since when they exist, though that counts."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is odd but no error, for people."""
        if not self.undated:
            return ()
        packages = ", ".join(self.undated)
        return (
            f"exclude_newer may not hold for {packages}, found where no dates of upload stand (find-links)",
        )


def take_wheels(answer: Answer, doors: Doors) -> Taken:
    """Take one wheel for each package that was found. Raises LockError, NetworkError."""
    chosen = sorted(_choose(answer), key=lambda one: one.name)
    origins = _origins(answer.question, chosen, doors)
    wheels = tuple(
        LockedWheel(
            name=one.name,
            version=one.version,
            file=LockedFile(one.file_name, one.sha256, one.size or _measure(one, doors)),
            requested=one.name in answer.requested,
            index=None if one.name in answer.built else origins.get(one.name),
            url=one.url if one.direct and one.name not in answer.built else None,
        )
        for one in chosen
    )
    undated = tuple(f"{one.name} {one.version}" for one in chosen if not one.dated and not one.direct)
    return Taken(wheels, origins, undated if answer.question.cutoff else ())


@frozen(kw_only=True)
class _Chosen:
    """A wheel of uv's answer."""

    name: str
    version: str
    file_name: str
    sha256: Digest
    size: int | None
    """None when the index doesn't say."""
    url: str
    """Where it is today."""
    direct: bool
    """Whether the requirement itself names the address."""
    dated: bool
    """Whether the index says when it was uploaded; uv leaves out what came too late only then."""


def _choose(answer: Answer) -> Iterator[_Chosen]:
    """One wheel for each package, by the target's tags and markers. Raises LockError where there is none."""
    from packaging.markers import Environment
    from packaging.pylock import PackageArchive, PackageWheel, PylockSelectError

    target = answer.question.target
    environment = cast(Environment, target.markers())
    try:
        for package, source in answer.pylock.select(environment=environment, tags=target.tags()):
            if package.name in answer.built:
                yield _from_build(package, answer.built[package.name])
            elif isinstance(source, PackageWheel):
                yield _from_wheel(package, source, source.filename, direct=False)
            elif (
                isinstance(source, PackageArchive) and source.url and _file_name(source.url).endswith(".whl")
            ):
                yield _from_wheel(package, source, _file_name(source.url), direct=True)
            else:
                raise _no_wheel(package.name, type(source).__name__.removeprefix("Package").lower())
    except PylockSelectError as error:
        raise LockError(
            "a package has no wheel for the target", where="environment.python", found=str(error)
        ) from error


def _from_build(package: "Package", file: LockedFile) -> _Chosen:
    from packaging.utils import parse_wheel_filename

    return _Chosen(
        name=package.name,
        version=str(parse_wheel_filename(file.name)[1]),
        file_name=file.name,
        sha256=file.sha256,
        size=file.size,
        url="",
        direct=package.sdist is None,
        dated=package.sdist is not None and package.sdist.upload_time is not None,
    )


def _from_wheel(
    package: "Package", source: "PackageWheel | PackageArchive", file_name: str, *, direct: bool
) -> _Chosen:
    from packaging.utils import parse_wheel_filename

    if "sha256" not in source.hashes:
        raise LockError(
            "an index gives no SHA-256 of a wheel", where=file_name, found=", ".join(sorted(source.hashes))
        )
    return _Chosen(
        name=package.name,
        version=str(package.version or parse_wheel_filename(file_name)[1]),
        file_name=file_name,
        sha256=Digest(source.hashes["sha256"].lower()),
        size=source.size,
        url=address(source),
        direct=direct,
        dated=source.upload_time is not None,
    )


def _no_wheel(name: str, found: str) -> LockError:
    return LockError(
        "a package has no wheel for the target",
        where=f"environment.python: {name}",
        expected="a wheel",
        found=f"only the package's {found}",
        hint="choose a version that has one",
    )


def _measure(chosen: _Chosen, doors: Doors) -> int:
    """Size of a wheel whose index doesn't say it: it is fetched, which has to be done anyway."""
    from reprobridge.lock.fetch import Fetcher, Wanted

    wanted = Wanted(name=chosen.file_name, sha256=chosen.sha256, size=None, addresses=lambda: (chosen.url,))
    Fetcher(doors.store, doors.network, vendored=doors.vendored).fetch_one(wanted)
    return doors.store.size(chosen.sha256)


def _origins(question: Question, chosen: Sequence[_Chosen], doors: Doors) -> Mapping[str, str]:
    """Which package comes from which index of the spec, by name."""
    if not question.indexes:
        return {}
    pins = "".join(f"{one.name}=={one.version}\n" for one in chosen if not one.direct)
    pinned = replace(question, requirements=pins, constraints="", preferred=(), follow=False)
    ours = {_plain(index): index for index in question.indexes}
    found = compile_sources(pinned, doors)
    return {name: ours[_plain(index)] for name, index in found.items() if _plain(index) in ours}


def _file_name(url: str) -> str:
    return unquote(urlsplit(url).path).rpartition("/")[2]


def _plain(index: str) -> str:
    """An index's address without what differs between two ways of writing it."""
    parts = urlsplit(index)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
