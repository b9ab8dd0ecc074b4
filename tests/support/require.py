"""What a test needs from the machine: absent means skipped on a laptop, failed in CI.

`REPROBRIDGE_REQUIRE_TOOLS=1` (set by .ci/run) turns each skip into a failure, so that no check is
lost in CI because a tool was not installed.
"""

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

REQUIRE_VARIABLE = "REPROBRIDGE_REQUIRE_TOOLS"


def tools_are_required() -> bool:
    """Whether a missing tool is a failure rather than a skip."""
    return os.environ.get(REQUIRE_VARIABLE, "") not in ("", "0")


def unavailable(reason: str) -> NoReturn:
    """End the test: failed when tools are required, otherwise skipped with the reason."""
    if tools_are_required():
        pytest.fail(f"{reason} ({REQUIRE_VARIABLE} is set: a failure, not a skip)", pytrace=False)
    pytest.skip(f"NOT TESTED: {reason}")


def require_nameless_files(folder: Path) -> None:
    """Files that have no name until they are finished: NFS, and overlays of older kernels, have none."""
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        unavailable(f"the file system of {folder} has no files without a name")


def require_tool(name: str) -> Path:
    """The path of a program on PATH or in the system folders that ordinary users' PATHs lack."""
    folders = os.pathsep.join((os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin", "/sbin"))
    found = shutil.which(name, path=folders)
    if found is None:
        unavailable(f"the program {name} is not installed")
    return Path(found)
