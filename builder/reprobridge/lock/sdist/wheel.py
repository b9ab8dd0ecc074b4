"""What a freshly built wheel says about itself, and whether it is one that the target takes."""

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.digest import Digest
from reprobridge.errors import LockError
from reprobridge.lock.model import LockedFile
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.lock.pypi_uv import Dependencies
from reprobridge.spec.package_name import normalized
from reprobridge.store.store import Store

if TYPE_CHECKING:
    from packaging.metadata import RawMetadata

_BROKEN = (zipfile.BadZipFile, KeyError, OSError, ValueError, NotImplementedError)


def read_wheel(store: Store, file: LockedFile, target: PythonTarget, where: str) -> Dependencies:
    """Name, version and requirements of a wheel. Raises LockError for one that does not fit the target."""
    from packaging.utils import InvalidWheelFilename, parse_wheel_filename

    try:
        name, version, _, tags = parse_wheel_filename(file.name)
        raw = _metadata(store.path(file.sha256))
        found = (normalized(raw["name"]), raw["version"])
    except (*_BROKEN, InvalidWheelFilename) as error:
        raise _odd(where, "a wheel with metadata", f"{file.name}: {error}") from error
    if tags.isdisjoint(target.tags()):
        words = f"Python {target.version} on {target.architecture}"
        raise _odd(where, f"a wheel for {words}", file.name)
    if found[0] != name:
        raise _odd(where, f"the metadata of {name}", f"that of {found[0]}")
    return Dependencies(
        name=name,
        version=str(version),
        requires=tuple(raw.get("requires_dist", ())),
        requires_python=raw.get("requires_python"),
        extras=tuple(raw.get("provides_extra", ())),
    )


def differences(store: Store, one: Digest, other: Digest) -> str:
    """For people: which members make the difference between two wheels, a few of them by name."""
    try:
        members = [_checksums(store.path(digest)) for digest in (one, other)]
    except _BROKEN:
        return "bytes that are no archive"
    names = sorted(set(members[0]) | set(members[1]))
    changed = [name for name in names if members[0].get(name) != members[1].get(name)]
    more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
    return ", ".join(changed[:5]) + more or "the archive's own fields (order, times or modes)"


def _metadata(path: Path) -> "RawMetadata":
    from packaging.metadata import parse_email

    with zipfile.ZipFile(path) as archive:
        (member,) = [
            name
            for name in archive.namelist()
            if name.endswith(".dist-info/METADATA") and name.count("/") == 1
        ]
        raw, _ = parse_email(archive.read(member))
    return raw


def _checksums(path: Path) -> dict[str, int]:
    with zipfile.ZipFile(path) as archive:
        return {member.filename: member.CRC for member in archive.infolist()}


def _odd(where: str, expected: str, found: str) -> LockError:
    return LockError(
        "a package was built into a wheel that cannot be used", where=where, expected=expected, found=found
    )
