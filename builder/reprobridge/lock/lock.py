"""`reprobridge lock` as a function: answering the spec's wishes.

Each section of a lock carries the digest of the wish that it answers. Locking again answers only the wishes
that changed (or that shall be upgraded) and keeps every other section as it is, so that an edit of the source
asks no index and moves no package. What resolves is imported when there is something to resolve.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.frozen import frozen, replace
from reprobridge.lock.commands import missing_files
from reprobridge.lock.cuda import unknown_driver
from reprobridge.lock.debian.wish import wish_digest
from reprobridge.lock.doors import Doors
from reprobridge.lock.file import read_lock
from reprobridge.lock.freshness import python_target
from reprobridge.lock.model import Lock, LockedDebian, LockedPlatform, LockedPython, LockedSource
from reprobridge.lock.owners import owners
from reprobridge.lock.pypi_wish import python_wish
from reprobridge.lock.source import lock_source, misnamed, source_wish
from reprobridge.lock.template import Template, load_template
from reprobridge.lock.tools import current_tools, pinning
from reprobridge.spec.model import Spec

if TYPE_CHECKING:
    from reprobridge.lock.debian.index import IndexSources
    from reprobridge.lock.template_lock import LockedBase


@frozen(kw_only=True)
class LockOptions:
    """What to answer anew although nothing changed."""

    upgrade: bool = False
    """Every Python and extra Debian package."""
    packages: tuple[str, ...] = ()
    """These Python packages."""
    tools: bool = False
    """What of this release reaches the image."""
    template: bool = False
    """The base system that this release ships; where that is locked already, its packages as they are today."""


@frozen
class Locked:
    """A lock and what people should know of how it was made."""

    lock: Lock
    """The answer."""
    warnings: tuple[str, ...]
    """What is odd but no error."""


def read_previous(path: Path) -> Lock | None:
    """The lock that is there, if there is one. Raises LockError when it is broken."""
    return read_lock(path) if path.exists() else None


def lock_artifact(
    spec: Spec, previous: Lock | None, options: LockOptions, folder: Path, doors: Doors
) -> Locked:
    """Answer every wish of the spec; what `previous` answers already is kept. Raises LockError."""
    template = load_template(spec.environment.template, doors.store)
    source, warnings = _source(spec, previous, folder, doors)
    warnings += missing_files(spec, source.refined, doors.store)
    platforms = {}
    for platform in spec.environment.platforms:
        work = _Work(spec, template, platform, options, folder, doors)
        platforms[platform], more = _platform(work, previous)
        warnings += (*more, *unknown_driver(platforms[platform].python.wheels))
    owners(spec, platforms.values())
    on_demand = {kind for one in platforms.values() for kind in one.python.on_demand}
    tools = pinning(previous.tools if previous and not options.tools else current_tools(), on_demand)
    return Locked(Lock(tools=tools, template=template.name, source=source, platforms=platforms), warnings)


@frozen
class _Work:
    """What the sections of one platform are made of."""

    spec: Spec
    template: Template
    platform: str
    options: LockOptions
    folder: Path
    doors: Doors


def _source(
    spec: Spec, previous: Lock | None, folder: Path, doors: Doors
) -> tuple[LockedSource, tuple[str, ...]]:
    kept = previous.source if previous else None
    if kept and kept.wish == source_wish(spec, folder, doors) and not misnamed(spec, kept):
        return kept, ()
    resolved = lock_source(spec, folder, doors)
    return resolved.locked, resolved.warnings


def _platform(work: _Work, previous: Lock | None) -> tuple[LockedPlatform, tuple[str, ...]]:
    before = previous.platforms.get(work.platform) if previous else None
    debian = _debian(work, before.debian if before else None)
    python, warnings = _python(work, before.python if before else None, debian)
    python = replace(python, bytecode=work.spec.environment.python.bytecode)
    return LockedPlatform(debian=debian, python=python), warnings


def _debian(work: _Work, before: LockedDebian | None) -> LockedDebian:
    apt, options = work.spec.environment.apt, work.options
    wish = wish_digest(work.template, apt, work.platform)
    if before and before.wish == wish and not options.template and not (options.upgrade and apt):
        return before
    from datetime import UTC, datetime

    from reprobridge.lock.debian.index import IndexSources
    from reprobridge.lock.debian.lock import DebianWish, lock_debian
    from reprobridge.lock.debian.mirrors import read_settings

    doors = work.doors
    sources = IndexSources(
        network=doors.network,
        store=doors.store,
        settings=read_settings(doors.environment),
        now=datetime.now(UTC),
    )
    wish_on_base = DebianWish(
        template=work.template, base=_base(work, before, sources), packages=apt, platform=work.platform
    )
    return lock_debian(wish_on_base, sources)


def _base(work: _Work, before: LockedDebian | None, sources: "IndexSources") -> "LockedBase":
    """The base system: as it was locked before, else as it is shipped.

    An upgrade takes the shipped one, which other papers share; where that is locked already, today's.
    """
    from reprobridge.lock.debian.lock import lock_base
    from reprobridge.lock.template_lock import LockedBase, load_template_lock

    shipped = load_template_lock(work.template.name).base(work.platform)
    if before is None or {deb.name for deb in before.base} != {deb.name for deb in shipped.debs}:
        return shipped
    if not work.options.template:
        return LockedBase(suites=before.suites, debs=before.base, provides=shipped.provides)
    if before.base != shipped.debs:
        return shipped
    return lock_base(work.template, work.platform, sources)


def _python(
    work: _Work, before: LockedPython | None, debian: LockedDebian
) -> tuple[LockedPython, tuple[str, ...]]:
    """The Python packages, as they were locked before where nothing changed, and warnings."""
    target, options = python_target(work.template, work.platform), work.options
    asked = options.upgrade or options.packages or not before or before.wish != python_wish(work.spec, target)
    if before and not asked and not before.builds:
        return before, ()
    from reprobridge.lock.pypi import KeptPython, lock_python
    from reprobridge.lock.sdist.ground import Ground

    ground = Ground(
        template=work.template.name,
        platform=work.platform,
        debian=debian,
        target=target,
        folder=work.folder,
    )
    if before and not asked:
        from reprobridge.lock.sdist.freshness import stale_builds

        if not any(stale_builds(before, ground, work.doors)):
            return before, ()
    kept = KeptPython() if before is None or options.upgrade else KeptPython.of(before, options.packages)
    return lock_python(work.spec, kept, ground, work.doors)
