"""The store's files have the modes that are asked for; what users get has the mode that their umask leaves."""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reprobridge.system import durable, files

UMASKS = (0o002, 0o022, 0o027, 0o077)
WRITERS: dict[str, Callable[[Path, files.Mode], None]] = {
    "write_file": lambda path, mode: files.write_file(path, b"x", mode=mode),
    "write_stream": lambda path, mode: files.write_stream(path, [b"x"], mode=mode),
    "create_durably": lambda path, mode: durable.create_durably(path, b"x", mode=mode),
}


@pytest.fixture(params=UMASKS, ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """This process's umask during the test."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("writer", WRITERS)
def test_what_users_get_has_the_mode_that_their_umask_leaves(writer: str, umask: int, tmp_path: Path) -> None:
    WRITERS[writer](tmp_path / "file", files.USUAL)
    assert mode(tmp_path / "file") == 0o666 & ~umask


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("asked", [0o600, 0o644])
def test_a_mode_that_is_asked_for_does_not_depend_on_the_umask(
    writer: str, asked: int, umask: int, tmp_path: Path
) -> None:
    WRITERS[writer](tmp_path / "file", asked)
    assert (mode(tmp_path / "file"), bool(umask)) == (asked, True)


def test_a_file_that_has_a_name_from_the_beginning_has_the_same_mode(umask: int, tmp_path: Path) -> None:
    with files.unfinished(tmp_path) as (temporary, stream):
        files.keep(temporary, stream, tmp_path / "file", mode=files.USUAL)
    assert mode(tmp_path / "file") == 0o666 & ~umask


def test_users_get_links_to_the_stores_files_unless_these_are_more_open_than_their_umask(
    umask: int, tmp_path: Path
) -> None:
    source, target = tmp_path / "blob", tmp_path / "target"
    files.write_file(source, b"x")
    files.link_or_copy(source, target, mode=files.USUAL)
    is_link = umask in (0o002, 0o022)
    assert (target.samefile(source), mode(target)) == (is_link, 0o644 if is_link else 0o666 & ~umask)
    assert (target.read_bytes(), mode(source)) == (b"x", 0o644)


def test_files_of_another_tool_get_the_mode_that_the_umask_leaves(umask: int, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "a", tmp_path / "folder" / "b"):
        path.touch()
        path.chmod(0o604)
    files.make_usual(tmp_path)
    assert {mode(tmp_path / "a"), mode(tmp_path / "folder" / "b")} == {0o666 & ~umask}
