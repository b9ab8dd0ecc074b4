"""Values of options, read: what cannot be read says what would have been right."""

import argparse


class WrongValue(argparse.ArgumentTypeError):
    """What argparse takes for a wrong value; `wrong_words.py` tells it."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(f"expected {expected}, found {found!r}")
        self.expected, self.found = expected, found


def whole_number(text: str) -> int:
    """Any whole number."""
    try:
        return int(text)
    except ValueError:
        raise WrongValue("a whole number", text) from None


def count(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise WrongValue("a whole number of at least 1", text)
    return int(text)


def days(text: str) -> float:
    """A number of at least 0."""
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not number >= 0:
        raise WrongValue("a number of at least 0", text)
    return number
