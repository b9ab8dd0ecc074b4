"""Reading back the archives that we make, and no others."""

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.errors import ArtifactError
from reprobridge.oci.tar import BLOCK, END, EntryKind, TarEntry, directory, header, padding, symlink
from reprobridge.oci.tar_reader import read_entries

PARTS = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=60
).filter(lambda part: part not in (".", ".."))
PATHS = st.lists(PARTS, min_size=1, max_size=5).map("/".join)
FILES = st.builds(
    lambda path, mode, data, gid: (TarEntry(path, EntryKind.FILE, mode, len(data), gid=gid), data),
    PATHS,
    st.integers(0, 0o7777),
    st.binary(max_size=1500),
    st.integers(0, 65534),
)
LINKS = st.builds(lambda path, target: (symlink(path, target), b""), PATHS, PATHS)
FOLDERS = st.builds(lambda path: (directory(path), b""), PATHS)
ENTRIES = st.lists(FILES | LINKS | FOLDERS, max_size=5)


def written(entries: list[tuple[TarEntry, bytes]]) -> bytes:
    """The archive of these."""
    return b"".join(header(entry) + data + padding(len(data)) for entry, data in entries) + END


def read(data: bytes) -> list[tuple[TarEntry, bytes]]:
    """The entries of an archive."""
    return [(entry, stream.read()) for entry, stream in read_entries(io.BytesIO(data))]


@given(ENTRIES)
def test_what_was_written_reads_back(entries: list[tuple[TarEntry, bytes]]) -> None:
    assert read(written(entries)) == entries


def test_names_that_are_no_utf_8_read_back() -> None:
    entry = TarEntry("caf\udce9" + "x" * 100, EntryKind.FILE, 0o644)
    assert read(written([(entry, b"")])) == [(entry, b"")]


@given(ENTRIES)
def test_content_that_nobody_reads_is_passed_over(entries: list[tuple[TarEntry, bytes]]) -> None:
    found = [entry for entry, _ in read_entries(io.BytesIO(written(entries)))]
    assert found == [entry for entry, _ in entries]


def test_content_comes_in_pieces_and_ends_with_the_file() -> None:
    archive = written([(TarEntry("a", EntryKind.FILE, 0o644, 5), b"12345")])
    _, stream = next(read_entries(io.BytesIO(archive)))
    assert [stream.read(2), stream.read(2), stream.read(2), stream.read(2)] == [b"12", b"34", b"5", b""]


@given(st.data())
def test_an_archive_that_ends_early_is_refused(data: st.DataObject) -> None:
    whole = written([(TarEntry("a/b", EntryKind.FILE, 0o644, 600), b"x" * 600)])
    cut = data.draw(st.integers(0, len(whole) - len(END) - 1).filter(lambda size: size < BLOCK + 600))
    with pytest.raises(ArtifactError):
        read(whole[:cut])


@given(st.integers(0, BLOCK - 1), st.integers(1, 255))
def test_a_header_with_another_byte_is_refused(place: int, change: int) -> None:
    whole = bytearray(written([(TarEntry("a", EntryKind.FILE, 0o644, 1), b"1")]))
    whole[place] ^= change
    with pytest.raises(ArtifactError):
        read(bytes(whole))


def test_an_archive_of_somebody_else_is_refused() -> None:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("a"), io.BytesIO(b""))
    with pytest.raises(ArtifactError, match="written in another way"):
        read(archive.getvalue())


@pytest.mark.parametrize("record", [b"0 a=b\n", b"-6 a=b\n", b"3 a\n", b"99 a=b\n", b"x a=b\n", b" "])
def test_records_that_say_a_wrong_length_are_refused(record: bytes) -> None:
    with pytest.raises(ArtifactError):
        read(extended(b"%011o\0" % len(record), record))


@pytest.mark.parametrize("size", [b"-0000000001\0", b"77777777777\0", b"00000000000\0"])
def test_an_extended_header_of_absurd_size_is_refused_before_it_is_read(size: bytes) -> None:
    with pytest.raises(ArtifactError, match="extended header"):
        read(extended(size, b""))


def extended(size: bytes, records: bytes) -> bytes:
    """An archive that begins with an extended header which says this size and holds this."""
    block = bytearray(header(TarEntry("pax", EntryKind.FILE, 0o644)))
    block[124:136], block[156:157] = size, b"x"
    return bytes(block) + records.ljust(BLOCK, b"\0") + header(TarEntry("a", EntryKind.FILE, 0o644)) + END
