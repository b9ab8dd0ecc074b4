"""Finding locked wheels again: pinned names compiled without dependencies give today's addresses."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from reprobridge.digest import Digest
from reprobridge.errors import LockError
from reprobridge.frozen import frozen
from reprobridge.lock.doors import Doors
from reprobridge.lock.model import LockedWheel
from reprobridge.lock.pypi_refusal import OfflineError
from reprobridge.lock.pypi_settings import IndexSettings, index_settings, single_index
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.lock.pypi_uv import Question, address, compile_pylock

if TYPE_CHECKING:
    from packaging.pylock import Pylock


def find_addresses(
    wheels: Sequence[LockedWheel], target: PythonTarget, doors: Doors
) -> dict[Digest, tuple[str, ...]]:
    """Addresses by SHA-256; wheels that no index has any more are left out. Raises NetworkError."""
    found: dict[Digest, tuple[str, ...]] = {
        wheel.file.sha256: (wheel.url,) for wheel in wheels if wheel.url is not None
    }
    by_index: dict[str | None, list[LockedWheel]] = {}
    for wheel in wheels:
        if wheel.url is None:
            by_index.setdefault(wheel.index, []).append(wheel)
    for index, group in by_index.items():
        settings = (
            index_settings(doors.environment, author_first=False)
            if index is None
            else single_index(doors.environment, index)
        )
        for pylock in _look_up(group, _Search(target, settings, doors)):
            for sha256, url in _addresses(pylock):
                found[sha256] = (*found.get(sha256, ()), url)
    return found


@frozen
class _Search:
    """Where and for what wheels are looked up."""

    target: PythonTarget
    settings: IndexSettings
    doors: Doors


def _look_up(wheels: Sequence[LockedWheel], search: _Search) -> Iterator["Pylock"]:
    """What uv answers for pinned wheels; what is gone is found by halves, so that it hides nothing else."""
    question = Question(
        requirements="".join(f"{wheel.name}=={wheel.version}\n" for wheel in wheels),
        target=search.target,
        settings=search.settings,
        follow=False,
    )
    try:
        yield compile_pylock(question, search.doors)
    except (LockError, OfflineError):
        if len(wheels) > 1:
            half = len(wheels) // 2
            yield from _look_up(wheels[:half], search)
            yield from _look_up(wheels[half:], search)


def _addresses(pylock: "Pylock") -> Iterator[tuple[Digest, str]]:
    for package in pylock.packages:
        for wheel in package.wheels or ():
            if "sha256" in wheel.hashes:
                yield Digest(wheel.hashes["sha256"].lower()), address(wheel)
