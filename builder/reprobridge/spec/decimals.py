"""Decimal numbers as text: exact, canonical, without exponents, so that they can stand in digests.

`9.89e1`, `98.90` and `+98.9` are all `98.9`. Infinities, NaN, booleans and words are no numbers here.
"""

import re

_DECIMAL = re.compile(r"([+-]?)(\d{1,400})?(?:\.(\d{0,400}))?(?:[eE]([+-]?\d{1,3}))?", re.ASCII)
_LARGEST_EXPONENT = 300  # what a double can hold, with room for the digits before the point


def canonical(text: str) -> str | None:
    """The canonical text of a finite decimal number; None where the text is none."""
    match = _DECIMAL.fullmatch(text)
    if match is None:
        return None
    sign, whole, fraction, exponent = (part or "" for part in match.groups())
    shift = int(exponent or "0")
    if not whole + fraction or abs(shift) > _LARGEST_EXPONENT:
        return None
    whole, fraction = _shifted(whole, fraction, shift)
    whole, fraction = whole.lstrip("0") or "0", fraction.rstrip("0")
    number = f"{whole}.{fraction}" if fraction else whole
    negative = sign == "-" and number != "0"
    return f"-{number}" if negative and _is_finite(number) else number if _is_finite(number) else None


def midpoint(low: str, high: str) -> str:
    """The exact middle of two canonical numbers."""
    from decimal import Context, Decimal, Inexact

    exact = Context(prec=2000, traps=[Inexact])
    middle = exact.divide(exact.add(Decimal(low), Decimal(high)), Decimal(2))
    return canonical(format(middle, "f")) or low  # `format` of a finite Decimal always is a number


def _shifted(whole: str, fraction: str, by: int) -> tuple[str, str]:
    """Move the point to the right by so many digits (to the left when negative)."""
    if by >= 0:
        padded = fraction.ljust(by, "0")
        return whole + padded[:by], padded[by:]
    padded = whole.rjust(-by, "0")
    return padded[:by], padded[by:] + fraction


def _is_finite(number: str) -> bool:
    return float(number) != float("inf")
