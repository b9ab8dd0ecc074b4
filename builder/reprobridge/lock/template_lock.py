"""The exact packages of a template: lockfiles/NAME.lock.json, shipped with the tool.

Canonical and diffable: one suite or package a line, sorted. A paper's lock copies the section of its
platform, so two papers that were locked with one release share every base layer.
"""

import json
from collections.abc import Mapping
from typing import Any

from reprobridge.data_files import data_folder
from reprobridge.digest import Digest, Json, canonical_json
from reprobridge.errors import LockError
from reprobridge.frozen import frozen
from reprobridge.lock.decode import decode
from reprobridge.lock.model import LockedDeb, LockedSuite

SCHEMA = "reprobridge.template-lock/1"
"""Value of the key `schema`."""


@frozen(kw_only=True)
class LockedBase:
    """A template's packages on one platform."""

    suites: tuple[LockedSuite, ...]
    """The signed indexes that they were chosen from."""
    debs: tuple[LockedDeb, ...]
    """Sorted by name."""
    provides: Mapping[str, str]
    """Package -> its field Provides, where it has one: what extra packages may lean on."""


@frozen(kw_only=True)
class TemplateLock:
    """A whole lock of a template."""

    template: str
    """Its name."""
    wish: Digest
    """`Template.wish()` when it was locked."""
    platforms: Mapping[str, LockedBase]
    """By image platform."""

    def base(self, platform: str) -> LockedBase:
        """The section of a platform. Raises LockError when there is none."""
        if platform not in self.platforms:
            raise LockError(
                f"the lock of template {self.template} has no section for the platform",
                expected=" or ".join(sorted(self.platforms)),
                found=platform,
                hint=f"reprobridge template lock {self.template}",
            )
        return self.platforms[platform]

    def to_bytes(self) -> bytes:
        """The file's bytes."""
        sections = [
            f'{_text(platform)}:{{"suites":[\n{_rows(map(_suite_row, base.suites))}\n],'
            f'"packages":[\n{_rows(_deb_row(deb, base.provides) for deb in base.debs)}\n]}}'
            for platform, base in sorted(self.platforms.items())
        ]
        head = f'{{"schema":{_text(SCHEMA)},\n"template":{_text(self.template)},\n"wish":{_text(str(self.wish))},\n'
        return (head + '"platforms":{\n' + ",\n".join(sections) + "}}\n").encode()


def load_template_lock(name: str) -> TemplateLock:
    """The shipped lock of a template. Raises LockError when there is none or it cannot be read."""
    path = data_folder("lockfiles") / f"{name}.lock.json"
    try:
        return parse_template_lock(path.read_bytes())
    except FileNotFoundError as error:
        raise LockError(
            "the template has not been locked",
            where=str(path),
            expected="a template lock",
            found="no file",
            hint=f"reprobridge template lock {name}",
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise LockError("the template's lock is damaged", where=str(path), found=f"{error!r}") from error


def parse_template_lock(data: bytes) -> TemplateLock:
    """The lock in these bytes. Raises ValueError, KeyError or TypeError for anything else."""
    content: Any = json.loads(data)
    if content["schema"] != SCHEMA:
        raise ValueError(f"expected schema {SCHEMA}, found {content['schema']}")
    return TemplateLock(
        template=content["template"],
        wish=Digest.parse(content["wish"]),
        platforms={platform: _base(section) for platform, section in content["platforms"].items()},
    )


def _base(section: Any) -> LockedBase:
    provides = {row["name"]: row.pop("provides") for row in section["packages"] if "provides" in row}
    return LockedBase(
        suites=tuple(decode(LockedSuite, row) for row in section["suites"]),
        debs=tuple(decode(LockedDeb, row) for row in section["packages"]),
        provides=provides,
    )


def _suite_row(suite: LockedSuite) -> dict[str, Json]:
    return {
        "archive": suite.archive,
        "suite": suite.suite,
        "release": str(suite.release),
        "date": suite.date,
    }


def _deb_row(deb: LockedDeb, provides: Mapping[str, str]) -> dict[str, Json]:
    row: dict[str, Json] = {
        "name": deb.name,
        "version": deb.version,
        "architecture": deb.architecture,
        "archive": deb.archive,
        "pool": deb.pool,
        "sha256": str(deb.sha256),
        "size": deb.size,
    }
    return {**row, "provides": provides[deb.name]} if deb.name in provides else row


def _rows(rows: Any) -> str:
    return ",\n".join(canonical_json(row).decode() for row in rows)


def _text(value: str) -> str:
    return canonical_json(value).decode()
