"""Order of Debian versions, held against dpkg itself."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reprobridge.lock.debian.version import compare_versions, version_fits
from support.require import require_tool

PARTS = st.text("01a9.+~", max_size=6)
VERSIONS = st.builds(
    lambda epoch, head, rest, revision: f"{epoch}{head}{rest}{revision}",
    st.sampled_from(["", "0:", "1:"]),
    st.sampled_from("019"),
    PARTS,
    st.one_of(st.just(""), PARTS.map(lambda text: f"-{text or '0'}")),
)


@settings(deadline=None, max_examples=150)
@given(VERSIONS, VERSIONS)
def test_the_order_is_dpkgs(left: str, right: str) -> None:
    dpkg = require_tool("dpkg")
    order = compare_versions(left, right)
    for operator, holds in (("lt", order < 0), ("eq", order == 0)):
        command = [str(dpkg), "--compare-versions", left, operator, right]
        assert (subprocess.run(command, check=False, capture_output=True).returncode == 0) is holds


@given(VERSIONS, VERSIONS, VERSIONS)
def test_the_order_is_total(a: str, b: str, c: str) -> None:
    assert compare_versions(a, b) == -compare_versions(b, a)
    if compare_versions(a, b) <= 0 and compare_versions(b, c) <= 0:
        assert compare_versions(a, c) <= 0


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("1.0~rc1", "1.0"),
        ("1.0", "1.0-1"),
        ("1.0-1", "1.0-1+b1"),
        ("1.0-1+deb12u1", "1.0-1+deb12u2"),
        ("9", "10"),
        ("2.0", "1:1.0"),
        ("1.0+a", "1.0.1"),
        ("1.0a", "1.0+"),
    ],
)
def test_versions_as_debian_writes_them(earlier: str, later: str) -> None:
    assert compare_versions(earlier, later) == -1


def test_a_missing_revision_is_revision_zero() -> None:
    assert compare_versions("1.0", "1.0-0") == 0


@pytest.mark.parametrize(
    ("operator", "fits"),
    [
        ("<<", [True, False, False]),
        ("<=", [True, True, False]),
        ("=", [False, True, False]),
        (">=", [False, True, True]),
        (">>", [False, False, True]),
    ],
)
def test_operators_of_relations(operator: str, fits: list[bool]) -> None:
    assert [version_fits(version, operator, "2") for version in ("1", "2", "3")] == fits
