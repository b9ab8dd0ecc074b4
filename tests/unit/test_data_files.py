"""Folders of data that come with the tool."""

import pytest

from reprobridge.data_files import data_folder
from reprobridge.errors import ReproBridgeError


def test_the_image_templates_are_found() -> None:
    assert (data_folder("image-templates") / "artifact/cookiecutter.json").is_file()


def test_a_missing_folder_says_where_it_was_sought() -> None:
    with pytest.raises(ReproBridgeError) as caught:
        data_folder("no-such-data")
    assert caught.value.expected is not None
    assert "no-such-data" in caught.value.expected
