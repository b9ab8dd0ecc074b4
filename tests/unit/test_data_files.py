"""Folders of data that come with the tool."""

import os
from pathlib import Path

import pytest

from reprobridge.data_files import data_folder, installed_state, launcher_folder, state_of
from reprobridge.errors import ReproBridgeError


def test_the_image_templates_are_found() -> None:
    assert (data_folder("image-templates") / "artifact/cookiecutter.json").is_file()


def test_a_missing_folder_says_where_it_was_sought() -> None:
    with pytest.raises(ReproBridgeError) as caught:
        data_folder("no-such-data")
    assert caught.value.expected is not None
    assert "no-such-data" in caught.value.expected


def test_the_state_of_an_installation_stays_while_nothing_changes() -> None:
    assert installed_state() == installed_state()


def test_the_launcher_that_images_get_lies_where_its_state_is_taken() -> None:
    assert (launcher_folder() / "entry.py").is_file()


def test_an_edited_added_or_deleted_file_changes_the_state_and_a_compiled_one_does_not(
    tmp_path: Path,
) -> None:
    module = tmp_path / "stage" / "module.py"
    module.parent.mkdir()
    module.write_text("a = 1")
    states = [state_of([tmp_path])]
    (tmp_path / "stage" / "__pycache__").mkdir()
    (tmp_path / "stage" / "__pycache__" / "module.pyc").write_bytes(b"x")
    assert state_of([tmp_path]) == states[0]
    os.utime(module, ns=(1, 1))  # an edit of the same length
    states.append(state_of([tmp_path]))
    (tmp_path / "other.py").write_text("")
    states.append(state_of([tmp_path]))
    module.unlink()
    states.append(state_of([tmp_path]))
    assert len(set(states)) == len(states)
