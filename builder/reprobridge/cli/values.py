"""Values of options, read: what cannot be read says what would have been right."""

import argparse
from pathlib import Path


class WrongValue(argparse.ArgumentTypeError):
    """What argparse takes for a wrong value; `wrong_words.py` tells it."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(f"expected {expected}, found {found!r}")
        self.expected, self.found = expected, found


def path_word(text: str) -> Path:
    """A path; an empty word, as of an unset variable, is none, and neither is a `~` that no shell has read."""
    if not text:
        raise WrongValue("a path", text)
    if is_unread(text):
        raise WrongValue(WRITTEN_OUT, text)
    return Path(text)


WRITTEN_OUT = "a path with ~ written out, as in $HOME/…: behind = and : no shell reads it (./~ is a folder of that name)"


def is_unread(text: str) -> bool:
    """Whether a path begins with the `~` that shells replace by the home folder."""
    return text == "~" or text.startswith("~/")


def whole_number(text: str) -> int:
    """A whole number of at least 0."""
    return _whole(text, 0)


def count(text: str) -> int:
    """A whole number of at least 1."""
    return _whole(text, 1)


def _whole(text: str, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise WrongValue(f"a whole number of at least {least}", text)
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
