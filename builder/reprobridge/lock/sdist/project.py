"""How a project says that it is built: the table `build-system` of its pyproject.toml (PEP 517, PEP 518)."""

import tomllib
from collections.abc import Mapping
from typing import Any

from reprobridge.digest import Digest
from reprobridge.errors import LockError
from reprobridge.frozen import frozen
from reprobridge.lock.kept_tree import tree_blob
from reprobridge.lock.tree import read_tree
from reprobridge.store.store import Store

_LARGEST = 4 << 20
_LEGACY_BACKEND = "setuptools.build_meta:__legacy__"
_LEGACY_REQUIRES = ("setuptools >= 40.8.0",)


@frozen(kw_only=True)
class BuildSystem:
    """What builds a project."""

    requires: tuple[str, ...]
    """Requirements (PEP 508)."""
    backend: str
    """`module` or `module:object`."""
    backend_path: tuple[str, ...] = ()
    """Folders of the project that the backend may be imported from."""


def read_build_system(store: Store, tree: Digest, subdirectory: str | None, where: str) -> BuildSystem:
    """Read it from a tree of the store. Raises LockError when there is no project, or its table is wrong."""
    prefix = f"{subdirectory.strip('/')}/" if subdirectory else ""
    names, pyproject = set(), None
    for entry, stream in read_tree(store.path(tree_blob(store, tree))):
        if entry.path.startswith(prefix):
            names.add(entry.path.removeprefix(prefix))
        if entry.path == f"{prefix}pyproject.toml":
            pyproject = stream.read(_LARGEST)
    if pyproject is None and "setup.py" not in names:
        raise _wrong(where, "a pyproject.toml or setup.py", ", ".join(sorted(names)[:8]) or "nothing")
    try:
        table = tomllib.loads((pyproject or b"").decode()).get("build-system")
    except ValueError as error:
        raise _wrong(where, "a pyproject.toml that can be read", str(error)) from error
    return _system({} if table is None else table, where, names)


def _system(table: Any, where: str, names: set[str]) -> BuildSystem:
    if not isinstance(table, Mapping):
        raise _wrong(where, "a table build-system", repr(table))
    # Only a whole table without `requires` is an error by PEP 518; pip and uv take the defaults as we do.
    requires = table.get("requires", list(_LEGACY_REQUIRES))
    backend = table.get("build-backend", _LEGACY_BACKEND)
    path = table.get("backend-path", [])
    if not _is_texts(requires) or not isinstance(backend, str) or not _is_texts(path):
        raise _wrong(
            where, "texts in build-system's requires, build-backend and backend-path", repr(dict(table))
        )
    for folder in path:
        inside = folder.strip("./") == "" or any(name.startswith(f"{_plain(folder)}/") for name in names)
        if folder.startswith("/") or ".." in folder.split("/") or not inside:
            raise _wrong(where, "a backend-path inside of the project", repr(folder))
    return BuildSystem(requires=tuple(requires), backend=backend, backend_path=tuple(map(_plain, path)))


def _plain(folder: str) -> str:
    return "/".join(part for part in folder.split("/") if part not in ("", ".")) or "."


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _wrong(where: str, expected: str, found: str) -> LockError:
    return LockError("a package cannot be built", where=where, expected=expected, found=found)
