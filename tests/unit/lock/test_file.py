"""The lock file."""

import json
from pathlib import Path

import pytest

from reprobridge.errors import LockError
from reprobridge.lock.file import lock_bytes, parse_lock, read_lock, write_lock
from support.odd_files import make_odd
from support.specs import sample_deb, sample_lock, sample_wheel

LOCK = sample_lock((sample_wheel("six"), sample_wheel("numpy")), extra=(sample_deb("libgl1"),))


def test_a_lock_reads_back_as_written(tmp_path: Path) -> None:
    write_lock(tmp_path / "reprobridge.lock", LOCK)
    assert read_lock(tmp_path / "reprobridge.lock") == LOCK


def test_each_package_is_one_line() -> None:
    lines = lock_bytes(LOCK).decode().splitlines()
    assert len([line for line in lines if '"version"' in line and '"name"' in line]) == 6


def test_a_missing_lock_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(LockError, match="reprobridge lock"):
        read_lock(tmp_path / "reprobridge.lock")


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"\xff", b'{"schema": "reprobridge.lock/9"}', b"[" * 10**5]
)
def test_what_is_no_lock_is_refused_with_its_place(data: bytes) -> None:
    with pytest.raises(LockError, match=r"the\.file"):
        parse_lock(data, "the.file")


def places() -> list[tuple[str | int, ...]]:
    """The path of every value in the sample lock."""

    def below(value: object, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
        items = (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        )
        return [path, *(place for key, item in items for place in below(item, (*path, key)))]

    return [place for place in below(json.loads(lock_bytes(LOCK)), ()) if place]


@pytest.mark.parametrize("place", places(), ids=str)
def test_a_value_of_another_type_anywhere_is_an_error_that_names_the_place(
    place: tuple[str | int, ...],
) -> None:
    lock = json.loads(lock_bytes(LOCK))
    holder = lock
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = 3.5
    with pytest.raises(LockError, match="expected"):
        parse_lock(json.dumps(lock).encode(), "lock")


def test_a_lock_of_a_later_release_advises_to_upgrade() -> None:
    data = lock_bytes(LOCK).replace(b"reprobridge.lock/1", b"reprobridge.lock/2")
    with pytest.raises(LockError, match="upgrade reprobridge"):
        parse_lock(data, "lock")


def test_what_a_merge_left_open_is_told() -> None:
    sides = lock_bytes(LOCK).replace(b'"schema"', b'<<<<<<< HEAD\n=======\n>>>>>>> other\n"schema"')
    line = sides.split(b"\n").index(b"<<<<<<< HEAD") + 1
    for data in (sides, sides.replace(b"\n", b"\r\n")):
        with pytest.raises(LockError, match="both sides of a merge") as caught:
            parse_lock(data, "lock")
        assert caught.value.found == f"the marks of a merge, from line {line} on"
        assert "take one of them" in str(caught.value.hint)


def test_a_key_that_a_merge_left_twice_is_refused() -> None:
    data = lock_bytes(LOCK).replace(b'"size": 1', b'"size": 2, "size": 1', 1)
    assert data != lock_bytes(LOCK)
    with pytest.raises(LockError, match='the key "size" twice') as caught:
        parse_lock(data, "lock")
    assert "version control" in str(caught.value)


@pytest.mark.parametrize("digits", [19, 400, 6000])
def test_a_number_that_is_no_size_of_anything_is_refused(digits: int) -> None:
    data = lock_bytes(LOCK).replace(b'"size": 1', b'"size": 1' + b"0" * (digits - 1), 1)
    with pytest.raises(LockError, match=r"a number of \d+ digits"):
        parse_lock(data, "lock")


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"[]", "another kind (list)"),
        (b'"x"', "another kind (str)"),
        (b"null", "another kind"),
        (b"{}", "none"),
    ],
)
def test_what_is_not_even_an_object_is_said_to_be_none(data: bytes, found: str) -> None:
    with pytest.raises(LockError) as caught:
        parse_lock(data, "lock")
    assert found in str(caught.value.found)


def test_text_that_no_file_can_hold_is_refused() -> None:
    data = lock_bytes(LOCK).replace(b"six-1.0-py3-none-any.whl", rb"\ud800.whl")
    with pytest.raises(LockError, match=r"wheels\[\d\]\.file\.name is wrong"):
        parse_lock(data, "lock")


@pytest.mark.parametrize(("field", "value"), [("kind", "weird"), ("date", "yesterday")])
def test_a_source_of_no_known_kind_or_date_is_refused(field: str, value: str) -> None:
    lock = json.loads(lock_bytes(LOCK))
    lock["source"][field] = value
    with pytest.raises(LockError, match="source is wrong"):
        parse_lock(json.dumps(lock).encode(), "lock")


@pytest.mark.parametrize("kind", ["folder", "pipe", "endless link", "too long"])
def test_what_is_no_file_to_read_is_refused_with_a_hint(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "reprobridge.lock"
    make_odd(path, kind)
    with pytest.raises(LockError, match="the lock cannot be read") as caught:
        read_lock(path)
    error = caught.value
    assert error.where == str(path)
    assert error.expected
    assert error.found
    assert error.hint


@pytest.mark.parametrize("name", ["../evil.whl", "a/b.whl", "", ".."])
def test_a_file_name_with_folders_is_refused(name: str) -> None:
    data = lock_bytes(LOCK).replace(b"six-1.0-py3-none-any.whl", name.encode())
    with pytest.raises(LockError, match="file name without folders"):
        parse_lock(data, "lock")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("size", -1),
        ("name", "bash2"),
        ("version", "2"),
        ("architecture", "arm64"),
        ("pool", "pool/x_1_amd64.deb"),
    ],
)
def test_a_debian_package_is_the_one_that_its_pool_path_names(key: str, value: object) -> None:
    lock = json.loads(lock_bytes(LOCK))
    lock["platforms"]["linux/amd64"]["debian"]["base"][1][key] = value
    with pytest.raises(LockError, match=r"debian\.base\[1\] is wrong"):
        parse_lock(json.dumps(lock).encode(), "lock")


def test_a_lock_that_may_not_be_written_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LockError, match="the lock cannot be written") as caught:
        write_lock(tmp_path / "file" / "reprobridge.lock", LOCK)
    assert caught.value.hint


@pytest.mark.parametrize("is_dangling", [False, True])
def test_a_lock_takes_no_links_place(is_dangling: bool, tmp_path: Path) -> None:
    (tmp_path / "shared").write_text("old")
    path = tmp_path / "reprobridge.lock"
    path.symlink_to("nowhere" if is_dangling else "shared")
    with pytest.raises(LockError, match="the lock cannot be written") as caught:
        write_lock(path, LOCK)
    assert str(caught.value.found).startswith("a link to")
    assert (caught.value.hint is not None, path.is_symlink()) == (True, True)


def test_a_link_that_leads_nowhere_is_named_where_a_lock_is_missing(tmp_path: Path) -> None:
    (tmp_path / "reprobridge.lock").symlink_to("nowhere")
    with pytest.raises(LockError, match="there is no lock yet") as caught:
        read_lock(tmp_path / "reprobridge.lock")
    assert caught.value.found == "a link to nowhere"
