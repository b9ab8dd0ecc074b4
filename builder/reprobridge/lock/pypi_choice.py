"""Choosing wheels: uv resolves, the target's tags and markers pick one file for each package."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote, urlsplit, urlunsplit

from reprobridge.digest import Digest
from reprobridge.errors import LockError
from reprobridge.frozen import frozen, replace
from reprobridge.lock.doors import Doors
from reprobridge.lock.model import LockedFile, LockedWheel
from reprobridge.lock.pypi_settings import index_settings
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.lock.pypi_uv import Question, address, compile_pylock, compile_sources
from reprobridge.lock.pypi_wish import PythonRequest

if TYPE_CHECKING:
    from packaging.pylock import Package, PackageArchive, PackageWheel, Pylock


def choose_wheels(
    request: PythonRequest, kept: Sequence[LockedWheel], doors: Doors
) -> tuple[LockedWheel, ...]:
    """The wheels that answer the request, sorted by name. Raises LockError, NetworkError."""
    requested = request.requested()
    if not requested:
        return ()
    question = _question(request, kept, doors)
    chosen = sorted(_choose(compile_pylock(question, doors), request.target), key=lambda one: one.name)
    origins = _origins(request, question, chosen, doors)
    return tuple(
        LockedWheel(
            name=one.name,
            version=one.version,
            file=LockedFile(one.file_name, one.sha256, one.size or _measure(one, doors)),
            requested=one.name in requested,
            index=origins.get(one.name),
            url=one.url if one.direct else None,
        )
        for one in chosen
    )


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


def _question(request: PythonRequest, kept: Sequence[LockedWheel], doors: Doors) -> Question:
    return Question(
        requirements=request.requirements,
        constraints=request.constraints,
        target=request.target,
        settings=index_settings(doors.environment, author_first=bool(request.indexes)),
        preferred=kept,
        indexes=request.indexes,
        cutoff=request.cutoff(),
    )


def _choose(pylock: "Pylock", target: PythonTarget) -> Iterator[_Chosen]:
    """One wheel for each package, by the target's tags and markers. Raises LockError where there is none."""
    from packaging.markers import Environment
    from packaging.pylock import PackageArchive, PackageWheel, PylockSelectError

    environment = cast(Environment, target.markers())
    try:
        for package, source in pylock.select(environment=environment, tags=target.tags()):
            if isinstance(source, PackageWheel):
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
    )


def _no_wheel(name: str, found: str) -> LockError:
    return LockError(
        "a package has no wheel for the target",
        where=f"environment.python: {name}",
        expected="a wheel",
        found=f"only the package's {found}",
        hint="this release takes wheels only; choose a version that has one",
    )


def _measure(chosen: _Chosen, doors: Doors) -> int:
    """Size of a wheel whose index doesn't say it: it is fetched, which has to be done anyway."""
    from reprobridge.lock.fetch import Fetcher, Wanted

    wanted = Wanted(name=chosen.file_name, sha256=chosen.sha256, size=None, addresses=lambda: (chosen.url,))
    Fetcher(doors.store, doors.network, vendored=doors.vendored).fetch_one(wanted)
    return doors.store.size(chosen.sha256)


def _origins(
    request: PythonRequest, question: Question, chosen: Sequence[_Chosen], doors: Doors
) -> Mapping[str, str]:
    """Which package comes from which index of the spec, by name."""
    if not request.indexes:
        return {}
    pins = "".join(f"{one.name}=={one.version}\n" for one in chosen if not one.direct)
    pinned = replace(question, requirements=pins, constraints="", preferred=(), follow=False)
    ours = {_plain(index): index for index in request.indexes}
    found = compile_sources(pinned, doors)
    return {name: ours[_plain(index)] for name, index in found.items() if _plain(index) in ours}


def _file_name(url: str) -> str:
    return unquote(urlsplit(url).path).rpartition("/")[2]


def _plain(index: str) -> str:
    """An index's address without what differs between two ways of writing it."""
    parts = urlsplit(index)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
