"""Locking Debian packages against a signed archive on a local server."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reprobridge.errors import ArtifactError, LockError
from reprobridge.lock.debian.index import IndexSources
from reprobridge.lock.debian.lock import DebianWish, lock_base, lock_debian, lock_template
from reprobridge.lock.debian.mirrors import DebianSettings, deb_urls
from reprobridge.lock.debian.wish import wish_digest
from reprobridge.lock.fetch import Fetcher, Wanted
from reprobridge.lock.model import LockedDeb, LockedDebian
from reprobridge.lock.template import Certificate, Template, TemplateSuite
from reprobridge.lock.template_lock import parse_template_lock
from reprobridge.store.store import Store
from reprobridge.system.network import Network, Offline, RealNetwork
from support.debian_archive import DebianArchive, signing_key
from support.debs import Deb, DebSource, build_deb
from support.file_server import FileServer, wrong_bytes

PLATFORM = "linux/amd64"
TEMPLATE = Template(
    name="test",
    title="Test",
    suites=(TemplateSuite("debian", "bookworm"), TemplateSuite("debian-security", "bookworm-security")),
    components=("main",),
    packages=("python3",),
    python="3.11",
    interpreter="/usr/bin/python3.11",
    glibc="2.36",
    architectures={PLATFORM: "amd64"},
    keyring=(Certificate(signing_key().fingerprint.upper(), signing_key().certificate),),
)


def deb(package: str, version: str = "1", **fields: str) -> Deb:
    """A package with these control fields."""
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return build_deb(DebSource(package=package, version=version, fields=named))


BASH = deb("bash", Essential="yes", Provides="shell")
PYTHON = deb("python3", Depends="libc6 (>= 2)")
LIBC = deb("libc6", "2.36")
GIT = deb("git", Depends="libc6 (>= 2), shell, libcurl")
CURL = deb("libcurl", Depends="libc6")


class Archives:
    """The two archives of a mirror, and how to lock against it."""

    def __init__(self, server: FileServer, store: Store) -> None:
        self.server, self.store = server, store
        self.main = DebianArchive.create(server)
        self.security = DebianArchive.create(server, at="/debian-security")
        self.publish([BASH, PYTHON, LIBC, GIT, CURL])

    def publish(self, debs: Sequence[Deb], security: Sequence[Deb] = (), date: str | None = None) -> None:
        """A new state of both archives."""
        dated = {"date": date} if date else {}
        self.main.publish("bookworm", debs, **dated)
        self.security.publish("bookworm-security", security, **dated)

    @property
    def settings(self) -> DebianSettings:
        mirrors = {"debian": (self.main.url,), "debian-security": (self.security.url,)}
        return DebianSettings(mirrors=mirrors, snapshot=self.server.url + "/snapshot")

    def sources(self, network: Network | None = None) -> IndexSources:
        """What locking reads."""
        return IndexSources(
            network=network or RealNetwork(pause=lambda _: None),
            store=self.store,
            settings=self.settings,
            now=datetime(2025, 6, 1, tzinfo=UTC),
        )

    def wish(self, *packages: str) -> DebianWish:
        """A wish on top of the base as it is now."""
        base = lock_base(TEMPLATE, PLATFORM, self.sources())
        return DebianWish(template=TEMPLATE, base=base, packages=packages, platform=PLATFORM)

    def fetch(self, locked: LockedDebian, package: LockedDeb) -> bytes:
        """A locked package's bytes, from wherever they can be had."""
        urls = deb_urls(package, locked.suites, self.settings)
        wanted = Wanted(name=package.name, sha256=package.sha256, size=package.size, addresses=lambda: urls)
        Fetcher(self.store, RealNetwork(pause=lambda _: None)).fetch_one(wanted)
        return self.store.read(package.sha256)


@pytest.fixture
def archives(file_server: FileServer, tmp_path: Path) -> Archives:
    """A mirror with a small Debian."""
    return Archives(file_server, Store(tmp_path / "store"))


def names(debs: Sequence[LockedDeb]) -> list[str]:
    """Package names."""
    return [package.name for package in debs]


def test_a_base_is_the_essential_packages_and_the_templates_with_what_they_need(archives: Archives) -> None:
    base = lock_base(TEMPLATE, PLATFORM, archives.sources())
    assert names(base.debs) == ["bash", "libc6", "python3"]
    assert base.provides == {"bash": "shell"}
    assert [suite.suite for suite in base.suites] == ["bookworm", "bookworm-security"]
    assert base.debs[1].pool == LIBC.pool_path
    assert (base.debs[1].sha256.hex, base.debs[1].size) == (LIBC.sha256, len(LIBC.data))


def test_without_extra_packages_nothing_is_fetched(archives: Archives) -> None:
    wish = archives.wish()
    locked = lock_debian(wish, archives.sources(Offline()))
    assert locked.base == wish.base.debs
    assert locked.suites == wish.base.suites
    assert locked.extra == ()


def test_extra_packages_stand_on_the_base(archives: Archives) -> None:
    locked = lock_debian(archives.wish("git"), archives.sources())
    assert names(locked.extra) == ["git", "libcurl"]
    assert names(locked.base) == ["bash", "libc6", "python3"]


def test_a_security_update_is_preferred_and_keeps_its_archive(archives: Archives) -> None:
    fixed = deb("libcurl", "1+deb12u1", Depends="libc6")
    archives.publish([BASH, PYTHON, LIBC, GIT, CURL], security=[fixed])
    extra = lock_debian(archives.wish("git"), archives.sources()).extra
    assert [(package.version, package.archive) for package in extra[1:]] == [("1+deb12u1", "debian-security")]


def test_a_later_extra_leaves_the_base_as_it_is_and_adds_its_suites(archives: Archives) -> None:
    wish = archives.wish("git")
    newer = deb("libc6", "2.37")
    archives.publish([BASH, PYTHON, newer, GIT, CURL], date="Thu, 01 May 2025 00:00:00 UTC")
    locked = lock_debian(wish, archives.sources())
    assert [package.version for package in locked.base if package.name == "libc6"] == ["2.36"]
    dates = [suite.date for suite in locked.suites if suite.archive == "debian"]
    assert dates == ["20250101T000000Z", "20250501T000000Z"]


def test_an_extra_that_needs_a_newer_base_is_refused_with_the_way_out(archives: Archives) -> None:
    wish = archives.wish("git")
    archives.publish([BASH, PYTHON, deb("libc6", "2.37"), deb("git", "2", Depends="libc6 (>= 2.37)")])
    with pytest.raises(LockError, match="--upgrade-template"):
        lock_debian(wish, archives.sources())


def test_locking_twice_gives_the_same(archives: Archives) -> None:
    wish = archives.wish("git")
    assert lock_debian(wish, archives.sources()) == lock_debian(wish, archives.sources())


def test_the_wish_is_of_names_and_template_not_of_versions() -> None:
    wish = wish_digest(TEMPLATE, ["b", "a", "a"], PLATFORM)
    assert wish == wish_digest(TEMPLATE, ["a", "b"], PLATFORM)
    assert wish != wish_digest(TEMPLATE, ["a"], PLATFORM)


def test_a_platform_that_the_template_lacks_is_an_error() -> None:
    with pytest.raises(LockError, match="not made for linux/riscv64"):
        wish_digest(TEMPLATE, [], "linux/riscv64")


def test_a_template_lock_reads_back_as_written_one_package_a_line(archives: Archives) -> None:
    locked = lock_template(TEMPLATE, archives.sources())
    assert parse_template_lock(locked.to_bytes()) == locked
    lines = locked.to_bytes().decode().splitlines()
    assert len([line for line in lines if '"pool"' in line]) == 3
    assert archives.server.url not in locked.to_bytes().decode()


def test_an_old_lock_finds_its_packages_in_the_snapshot(archives: Archives) -> None:
    locked = lock_debian(archives.wish("git"), archives.sources())
    curl = locked.extra[1]
    archives.server.remove(f"/debian/{curl.pool}")
    archives.server.put(f"/snapshot/archive/debian/20250101T000000Z/{curl.pool}", CURL.data)
    archives.server.forget_requests()
    assert archives.fetch(locked, curl) == CURL.data
    assert archives.server.paths() == [
        f"/debian/{curl.pool}",
        f"/snapshot/archive/debian/20250101T000000Z/{curl.pool}",
    ]
    archives.server.forget_requests()
    archives.fetch(locked, curl)
    assert archives.server.paths() == []


def test_a_package_with_wrong_bytes_everywhere_is_an_error_that_names_both_digests(
    archives: Archives,
) -> None:
    locked = lock_debian(archives.wish("git"), archives.sources())
    curl = locked.extra[1]
    archives.server.fail(f"/debian/{curl.pool}", wrong_bytes(index=20))
    with pytest.raises(ArtifactError, match=str(curl.sha256)):
        archives.fetch(locked, curl)
