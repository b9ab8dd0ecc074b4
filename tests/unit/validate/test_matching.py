"""Comparing a command's output with what a guide says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.validate.guide.matching import matches

YES = [
    ("", ""),
    ("a", "a\n"),
    ("a  \nb", "a\nb   \n\n\n"),
    ("...", ""),
    ("...", "a\nb\n"),
    ("a\n...\nb", "a\nb"),
    ("a\n...\nb", "a\nx\ny\nb"),
    ("...\nb", "b"),
    ("a\n...", "a"),
    ("a...c", "abc"),
    ("a...c", "a\nb\nc"),
    ("...lda...", "TASK\nlda  98.9\n"),
    ("98.88±0.05", "98.8764"),
    ("x 98.88±0.05 %", "x 98.93 %"),
    ("-1±0.5", "-1.4"),
    ("1e3±10", "995"),
    ("... 5±0.1", "4 5.05"),
    ("...\nacc 5±0.1\n...", "acc 4\nacc 5\nacc 6"),
    ("3...±", "3x±"),
]
NO = [
    ("", "a"),
    ("a", ""),
    ("a", "ab"),
    ("a\n...\nb", "a\nxb"),
    ("a\n...\nb", "ax\nb"),
    ("98.88±0.05", "98.94"),
    ("98.88±0.05", "98.8764x"),
    ("98.88±0.05", "198.88"),
    ("8.88±0.05", "98.88"),
    ("5±0.1", "nan"),
    ("... 5±0.1", "5.05"),
]


@pytest.mark.parametrize(("expected", "found"), YES)
def test_what_fits_matches(expected: str, found: str) -> None:
    assert matches(expected, found)


@pytest.mark.parametrize(("expected", "found"), NO)
def test_what_does_not_fit_does_not_match(expected: str, found: str) -> None:
    assert not matches(expected, found)


@given(st.text())
def test_a_text_without_marks_matches_itself(text: str) -> None:
    plain = text.replace("...", "").replace("±", "")
    assert matches(plain, plain)


@given(st.text(), st.text(), st.text())
def test_three_dots_stand_for_any_text(before: str, middle: str, after: str) -> None:
    assert matches("a...b", f"a{middle}b")
    assert matches("a\n...\nb", f"a\n{before}\n{after}\nb")


@given(st.decimals(-1000, 1000, places=3), st.decimals(0, 10, places=3), st.decimals(-1000, 1000, places=3))
def test_a_tolerance_is_a_distance(value: object, within: object, found: object) -> None:
    assert matches(f"{value}±{within}", f"{found}") == (abs(found - value) <= within)  # type: ignore[operator]


def test_many_dots_on_a_long_text_take_no_exponential_time() -> None:
    assert not matches("...a" * 60 + "...b", "a" * 5000)
