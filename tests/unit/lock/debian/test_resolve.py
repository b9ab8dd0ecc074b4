"""The resolver: what it adds, why it refuses."""

import itertools
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.digest import Digest
from reprobridge.errors import LockError
from reprobridge.lock.debian.index import SuiteIndex
from reprobridge.lock.debian.resolve import Present, resolve
from reprobridge.lock.debian.universe import Package, Universe
from reprobridge.lock.model import LockedSuite


def universe(*paragraphs: str) -> Universe:
    """Packages from lines such as `a 1.0; Depends: b (>= 2)`."""
    return Universe([SuiteIndex(locked_suite(), ("\n\n".join(map(paragraph, paragraphs)),))])


def locked_suite() -> LockedSuite:
    """The suite that all packages are from."""
    return LockedSuite(archive="debian", suite="test", release=Digest.of(b""), date="20250101T000000Z")


def paragraph(line: str) -> str:
    """A paragraph of Packages."""
    head, *fields = line.split("; ")
    name, version = head.split()
    tail = f"Filename: pool/{name}_{version}.deb\nSize: 1\nSHA256: {'0' * 64}"
    return "\n".join([f"Package: {name}", f"Version: {version}", "Architecture: amd64", *fields, tail])


def names(packages: list[Package]) -> list[str]:
    """`name version` of each."""
    return [f"{package.name} {package.version}" for package in packages]


NOTHING: Mapping[str, Present] = {}


def test_dependencies_come_along_and_recommendations_do_not() -> None:
    everything = universe("a 1; Depends: b; Recommends: c", "b 1; Pre-Depends: d", "c 1", "d 1")
    assert names(resolve(everything, ["a"], NOTHING)) == ["a 1", "b 1", "d 1"]


def test_the_latest_version_that_fits_is_taken() -> None:
    everything = universe("a 1; Depends: b (<< 3)", "b 1", "b 2", "b 3")
    assert names(resolve(everything, ["a"], NOTHING)) == ["a 1", "b 2"]


def test_an_alternative_that_is_there_already_is_enough() -> None:
    everything = universe("a 1; Depends: x | b", "b 1", "x 1")
    assert names(resolve(everything, ["b", "a"], NOTHING)) == ["a 1", "b 1"]


def test_a_virtual_package_is_provided_by_the_most_important_package() -> None:
    everything = universe(
        "a 1; Depends: awk",
        "m 1; Provides: awk; Priority: optional",
        "z 1; Provides: awk; Priority: required",
    )
    assert names(resolve(everything, ["a"], NOTHING)) == ["a 1", "z 1"]


def test_a_bound_on_a_virtual_package_needs_a_version_in_provides() -> None:
    fits = universe("a 1; Depends: api (>= 2)", "p 9; Provides: api (= 2)")
    assert names(resolve(fits, ["a"], NOTHING)) == ["a 1", "p 9"]
    without = universe("a 1; Depends: api (>= 2)", "p 9; Provides: api")
    with pytest.raises(LockError, match=r"a needs api \(>= 2\), which no suite has"):
        resolve(without, ["a"], NOTHING)


def test_what_the_base_has_is_not_added() -> None:
    everything = universe("a 1; Depends: b (>= 1), shell, perlapi", "b 2")
    base = {"b": Present("1"), "dash": Present("1", "shell"), "perl": Present("5", "perlapi (= 5)")}
    assert names(resolve(everything, ["a"], base)) == ["a 1"]


def test_a_base_that_is_too_old_says_how_to_renew_it() -> None:
    everything = universe("a 1; Depends: c", "c 1; Depends: b (>= 2)", "b 2")
    with pytest.raises(LockError) as caught:
        resolve(everything, ["a"], {"b": Present("1")})
    assert "a -> c needs b (>= 2), but the template has b 1" in str(caught.value)
    assert "--upgrade-template" in str(caught.value)


def test_an_unknown_package_gets_a_suggestion() -> None:
    with pytest.raises(LockError, match="did you mean libgl1"):
        resolve(universe("libgl1 1", "libgomp1 1"), ["libg1"], NOTHING)


def test_an_unknown_package_that_is_like_no_other_gets_none() -> None:
    with pytest.raises(LockError) as caught:
        resolve(universe("node-lodash-packages 1"), ["no-such-package-xyz"], NOTHING)
    message = str(caught.value)
    assert "not every name is a Debian package" in message
    assert "expected: names of packages that the template's suites have" in message
    assert "there is no package no-such-package-xyz" in message
    assert "lodash" not in message
    assert "apt-cache search" in message


MAILERS = ("exim 1; Provides: mta", "postfix 1; Provides: mta", "cron 1; Depends: exim")


def test_a_name_that_several_packages_provide_is_refused_with_their_names() -> None:
    with pytest.raises(LockError) as caught:
        resolve(universe(*MAILERS), ["mta"], NOTHING)
    assert "mta is no package, but provided by each of exim, postfix" in str(caught.value)
    assert "name the one that you want instead of mta" in str(caught.value)


@pytest.mark.parametrize(
    ("wanted", "base", "added"),
    [
        (["mta", "postfix"], NOTHING, ["postfix 1"]),
        (["mta", "cron"], NOTHING, ["cron 1", "exim 1"]),
        (["mta"], {"sendmail": Present("8", "mta")}, []),
    ],
    ids=["named", "a dependency", "of the base"],
)
def test_a_name_that_several_packages_provide_is_met_by_one_that_is_there(
    wanted: list[str], base: Mapping[str, Present], added: list[str]
) -> None:
    assert names(resolve(universe(*MAILERS), wanted, base)) == added


def test_a_name_that_one_package_provides_means_that_package() -> None:
    everything = universe("exim 1; Provides: mta", "exim 2; Provides: mta, mta-ng")
    assert names(resolve(everything, ["mta"], NOTHING)) == ["exim 2"]


def test_all_problems_are_reported_together() -> None:
    with pytest.raises(LockError) as caught:
        resolve(universe("a 1; Depends: gone", "b 1"), ["a", "nope"], NOTHING)
    assert "the Debian packages do not fit together" in str(caught.value)
    assert "there is no package nope" in str(caught.value)
    assert "a needs gone" in str(caught.value)


@pytest.mark.parametrize("field", ["Conflicts", "Breaks"])
def test_packages_that_exclude_each_other_are_an_error_with_the_chain(field: str) -> None:
    everything = universe("a 1; Depends: b", f"b 1; {field}: c (<< 2)", "c 1")
    with pytest.raises(LockError, match=rf"a -> b {field.lower()} with c \(<< 2\), and c is it"):
        resolve(everything, ["a", "c"], NOTHING)


def test_an_exclusion_by_the_base_counts() -> None:
    everything = universe("old 1; Breaks: a", "a 1")
    with pytest.raises(LockError, match="old breaks with a"):
        resolve(everything, ["a"], {"old": Present("1")})


def test_a_package_may_exclude_what_it_provides_itself() -> None:
    everything = universe("a 1; Provides: mta; Conflicts: mta")
    assert names(resolve(everything, ["a"], NOTHING)) == ["a 1"]


PACKAGES = "abcdef"
CLAUSES = st.lists(st.lists(st.sampled_from(PACKAGES), min_size=1, max_size=2, unique=True), max_size=3)


@given(st.lists(CLAUSES, min_size=6, max_size=6), st.sets(st.sampled_from(PACKAGES), min_size=1, max_size=3))
def test_every_dependency_of_the_result_is_met_and_nothing_is_there_without_a_reason(
    depends: list[list[list[str]]], wanted: set[str]
) -> None:
    clauses = dict(zip(PACKAGES, depends, strict=True))
    lines = [
        f"{name} 1; Depends: {', '.join(' | '.join(clause) for clause in clauses[name])}" for name in PACKAGES
    ]
    found = {package.name for package in resolve(universe(*lines), sorted(wanted), NOTHING)}
    assert wanted <= found
    assert all(found & set(clause) for name in found for clause in clauses[name])
    named = wanted | set(itertools.chain.from_iterable(itertools.chain(*(clauses[name] for name in found))))
    assert found <= named


@given(st.permutations(["a 1; Depends: v | b", "b 1", "c 1; Provides: v", "d 2; Provides: v", "d 1"]))
def test_the_order_of_an_index_does_not_matter(lines: list[str]) -> None:
    assert names(resolve(universe(*lines), ["a"], NOTHING)) == ["a 1", "c 1"]
