"""Locked files on their way into the store, from wherever the user's configuration finds them today; and bytecode."""

import contextlib
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from reprobridge.digest import Digest
from reprobridge.lock.doors import Doors
from reprobridge.lock.fetch import AddressBook, Fetcher, Progress, Wanted
from reprobridge.lock.model import Lock, LockedDebian, LockedPlatform, LockedWheel

if TYPE_CHECKING:
    from reprobridge.plan.model import BytecodeRecipe
    from reprobridge.store.store import Store


class LockedArrivals:
    """Brings the wheels and Debian packages of one locked platform."""

    def __init__(self, wanted: Mapping[Digest, Wanted], doors: Doors, progress: Progress | None) -> None:
        """`wanted`: every file that may be asked for (`wanted_files`)."""
        self._wanted = wanted
        self._doors = doors
        self._fetcher = Fetcher(doors.store, doors.network, vendored=doors.vendored, progress=progress)

    def bring(self, wanted: Iterable[Digest]) -> Generator[Digest]:
        """Each wanted file's digest as soon as it is in the store."""
        with contextlib.closing(self._fetcher.fetch([self._wanted[digest] for digest in wanted])) as files:
            for file in files:
                yield file.sha256

    def compile(self, recipes: "Sequence[BytecodeRecipe]", store: "Store") -> None:
        """Have what is compiled for these recipes in that store; errors as for `compile_in_room`."""
        from reprobridge.assemble.bytecode.room import compile_in_room

        compile_in_room(recipes, store, self, self._doors)


def wanted_files(lock: Lock, platform: str, doors: Doors) -> dict[Digest, Wanted]:
    """Every published file of a platform as something to fetch; nothing is looked up yet."""
    return published_files(lock.platforms[platform], lock.template, platform, doors)


def published_files(
    locked: LockedPlatform, template: str, platform: str, doors: Doors
) -> dict[Digest, Wanted]:
    """Wheels, Debian packages and sdists. Wheels that were built stand here too: with no address to be had at."""
    built = {build.name for build in locked.python.builds}
    published = [wheel for wheel in locked.python.wheels if wheel.name not in built]
    asked = (*published, *locked.python.build_wheels)
    wheels = AddressBook(lambda: _wheel_addresses(asked, template, platform, doors))
    debs = AddressBook(lambda: _deb_addresses(locked.debian, doors))
    files = [wheel.file for wheel in (*locked.python.wheels, *locked.python.build_wheels)]
    wanted = {file.sha256: wheels.of(file) for file in files}
    wanted |= {deb.sha256: debs.of(deb.file, template) for deb in locked.debian.base}
    wanted |= {deb.sha256: debs.of(deb.file) for deb in locked.debian.extra}
    if built:
        from reprobridge.lock.sdist.source import wanted_sdists

        wanted |= {sdist.sha256: sdist for sdist in wanted_sdists(locked.python.builds, doors)}
    return wanted


def _deb_addresses(locked: LockedDebian, doors: Doors) -> Mapping[Digest, Sequence[str]]:
    from reprobridge.lock.debian.mirrors import deb_urls, read_settings

    settings = read_settings(doors.environment)
    debs = (*locked.base, *locked.extra)
    return {deb.sha256: deb_urls(deb, locked.suites, settings) for deb in debs}


def _wheel_addresses(
    wheels: Sequence[LockedWheel], template: str, platform: str, doors: Doors
) -> Mapping[Digest, Sequence[str]]:
    from reprobridge.lock.freshness import python_target
    from reprobridge.lock.pypi import find_urls
    from reprobridge.lock.template import load_template

    return find_urls(wheels, python_target(load_template(template), platform), doors)
