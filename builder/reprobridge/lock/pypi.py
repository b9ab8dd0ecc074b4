"""Python packages of the lock: chosen by uv for the image's interpreter, each as one wheel.

The lock names files, not hosts: where a wheel is today is asked again when it is fetched (`find_urls`).
Whether a lock is fresh is known from here without loading what resolves and fetches.
"""

from collections.abc import Sequence

from reprobridge.digest import Digest
from reprobridge.lock.doors import Doors
from reprobridge.lock.model import LockedWheel
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.lock.pypi_wish import python_wish
from reprobridge.spec.model import Spec

__all__ = ["PythonTarget", "find_urls", "lock_python", "python_wish"]


def lock_python(
    spec: Spec, target: PythonTarget, kept: Sequence[LockedWheel], doors: Doors
) -> tuple[LockedWheel, ...]:
    """The wheels that answer the spec, sorted by name. Raises LockError, NetworkError.

    `kept` are wheels of an earlier lock, whose versions stay where nothing speaks against them; leave out
    those that shall be upgraded.
    """
    from reprobridge.lock.pypi_choice import choose_wheels
    from reprobridge.lock.pypi_wish import python_request

    return choose_wheels(python_request(spec, target), kept, doors)


def find_urls(
    wheels: Sequence[LockedWheel], target: PythonTarget, doors: Doors
) -> dict[Digest, tuple[str, ...]]:
    """Today's addresses of locked wheels in the user's index, and in those of the spec, by SHA-256.

    A wheel that no index has any more is left out. Raises NetworkError when an index cannot be asked.
    """
    from reprobridge.lock.pypi_addresses import find_addresses

    return find_addresses(wheels, target, doors)
