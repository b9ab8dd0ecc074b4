"""The home folder: HOME where it says one, else the system's word."""

import os
import pwd
from pathlib import Path

import pytest

from reprobridge.system.home import home_folder

KNOWN = Path(pwd.getpwuid(os.getuid()).pw_dir)


def test_an_absolute_home_is_taken() -> None:
    assert home_folder({"HOME": "/h/ann"}) == Path("/h/ann")


@pytest.mark.parametrize("said", [{}, {"HOME": ""}, {"HOME": "h/ann"}, {"HOME": "~"}], ids=str)
def test_an_empty_or_relative_home_counts_as_unset(said: dict[str, str]) -> None:
    assert home_folder(said) == KNOWN
