"""Canonical tar headers, read back by Python's tarfile."""

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.oci.tar import BLOCK, END, MTIME, EntryKind, TarEntry, directory, header, padding, symlink

PARTS = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=40
).filter(lambda part: part not in (".", ".."))
PATHS = st.lists(PARTS, min_size=1, max_size=9).map("/".join)


def read(blocks: bytes) -> tarfile.TarInfo:
    """The one entry of a stream."""
    with tarfile.open(fileobj=io.BytesIO(blocks + END)) as archive:
        members = archive.getmembers()
    assert len(members) == 1
    return members[0]


@given(PATHS, st.integers(0, 0o7777), st.binary(max_size=1500))
def test_a_file_reads_back_as_it_was(path: str, mode: int, data: bytes) -> None:
    entry = TarEntry(path, EntryKind.FILE, mode, len(data))
    stream = header(entry) + data + padding(len(data))
    found = read(stream)
    assert (found.name, found.mode, found.size, found.type) == (path, mode, len(data), tarfile.REGTYPE)
    assert len(stream) % BLOCK == 0


@given(PATHS, PATHS)
def test_a_symbolic_link_reads_back_as_it_was(path: str, target: str) -> None:
    found = read(header(symlink(path, target)))
    assert (found.name, found.linkname, found.type, found.size) == (path, target, tarfile.SYMTYPE, 0)


@given(PATHS, PATHS)
def test_a_hard_link_reads_back_as_it_was(path: str, target: str) -> None:
    found = read(header(TarEntry(path, EntryKind.HARDLINK, 0o644, link=target)))
    assert (found.name, found.linkname, found.type) == (path, target, tarfile.LNKTYPE)


@given(PATHS)
def test_a_directory_reads_back_as_it_was(path: str) -> None:
    found = read(header(directory(path)))
    assert (found.name, found.mode, found.type) == (path, 0o755, tarfile.DIRTYPE)


def test_owner_time_and_names_are_constant() -> None:
    found = read(header(TarEntry("x", EntryKind.FILE, 0o644)))
    assert (found.uid, found.gid, found.uname, found.gname, found.mtime) == (0, 0, "", "", MTIME)


def test_owner_and_group_of_the_system_are_kept() -> None:
    found = read(header(TarEntry("x", EntryKind.FILE, 0o644, gid=42, uid=100)))
    assert (found.uid, found.gid) == (100, 42)


@pytest.mark.parametrize(
    ("path", "blocks"), [("a" * 100, 1), ("a" * 101, 3), ("ü", 3), ("d/" + "e" * 97, 1), ("é" * 600, 5)]
)
def test_pax_is_used_only_where_ustar_does_not_suffice(path: str, blocks: int) -> None:
    assert len(header(TarEntry(path, EntryKind.FILE, 0o644))) == blocks * BLOCK


@pytest.mark.parametrize("size", [8**11 - 1, 8**11, 10**11])
def test_sizes_beyond_eight_gigabytes_are_kept(size: int) -> None:
    blocks = header(TarEntry("big", EntryKind.FILE, 0o644, size))
    with tarfile.open(fileobj=io.BytesIO(blocks), mode="r|") as archive:
        found = archive.next()
    assert found is not None
    assert found.size == size


def test_a_path_that_is_not_utf8_keeps_its_bytes() -> None:
    path = b"caf\xe9/x".decode("utf-8", "surrogateescape")
    assert b"path=caf\xe9/x\n" in header(TarEntry(path, EntryKind.FILE, 0o644))


@given(st.integers(80, 1100))
def test_the_length_of_a_pax_record_counts_itself(length: int) -> None:
    path = "p" * length
    found = read(header(TarEntry(path, EntryKind.FILE, 0o644)))
    assert found.name == path


def test_the_checksum_holds_for_the_heaviest_header() -> None:
    heavy = (b"\xff" * 100).decode("utf-8", "surrogateescape")
    entry = TarEntry(heavy, EntryKind.HARDLINK, 0o7777, link=heavy, gid=0o7777777, uid=0o7777777)
    block = header(entry)[-BLOCK:]
    expected = sum(block[:148]) + 8 * 0x20 + sum(block[156:])
    assert int(block[148:154], 8) == expected
