"""What a test needs from the machine: absent means skipped on a laptop, failed in CI.

`REPROBRIDGE_REQUIRE_TOOLS=1` (set by .ci/run and the workflows) turns each skip into a failure, so that no check is
lost in CI because a tool was not installed. `REPROBRIDGE_REQUIRE_ROOT=1` (set by .ci/run) does so for being root.
"""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

REQUIRE_VARIABLE = "REPROBRIDGE_REQUIRE_TOOLS"
ROOT_VARIABLE = "REPROBRIDGE_REQUIRE_ROOT"


def tools_are_required() -> bool:
    """Whether a missing tool is a failure rather than a skip."""
    return _is_set(REQUIRE_VARIABLE)


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "") not in ("", "0")


def unavailable(reason: str, variable: str = REQUIRE_VARIABLE) -> NoReturn:
    """End the test: failed when tools are required (or what `variable` stands for), otherwise skipped with the reason."""
    if _is_set(variable):
        pytest.fail(f"{reason} ({variable} is set: a failure, not a skip)", pytrace=False)
    pytest.skip(f"NOT TESTED: {reason}")


def require_nameless_files(folder: Path) -> None:
    """Files that have no name until they are finished: NFS, and overlays of older kernels, have none."""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        unavailable(f"the file system of {folder} has no files without a name")


def require_root() -> None:
    """Becoming another user, which only root can."""
    if os.geteuid() != 0:
        unavailable("the tests are not run by root, who alone can become another user", ROOT_VARIABLE)


def require_tool(name: str) -> Path:
    """The path of a program on PATH or in the system folders that ordinary users' PATHs lack."""
    folders = os.pathsep.join((os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"))
    found = shutil.which(name, path=folders)
    if found is None:
        unavailable(f"the program {name} is not installed")
    return Path(found)
