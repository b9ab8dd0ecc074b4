"""Python packages of the lock: chosen by uv for the image's interpreter, each as one wheel.

What has no wheel is built into one (`lock/sdist/`). The lock names files, not hosts: where a wheel is today is
asked again when it is fetched (`find_urls`).
Whether a lock is fresh is known from here without loading what resolves and fetches.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from reprobridge.digest import Digest
from reprobridge.frozen import field, frozen, replace
from reprobridge.lock.doors import Doors
from reprobridge.lock.model import LockedPython, LockedWheel
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.lock.pypi_wish import python_wish
from reprobridge.spec.model import Spec

if TYPE_CHECKING:
    from reprobridge.lock.sdist.ground import Ground
    from reprobridge.lock.sdist.kept import KeptBuild

__all__ = ["KeptPython", "PythonTarget", "find_urls", "lock_python", "python_wish"]


@frozen(kw_only=True)
class KeptPython:
    """Versions of an earlier lock that stay where nothing speaks against them."""

    wheels: tuple[LockedWheel, ...] = ()
    """Packages of the image."""
    builds: "Mapping[str, KeptBuild]" = field(default_factory=dict)
    """Builds by `LockedBuild.subject`."""

    @classmethod
    def of(cls, before: LockedPython, upgraded: Sequence[str]) -> "KeptPython":
        """All of a lock but for packages that shall be upgraded."""
        wheels = tuple(wheel for wheel in before.wheels if wheel.name not in upgraded)
        if not before.builds:
            return cls(wheels=wheels)
        from reprobridge.lock.sdist.kept import KeptBuild

        tools = {wheel.file.sha256: wheel for wheel in before.build_wheels}
        builds = {
            build.subject: KeptBuild(
                build=build, wheel=wheel, requires=tuple(tools[digest] for digest in build.requires)
            )
            for build, wheel in before.built
            if build.name not in upgraded
        }
        return cls(wheels=wheels, builds=builds)


def lock_python(
    spec: Spec, kept: KeptPython, ground: "Ground", doors: Doors
) -> tuple[LockedPython, tuple[str, ...]]:
    """The packages that answer the spec, and warnings. Raises LockError, NetworkError, SandboxError."""
    from reprobridge.lock.pypi_choice import ask_for, choose_published
    from reprobridge.lock.pypi_uv import NoWheelError
    from reprobridge.lock.pypi_wish import python_request

    request = python_request(spec, ground.target)
    asked = request.asked()
    unpublished: tuple[str, ...] = ()
    if not asked.sources:
        try:
            taken = choose_published(request, kept.wheels, doors)
        except NoWheelError as error:
            unpublished = error.names
        else:
            return LockedPython(
                wish=request.digest(),
                version=ground.target.version,
                interpreter=ground.target.interpreter,
                wheels=taken.wheels,
            ), taken.warnings
    from reprobridge.lock.sdist.build import Bench
    from reprobridge.lock.sdist.resolve import resolve_building

    bench = Bench(request=request, ground=ground, doors=doors, kept=kept.builds)
    question = replace(ask_for(request, kept.wheels, doors), unpublished=unpublished)
    return resolve_building(asked, question, bench)


def find_urls(
    wheels: Sequence[LockedWheel], target: PythonTarget, doors: Doors
) -> dict[Digest, tuple[str, ...]]:
    """Today's addresses of locked wheels in the user's index, and in those of the spec, by SHA-256.

    A wheel that no index has any more is left out. Raises NetworkError when an index cannot be asked.
    """
    from reprobridge.lock.pypi_addresses import find_addresses

    return find_addresses(wheels, target, doors)
