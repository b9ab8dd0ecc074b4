"""What to tell people when a package does not build: the end of what was printed, and what is missing."""

import re

from reprobridge.errors import LockError
from reprobridge.system.processes import Completed

SHOWN = 12
"""Last lines of a failed build that are shown."""

_COMPILER = "gcc, libc6-dev and python3-dev"
_PROGRAMS = {
    "gcc": _COMPILER,
    "cc": _COMPILER,
    "clang": _COMPILER,
    "g++": "g++ and python3-dev",
    "c++": "g++ and python3-dev",
    "gfortran": "gfortran",
    "f95": "gfortran",
    "make": "make",
    "cmake": "cmake",
    "pkg-config": "pkg-config",
    "swig": "swig",
    "git": "git",
    "cargo": "cargo",
    "rustc": "rustc",
}
"""A program that builds need and the base systems lack -> the Debian packages that have it."""
_MISSING_PROGRAM = (
    re.compile(r"command '(?P<name>[^']+)' failed: No such file"),
    re.compile(r"No such file or directory: '(?P<name>[\w+./-]+)'"),
    re.compile(r"(?:^|[\s:])(?P<name>[\w+./-]+): (?:command )?not found", re.MULTILINE),
    re.compile(r"Unknown compiler\(s\): \[\['(?P<name>[\w+-]+)'"),
    re.compile(r"No CMAKE_(?P<name>C|CXX)_COMPILER could be found"),
)
_MISSING_HEADER = re.compile(r"fatal error: (?P<name>\S+): No such file or directory")
_NO_HISTORY = re.compile(
    r"setuptools[-_]scm was unable to detect version|Error getting the version from source"
)


def build_failure(title: str, ended: Completed, seconds: int) -> LockError:
    """What went wrong in a build that ended so; `seconds` is the time that it had."""
    output = "\n".join(
        stream.decode(errors="replace").strip() for stream in (ended.stdout, ended.stderr)
    ).strip()
    if ended.timed_out:
        return LockError(
            "a package takes too long to build", where=title, expected=f"an end within {seconds} seconds"
        )
    lines = output.splitlines()[-SHOWN:]
    return LockError(
        "a package cannot be built",
        where=title,
        expected="its build backend to make a wheel, without network, on the image's base system",
        found="\n    ".join(lines) or f"exit status {ended.returncode}",
        hint=advice(output),
    )


def advice(output: str) -> str | None:
    """What to add to the artifact, by what the build said was missing."""
    for pattern in _MISSING_PROGRAM:
        for found in pattern.finditer(output):
            name = {"C": "gcc", "CXX": "g++"}.get(found["name"], found["name"]).rpartition("/")[2]
            # Python calls Debian's compiler by its full name: x86_64-linux-gnu-gcc.
            if packages := _PROGRAMS.get(re.sub(r"^[\w]+-linux-gnu-|-[\d.]+$", "", name)):
                return f"the base system has no {name}: add {packages} to environment.apt"
    if header := _MISSING_HEADER.search(output):
        if header["name"] == "Python.h":
            return "add python3-dev to environment.apt"
        return f"add the Debian package that has {header['name']} (its name ends in -dev) to environment.apt"
    if _NO_HISTORY.search(output):
        return "the version is taken from git's history, which is not part of what is built: name a release instead"
    return None
