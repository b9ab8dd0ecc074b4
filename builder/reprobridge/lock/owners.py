"""The author's words on who owns a path (`environment.python.owners`), held against the packages that are locked.

A word for a package that no platform has would settle nothing, without anybody being told.
"""

from collections.abc import Iterable

from reprobridge.errors import LockError
from reprobridge.lock.model import LockedPlatform
from reprobridge.spec.model import Spec
from reprobridge.spec.package_name import normalized
from reprobridge.wording import nearest


def owners(spec: Spec, platforms: Iterable[LockedPlatform]) -> dict[str, str]:
    """Path below site-packages -> the locked name of its package. Raises LockError for packages that are not locked."""
    wished = spec.environment.python.owners
    if not wished:
        return {}
    locked = sorted({wheel.name for platform in platforms for wheel in platform.python.wheels})
    found = {path: normalized(package) for path, package in wished.items()}
    for path, package in sorted(found.items()):
        if package not in locked:
            raise _unknown(path, wished[path], nearest(package, locked))
    return found


def _unknown(path: str, package: str, near: str | None) -> LockError:
    hint = (
        f"did you mean {near}?"
        if near
        else "name one of the packages that ship the file, or take the line out"
    )
    return LockError(
        "a file is given to a package that the artifact does not have",
        where="environment.python.owners",
        expected=f"a locked Python package for {path}",
        found=package,
        hint=hint,
    )
