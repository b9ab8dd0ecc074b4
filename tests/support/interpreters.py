"""Real Python interpreters on this machine, for what must run on old and new ones (the launcher).

Found by name on PATH (`python3.6` … `python3.14`, `pypy3`) and among pyenv's versions.
"""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from support.require import unavailable

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
    """Python 3.MINOR, which CI must have."""
    found = interpreters().get((3, minor))
    if found is None:
        unavailable(f"Python 3.{minor} is not installed")
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
