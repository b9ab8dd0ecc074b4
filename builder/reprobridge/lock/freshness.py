"""Knowing which of a spec's wishes a lock does not answer, without asking any index.

Every build asks, so nothing is imported here that only resolving needs.
"""

from pathlib import Path

from reprobridge.digest import Digest
from reprobridge.errors import LockError, Problem
from reprobridge.lock.debian.wish import wish_digest
from reprobridge.lock.doors import Doors
from reprobridge.lock.model import Lock
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.lock.pypi_wish import python_wish
from reprobridge.lock.source import misnamed, source_wish
from reprobridge.lock.template import Template, load_template
from reprobridge.spec.model import Spec

_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
"""Debian architecture -> what wheels' tags call it."""


def stale_wishes(spec: Spec, lock: Lock, folder: Path, doors: Doors) -> list[Problem]:
    """Which wishes of the spec the lock does not answer; asks no index."""
    template = load_template(spec.environment.template, doors.store)
    wishes: list[tuple[str, Digest | None, Digest]]
    wishes = [("source", lock.source.wish, source_wish(spec, folder, doors))]
    problems = []
    if wishes[0][1] == wishes[0][2]:
        for name, (asked, found) in misnamed(spec, lock.source).items():
            problems.append(Problem(f"source.{name}", asked, found, "run `reprobridge lock`"))
    if lock.template != template.name:
        problems.append(Problem("template", template.name, lock.template, "run `reprobridge lock`"))
    for platform in spec.environment.platforms:
        if platform not in lock.platforms:
            wishes.append((f"platforms.{platform}", None, Digest.of(platform.encode())))
            continue
        locked, target = lock.platforms[platform], python_target(template, platform)
        debian = wish_digest(template, spec.environment.apt, platform)
        wishes.append((f"platforms.{platform}.debian", locked.debian.wish, debian))
        wish = python_wish(spec, target)
        wishes.append((f"platforms.{platform}.python", locked.python.wish, wish))
        if locked.python.bytecode != spec.environment.python.bytecode:
            asked, found = (str(one.bytecode).lower() for one in (spec.environment.python, locked.python))
            place = f"platforms.{platform}.python.bytecode"
            problems.append(Problem(place, asked, found, "run `reprobridge lock`"))
        interpreter, wanted = (f"{one.interpreter}, {one.version}" for one in (locked.python, target))
        if locked.python.wish == wish and interpreter != wanted:
            place = f"platforms.{platform}.python.interpreter"
            problems.append(Problem(place, wanted, interpreter, "restore the lock from version control"))
        if locked.python.builds and locked.python.wish == wish:
            from reprobridge.lock.sdist.freshness import stale_builds
            from reprobridge.lock.sdist.ground import locked_ground

            problems += stale_builds(locked.python, locked_ground(lock, platform, folder), doors)
    return problems + [
        Problem(place, f"an answer to wish {wish}", f"one to {found}", "run `reprobridge lock`")
        for place, found, wish in wishes
        if found != wish
    ]


def require_fresh(spec: Spec, lock: Lock, folder: Path, doors: Doors) -> None:
    """Refuse a lock that does not answer the spec. Raises LockError that says which parts changed."""
    if stale := stale_wishes(spec, lock, folder, doors):
        raise LockError(
            "the lock does not answer the spec any more",
            where=str(folder),
            expected="a lock made from this reprobridge.yaml and what it names",
            found=f"changes in {', '.join(problem.where for problem in stale)}",
            hint=f"run `reprobridge lock {folder}`, or build with --relock",
        )


def python_target(template: Template, platform: str) -> PythonTarget:
    """The interpreter that wheels are chosen for."""
    major, minor = template.glibc.split(".")
    return PythonTarget(
        version=template.python,
        architecture=_MACHINES[template.architecture(platform)],
        glibc=(int(major), int(minor)),
        interpreter=template.interpreter,
    )
