"""Reading and writing `reprobridge.lock`: JSON, keys sorted, one entry a line, so that a diff reads well.

Reading is strict: unknown keys, missing keys and wrong types are errors that name the place
(`platforms.linux/amd64.python.wheels[3].sha256`).
"""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.digest import Digest, Json
from reprobridge.errors import LockError
from reprobridge.frozen import field_names
from reprobridge.spec.merge import merge_mark
from reprobridge.spec.named import LARGEST_FILE, read_regular
from reprobridge.system import files
from reprobridge.wording import complaint

if TYPE_CHECKING:
    from reprobridge.lock.model import Lock

FILE_NAME = "reprobridge.lock"
"""Stands beside reprobridge.yaml."""
SCHEMA = "reprobridge.lock/1"
"""Value of the key `schema`."""
_ANY_SCHEMA = r"reprobridge\.lock/[1-9][0-9]{0,5}"
_CONFLICT = "take one of them, and run `reprobridge lock`"
_RESTORE = "restore it from version control, or delete it and run `reprobridge lock`"
_MOST_DIGITS = 18
"""All numbers with these fit into 64 bits."""
_LINE = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(", ", ": "))


def read_lock(path: Path) -> "Lock":
    """Read a lock file. Raises LockError when it is missing, broken or of another schema."""
    return parse_lock(lock_file(path), str(path))


def lock_file(path: Path) -> bytes:
    """The bytes of a lock file. Raises LockError when it can't be read."""
    try:
        data = read_regular(str(path))
    except FileNotFoundError:
        hint = f"run `reprobridge lock {path.parent}`"
        raise LockError(
            "there is no lock yet",
            where=str(path),
            expected="a lock",
            found=files.obstacle(path) or "nothing",
            hint=hint,
        ) from None
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    if data is None or len(data) > LARGEST_FILE:
        raise _unreadable(path, "a folder, pipe or device" if data is None else "more")
    return data


def _unreadable(path: Path, found: str) -> LockError:
    return LockError(
        "the lock cannot be read",
        where=str(path),
        expected=f"a file of at most {LARGEST_FILE >> 20} MiB that can be read",
        found=found,
        hint=_RESTORE,
    )


def parse_lock(data: bytes, where: str) -> "Lock":
    """Read a lock from its bytes. Raises LockError."""
    from reprobridge.lock.decode import Undecodable, decode, short
    from reprobridge.lock.model import Lock

    try:
        fields = json.loads(data, object_pairs_hook=_each_once, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise _no_json(data, where, complaint(error)) from error
    if not isinstance(fields, dict):
        raise _no_json(data, where, f"a JSON value of another kind ({type(fields).__name__})")
    schema = fields.pop("schema", None)
    if schema != SCHEMA:
        newer = isinstance(schema, str) and re.fullmatch(_ANY_SCHEMA, schema)
        hint = "it was written by a newer release: upgrade reprobridge" if newer else _RESTORE
        raise LockError(
            "the lock is of another schema",
            where=where,
            expected=SCHEMA,
            found="none" if schema is None else short(schema),
            hint=hint,
        )
    try:
        return decode(Lock, fields)
    except Undecodable as error:
        raise LockError(
            f"{error.place} is wrong", where=where, expected=error.expected, found=error.found, hint=_RESTORE
        ) from error


def _no_json(data: bytes, where: str, found: str) -> LockError:
    if mark := merge_mark(data):
        return LockError(
            "the lock holds both sides of a merge",
            where=where,
            expected="one lock",
            found=f"the marks of a merge, from line {mark} on",
            hint=_CONFLICT,
        )
    return LockError(
        "the lock is no JSON",
        where=where,
        expected="a JSON object with each key once",
        found=found,
        hint=_RESTORE,
    )


def _whole(digits: str) -> int:
    """A number of the file; what is longer than any size is none of ours, and Python reads no text of 5000 digits."""
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of the file; a merge may have left a key twice, of which other readers would take the first."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in fields if keys.count(key) > 1)
        raise ValueError(f"the key {json.dumps(twice)[:80]} twice")
    return fields


def require_replaceable(path: Path) -> None:
    """Refuse a place whose lock no new one may replace, before anything is resolved. Raises LockError."""
    if found := files.obstacle(path):
        raise LockError(
            "the lock cannot be written",
            where=str(path),
            expected="a new path, or a file to replace",
            found=found,
            hint="put the file itself there, or delete what is there; what it leads to would stay as it is",
        )


def write_lock(path: Path, lock: "Lock") -> bytes:
    """Replace the lock file in one step; gives its bytes. Raises LockError where it may not be written."""
    from reprobridge.system.durable import write_durably

    data = lock_bytes(lock)
    require_replaceable(path)
    try:
        write_durably(path, data, mode=files.USUAL)
    except OSError as error:
        raise LockError(
            "the lock cannot be written",
            where=str(path),
            expected="an artifact's folder that may be written",
            found=error.strerror or str(error),
            hint="make the folder writable, or work on a copy of it",
        ) from error
    return data


def lock_bytes(lock: "Lock") -> bytes:
    """The lock's canonical bytes."""
    return (render({"schema": SCHEMA, **_plain(lock)}) + "\n").encode()


def _plain(value: object) -> dict[str, Json]:
    later = getattr(value, "LATER", ())
    fields = {name: getattr(value, name) for name in field_names(value)}
    return {name: _json(field) for name, field in fields.items() if field or name not in later}


def _json(value: object) -> Json:
    match value:
        case str() | int() | None:
            return value
        case Digest():
            return str(value)
        case list() | tuple():
            return [_json(item) for item in value]
        case Mapping():
            return {str(key): _json(item) for key, item in value.items()}
        case _:
            return _plain(value)


def render(value: Json) -> str:
    """Canonical text of a JSON value: what holds nested values spreads over lines, the rest is one line."""
    if isinstance(value, Mapping) and _is_nested(value.values()):
        rows = [f"{json.dumps(key)}: {render(value[key])}" for key in sorted(value)]
        return "{\n" + ",\n".join(rows) + "\n}"
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return "[\n" + ",\n".join(_line(item) for item in value) + "\n]"
    return _line(value)


def _is_nested(values: Iterable[Json]) -> bool:
    return any(isinstance(value, (Mapping, list)) and value for value in values)


def _line(value: Json) -> str:
    return _LINE.encode(value)
