"""Names that `import` must find, from the paths of a package's files."""

import keyword
from collections.abc import Iterable

_EXTENSION = (".so", ".pyd")
_NO_CODE = frozenset(
    {"doc", "docs", "example", "examples", "test", "tests", "benchmarks", "scripts", "tools"}
)
"""Folders that wheels ship by mistake: without `__init__.py` they are no packages, and nobody imports them."""
_NO_MODULES = frozenset({"setup", "conftest"})
"""Files that do something else when they are imported."""


def importable(paths: Iterable[str]) -> tuple[str, ...]:
    """Topmost importable names among paths below site-packages: what no other name here is a package of.

    In a namespace that is each package and module below it (`google.protobuf`).
    """
    # What lies deeper in a topmost package is not topmost: nearly all files, which need no further look.
    split = [path.split("/") for path in paths]
    whole = {parts[0] for parts in split if len(parts) == 2 and parts[1] == "__init__.py"}
    near = (parts for parts in split if len(parts) <= 2 or parts[0] not in whole)
    modules = {tuple(module) for parts in near if (module := _module(parts)) is not None}
    packages = {module[:-1] for module in modules if module[-1] == "__init__"}
    names = {module[:-1] if module[-1] == "__init__" else module for module in modules}
    tops = (name for name in names if not any(name[:depth] in packages for depth in range(len(name))))
    return tuple(sorted(".".join(name) for name in tops if name and _is_meant(name)))


def _is_meant(name: tuple[str, ...]) -> bool:
    return name[0] not in (_NO_CODE if len(name) > 1 else _NO_MODULES)


def _module(parts: list[str]) -> list[str] | None:
    """The module that a file is, in its parts; a package's is called `__init__`."""
    if not parts[-1].endswith((".py", *_EXTENSION)):
        return None
    module = [*parts[:-1], parts[-1].partition(".")[0]]
    return module if all(part.isidentifier() and not keyword.iskeyword(part) for part in module) else None
