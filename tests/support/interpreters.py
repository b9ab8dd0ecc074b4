"""Real Python interpreters on this machine, for what must run on old and new ones (the launcher).

Found by name on PATH (`python3.6` … `python3.14`, `pypy3`) and among pyenv's versions.
"""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from support.require import tools_are_required, unavailable

MINORS = range(6, 15)
"""Minor versions of Python 3 that are looked for; 3.6 is the launcher's oldest."""


@cache
def interpreters() -> dict[tuple[int, int], Path]:
    """One working interpreter for each (major, minor) that the machine has, oldest first."""
    found: dict[tuple[int, int], Path] = {}
    for candidate in _candidates():
        version = _version(candidate)
        if version is not None and version >= (3, MINORS[0]):
            found.setdefault(version, candidate)
    return dict(sorted(found.items()))


def interpreter(minor: int) -> Path:
    """Python 3.MINOR, or the test is skipped; see `interpreters` for what must be there in CI."""
    found = interpreters().get((3, minor))
    if found is None:
        pytest.skip(f"NOT TESTED: Python 3.{minor} is not installed")
    return found


def at_least_two_interpreters() -> list[Path]:
    """All interpreters; fewer than two are a failure in CI, and none is a failure everywhere."""
    found = list(interpreters().values())
    if not found:
        pytest.fail("no Python interpreter was found, not even the running one")
    if len(found) < 2 and tools_are_required():
        unavailable(f"only one Python interpreter was found: {found[0]}")
    return found


def _candidates() -> list[Path]:
    names = [*(f"python3.{minor}" for minor in MINORS), "pypy3", "python3"]
    on_path = [Path(found) for name in names if (found := shutil.which(name)) is not None]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return [*sorted(pyenv.glob("versions/*/bin/python3")), *on_path]


def _version(python: Path) -> tuple[int, int] | None:
    """(major, minor) as the interpreter says it; None when it doesn't start (a pyenv shim, say)."""
    command = [str(python), "-I", "-S", "-c", "import sys; print(*sys.version_info[:2])"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        return None
    major, minor = result.stdout.split()
    return int(major), int(minor)
