"""Decimal numbers as canonical text."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.spec.decimals import canonical, midpoint


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("98.9", "98.9"),
        ("98.90", "98.9"),
        ("+0098.9", "98.9"),
        ("9.89e1", "98.9"),
        ("989E-1", "98.9"),
        ("-24118.6847", "-24118.6847"),
        ("1e5", "100000"),
        ("1e-3", "0.001"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-0.0", "0"),
        ("-0e9", "0"),
    ],
)
def test_equal_numbers_have_equal_text(text: str, number: str) -> None:
    assert canonical(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "e5",
        "1e",
        "nan",
        "inf",
        "-Infinity",
        "1e301",
        "1e9999",
        "1_000",
        "1,5",
        "98.9%",
        "0x1F",
        "true",
        "١",
    ],
)
def test_what_is_no_finite_decimal_is_none(text: str) -> None:
    assert canonical(text) is None


def test_a_number_beyond_a_double_is_none() -> None:
    assert canonical("9" * 309) is None
    assert canonical("9" * 300) == "9" * 300


FINITE = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**30), max_value=10**30, places=20)


@given(FINITE)
def test_the_value_stays_and_the_text_is_canonical(number: Decimal) -> None:
    text = canonical(str(number))
    assert text is not None
    assert Decimal(text) == number
    assert canonical(text) == text
    assert "e" not in text.lower()


@given(FINITE, FINITE)
def test_the_midpoint_is_exact(low: Decimal, high: Decimal) -> None:
    texts = canonical(str(low)), canonical(str(high))
    assert texts[0] is not None
    assert texts[1] is not None
    assert Fraction(midpoint(texts[0], texts[1])) == (Fraction(low) + Fraction(high)) / 2
