"""Taking a tree that somebody else wrote."""

import os
from pathlib import Path

from reprobridge.system.trees import take_tree


def test_only_files_and_folders_are_taken_and_the_rest_is_named(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "a/b").mkdir(parents=True)
    (source / "a/b/x").write_text("x")
    (source / "a/link").symlink_to("/etc/passwd")
    (source / "folder-link").symlink_to("/etc")
    os.mkfifo(source / "a/pipe")
    left = take_tree(source, tmp_path / "target")
    assert left == ["a/link", "a/pipe", "folder-link"]
    taken = sorted(
        path.relative_to(tmp_path / "target").as_posix() for path in (tmp_path / "target").rglob("*")
    )
    assert taken == ["a", "a/b", "a/b/x"]


def test_what_is_there_already_stays(tmp_path: Path) -> None:
    (tmp_path / "source/new").mkdir(parents=True)
    (tmp_path / "target/old").mkdir(parents=True)
    assert take_tree(tmp_path / "source", tmp_path / "target") == []
    assert sorted(path.name for path in (tmp_path / "target").iterdir()) == ["new", "old"]
