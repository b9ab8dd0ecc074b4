"""Locked files on their way into the store, from wherever the user's configuration finds them today."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from reprobridge.digest import Digest
from reprobridge.lock.doors import Doors
from reprobridge.lock.fetch import AddressBook, Fetcher, Progress, Wanted
from reprobridge.lock.model import Lock, LockedDebian


class LockedArrivals:
    """Brings the wheels and Debian packages of one locked platform."""

    def __init__(self, lock: Lock, platform: str, doors: Doors, progress: Progress | None) -> None:
        self._wanted = wanted_files(lock, platform, doors)
        self._fetcher = Fetcher(doors.store, doors.network, vendored=doors.vendored, progress=progress)

    def bring(self, wanted: Iterable[Digest]) -> Iterator[Digest]:
        """Each wanted file's digest as soon as it is in the store."""
        for arrived in self._fetcher.fetch([self._wanted[digest] for digest in wanted]):
            yield arrived.sha256


def wanted_files(lock: Lock, platform: str, doors: Doors) -> dict[Digest, Wanted]:
    """Every wheel and Debian package of a platform as something to fetch; nothing is looked up yet."""
    locked = lock.platforms[platform]
    wheels = AddressBook(lambda: _wheel_addresses(lock, platform, doors))
    debs = AddressBook(lambda: _deb_addresses(locked.debian, doors))
    wanted = {wheel.file.sha256: wheels.of(wheel.file) for wheel in locked.python.wheels}
    for deb in (*locked.debian.base, *locked.debian.extra):
        wanted[deb.sha256] = debs.of(deb.file)
    return wanted


def _deb_addresses(locked: LockedDebian, doors: Doors) -> Mapping[Digest, Sequence[str]]:
    from reprobridge.lock.debian.mirrors import deb_urls, read_settings

    settings = read_settings(doors.environment)
    debs = (*locked.base, *locked.extra)
    return {deb.sha256: deb_urls(deb, locked.suites, settings) for deb in debs}


def _wheel_addresses(lock: Lock, platform: str, doors: Doors) -> Mapping[Digest, Sequence[str]]:
    from reprobridge.lock.freshness import python_target
    from reprobridge.lock.pypi import find_urls
    from reprobridge.lock.template import load_template

    target = python_target(load_template(lock.template), platform)
    return find_urls(lock.platforms[platform].python.wheels, target, doors)
