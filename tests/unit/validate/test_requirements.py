"""What distributions require of each other."""

import pytest

from reprobridge.validate.checks.python import Distribution, requirement_problems

MARKERS = {
    "implementation_name": "cpython",
    "implementation_version": "3.11.2",
    "os_name": "posix",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "platform_release": "6",
    "platform_system": "Linux",
    "platform_version": "1",
    "python_full_version": "3.11.2",
    "python_version": "3.11",
    "sys_platform": "linux",
}


def problems(*described: tuple[str, str, tuple[str, ...]]) -> list[str]:
    installed = {name: Distribution(name, version, requires, None) for name, version, requires in described}
    return requirement_problems(installed, MARKERS)


@pytest.mark.parametrize(
    "requirement",
    [
        "b",
        "B>=1.0",
        "b==1.5.*; python_version >= '3.8'",
        "missing; sys_platform == 'win32'",
        "missing; extra == 'test'",
        "missing; platform_machine == 'aarch64'",
        "not a requirement at all !!",
    ],
)
def test_a_met_requirement_is_no_problem(requirement: str) -> None:
    assert problems(("a", "1", (requirement,)), ("b", "1.5", ())) == []


@pytest.mark.parametrize(
    ("requirement", "said"),
    [
        ("missing", "which is not installed"),
        ("b>=2", "found 1.5"),
        ("missing; python_version >= '3.8' and sys_platform == 'linux'", "not installed"),
        ("b!=1.5", "found 1.5"),
    ],
)
def test_an_unmet_requirement_names_both_sides(requirement: str, said: str) -> None:
    (problem,) = problems(("a", "1", (requirement,)), ("b", "1.5", ()))
    assert problem.startswith("a 1: requires ")
    assert said in problem


def test_extras_that_others_ask_for_are_required_through_any_chain() -> None:
    found = problems(
        ("a", "1", ("b[fast]",)),
        ("b", "1", ("c[more]; extra == 'fast'",)),
        ("c", "1", ("d>1; extra == 'more'", "e; extra == 'less'")),
    )
    assert found == ['c 1: requires d>1; extra == "more", which is not installed']


def test_a_prerelease_that_is_installed_satisfies_what_it_satisfies() -> None:
    assert problems(("a", "1", ("b>=2.0.dev0",)), ("b", "2.0rc1", ())) == []


def test_the_interpreters_version_is_held_against_what_is_required() -> None:
    installed = {"a": Distribution("a", "1", (), ">=3.12")}
    assert requirement_problems(installed, MARKERS) == ["a: requires Python >=3.12, found 3.11.2"]
