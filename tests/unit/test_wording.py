"""Words that depend on a number."""

import pytest

from reprobridge.wording import counted


@pytest.mark.parametrize(("number", "text"), [(0, "0 files"), (1, "1 file"), (2, "2 files")])
def test_only_one_is_singular(number: int, text: str) -> None:
    assert counted(number, "file") == text
