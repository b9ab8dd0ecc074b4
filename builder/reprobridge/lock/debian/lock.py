"""Locking Debian packages: a template's own, and what a paper adds on top of them."""

from collections.abc import Sequence

from reprobridge.digest import Digest
from reprobridge.frozen import frozen
from reprobridge.lock.debian.index import IndexSources, SuiteIndex, read_suite
from reprobridge.lock.debian.resolve import Present, resolve
from reprobridge.lock.debian.universe import Universe
from reprobridge.lock.debian.wish import wish_digest
from reprobridge.lock.model import LockedDebian, LockedSuite
from reprobridge.lock.template import Template
from reprobridge.lock.template_lock import LockedBase, TemplateLock


@frozen(kw_only=True)
class DebianWish:
    """What a paper wants of Debian on one platform."""

    template: Template
    """Base system."""
    base: LockedBase
    """Its exact packages: of the shipped template lock, of an earlier lock, or made anew by `lock_base`."""
    packages: tuple[str, ...]
    """Wanted besides the template's."""
    platform: str
    """Image platform, for example `linux/amd64`."""

    def digest(self) -> Digest:
        """Digest of the wish, by which a lock's section is known to be fresh; the base's versions don't count."""
        return wish_digest(self.template, self.packages, self.platform)


def lock_debian(wish: DebianWish, sources: IndexSources) -> LockedDebian:
    """The exact packages of a paper; without extra packages nothing is fetched.

    The base's packages stay as they are; what they do not satisfy is taken from the suites as they are now.
    Raises LockError (unknown package, conflict, a base too old, a bad index) or NetworkError.
    """
    wanted = sorted(set(wish.packages))
    if not wanted:
        return LockedDebian(wish=wish.digest(), suites=wish.base.suites, base=wish.base.debs, extra=())
    indexes = _read_suites(wish.template, wish.platform, sources, wish.base.suites)
    present = {deb.name: Present(deb.version, wish.base.provides.get(deb.name, "")) for deb in wish.base.debs}
    extra = resolve(Universe(indexes), wanted, present)
    suites = {*wish.base.suites, *(index.locked for index in indexes)}
    return LockedDebian(
        wish=wish.digest(),
        suites=tuple(sorted(suites, key=_suite_order)),
        base=wish.base.debs,
        extra=tuple(package.locked() for package in extra),
    )


def lock_base(template: Template, platform: str, sources: IndexSources) -> LockedBase:
    """A template's packages on one platform, as the suites have them now. Raises LockError or NetworkError."""
    indexes = _read_suites(template, platform, sources, ())
    universe = Universe(indexes)
    packages = resolve(universe, [*universe.essential(), *template.packages], {})
    return LockedBase(
        suites=tuple(sorted((index.locked for index in indexes), key=_suite_order)),
        debs=tuple(package.locked() for package in packages),
        provides={
            package.name: " ".join(package.fields["Provides"].split())
            for package in packages
            if package.fields.get("Provides")
        },
    )


def lock_template(template: Template, sources: IndexSources) -> TemplateLock:
    """A template's packages on all its platforms."""
    platforms = {
        platform: lock_base(template, platform, sources) for platform in sorted(template.architectures)
    }
    return TemplateLock(template=template.name, wish=template.wish(), platforms=platforms)


def _read_suites(
    template: Template, platform: str, sources: IndexSources, locked: Sequence[LockedSuite]
) -> list[SuiteIndex]:
    architecture = template.architecture(platform)
    oldest = {suite.suite: suite.date for suite in locked}
    return [
        read_suite(sources, template, suite, architecture, oldest.get(suite.suite, ""))
        for suite in template.suites
    ]


def _suite_order(suite: LockedSuite) -> tuple[str, str, str]:
    return suite.archive, suite.suite, suite.date
