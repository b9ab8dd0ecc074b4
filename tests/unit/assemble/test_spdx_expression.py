"""License expressions: the same as packaging reads, by a list that no library's release changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from reprobridge.assemble.wheel.spdx_expression import spdx_expression

licenses = ["MIT", "mit", "BSD-3-Clause", "gpl-2.0+", "GPL-2.0", "Apache-2.0+", "BSD", "0bsd"]
others = ["Classpath-exception-2.0", "(", ")", "and", "OR", "WITH", "with"]
words = st.sampled_from([*licenses, *others])


@given(st.lists(words, min_size=1, max_size=9).map(" ".join))
def test_an_expression_is_what_packaging_takes_for_one(text: str) -> None:
    try:
        expected = canonicalize_license_expression(text)
    except InvalidLicenseExpression:
        expected = None
    assert spdx_expression(text) == expected


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("bsd-3-clause and 0bsd AND (mit or Zlib)", "BSD-3-Clause AND 0BSD AND (MIT OR Zlib)"),
        ("GPL-2.0-only with classpath-exception-2.0", "GPL-2.0-only WITH Classpath-exception-2.0"),
        ("Apache-2.0+", "Apache-2.0+"),
        ("GPL-2.0", "GPL-2.0"),
    ],
)
def test_an_expression_is_spelt_as_the_list_spells_it(text: str, expression: str) -> None:
    assert spdx_expression(text) == expression


@pytest.mark.parametrize(
    "text",
    ["", "BSD", "MIT License", "MIT AND", "(MIT", "MIT)", "()", "MIT MIT", "MIT WITH MIT", "(MIT) WITH GCC-exception-3.1",
     "LicenseRef-NVIDIA-Proprietary", "MIT/Apache-2.0", "MIT++"],
)  # fmt: skip
def test_anything_else_is_none(text: str) -> None:
    assert spdx_expression(text) is None
