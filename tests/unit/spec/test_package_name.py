"""The one spelling of a package's name."""

import pytest
from packaging.utils import canonicalize_name

from reprobridge.spec.package_name import normalized
from reprobridge_launcher import setting

NAMES = ("numpy", "Foo.Bar", "foo__bar", "a-_.b", "Zope.Interface", "ruamel.yaml.clib", "A", "x--1")


@pytest.mark.parametrize("name", NAMES)
def test_names_are_spelled_as_packaging_and_the_launcher_spell_them(name: str) -> None:
    assert normalized(name) == canonicalize_name(name) == setting.normal(name)


def test_a_run_of_separators_counts_as_one() -> None:
    assert normalized("Foo._-Bar") == "foo-bar"
