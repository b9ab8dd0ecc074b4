"""What people are told when a package does not build."""

import pytest

from reprobridge.lock.sdist.failure import SHOWN, advice, build_failure
from reprobridge.system.processes import Completed


def ended(stderr: str, *, stdout: str = "", timed_out: bool = False) -> Completed:
    """A build that failed."""
    return Completed(
        argv=("python",), returncode=1, stdout=stdout.encode(), stderr=stderr.encode(), timed_out=timed_out
    )


@pytest.mark.parametrize(
    ("output", "packages"),
    [
        (
            "error: [Errno 2] No such file or directory: 'x86_64-linux-gnu-gcc'",
            "gcc, libc6-dev and python3-dev",
        ),
        (
            "error: command 'aarch64-linux-gnu-g++-12' failed: No such file or directory",
            "g++ and python3-dev",
        ),
        ("error: command '/usr/bin/gcc' failed: No such file or directory", "gcc, libc6-dev"),
        ("../meson.build:1:0: ERROR: Unknown compiler(s): [['cc'], ['gcc'], ['clang']]", "gcc, libc6-dev"),
        ("CMake Error: No CMAKE_CXX_COMPILER could be found.", "g++"),
        ("/bin/sh: 1: pkg-config: not found", "pkg-config"),
        ("sh: line 1: gfortran: command not found", "gfortran"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'cmake'", "cmake"),
        ("x.c:1:10: fatal error: Python.h: No such file or directory", "python3-dev"),
        ("x.c:1:10: fatal error: zlib.h: No such file or directory", "zlib.h"),
    ],
)
def test_a_missing_program_or_header_is_named_with_the_key_to_add_it_to(output: str, packages: str) -> None:
    hint = advice(f"running build_ext\n{output}\nfailed")
    assert hint is not None
    assert packages in hint
    assert "environment.apt" in hint


@pytest.mark.parametrize(
    "output", ["", "SyntaxError", "FileNotFoundError: No such file or directory: 'data.csv'"]
)
def test_nothing_is_advised_where_nothing_is_known(output: str) -> None:
    assert advice(output) is None


def test_a_version_from_history_is_explained() -> None:
    assert "history" in str(
        advice("LookupError: setuptools-scm was unable to detect version for /build/work")
    )


def test_the_end_of_what_was_printed_is_shown() -> None:
    error = build_failure("x 1.0", ended("\n".join(f"line {number}." for number in range(100))), 60)
    assert "line 99." in str(error)
    assert f"line {100 - SHOWN}." in str(error)
    assert f"line {99 - SHOWN}." not in str(error)


def test_a_build_without_a_word_shows_its_status() -> None:
    assert "exit status 1" in str(build_failure("x 1.0", ended(""), 60))


def test_a_build_without_an_end_says_how_long_it_had() -> None:
    assert "60 seconds" in str(build_failure("x 1.0", ended("busy", timed_out=True), 60))
