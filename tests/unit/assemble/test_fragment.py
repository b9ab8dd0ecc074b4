"""Fragments: files in, a tar stream and the same stream in gzip members out."""

import gzip
import hashlib
import io
import random
import tarfile
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.assemble.aside import Aside
from reprobridge.assemble.fragment import LONG, DeflatedFile, FragmentWriter, sorted_entries
from reprobridge.errors import ArtifactError
from reprobridge.oci import members
from reprobridge.oci.tar import END, EntryKind, TarEntry, symlink
from support.converted import Captured, read_tar

NOISE = random.Random(1).randbytes(300_000)


def raw(data: bytes) -> bytes:
    """A raw DEFLATE stream."""
    encoder = zlib.compressobj(6, zlib.DEFLATED, -15)
    return encoder.compress(data) + encoder.flush()


def cut(stream: bytes, step: int = members.WINDOW) -> Iterator[bytes]:
    """The stream in pieces."""
    return (stream[start : start + step] for start in range(0, len(stream), step))


def entry(path: str, size: int) -> TarEntry:
    """A plain file's entry."""
    return TarEntry(path, EntryKind.FILE, 0o644, size)


def deflated(path: str, data: bytes, stream: bytes | None = None) -> DeflatedFile:
    """A compressed file; `stream` when it is not the data's."""
    packed = raw(data) if stream is None else stream
    return DeflatedFile(entry(path, len(data)), zlib.crc32(data), len(packed), cut(packed), f"w.whl: {path}")


def both(sink: Captured) -> tuple[bytes, bytes]:
    """The stream, and what the compressed stream inflates to."""
    packed = b"".join(sink.packed)
    return b"".join(sink.pieces), gzip.decompress(packed) if packed else b""


@given(
    st.lists(st.tuples(st.sampled_from(["file", "stream", "deflated"]), st.binary(max_size=9000)), max_size=8)
)
def test_both_streams_hold_the_same_and_the_index_knows_it(files: list[tuple[str, bytes]]) -> None:
    sink = Captured()
    writer = FragmentWriter(sink)
    for number, (how, data) in enumerate(files):
        path = f"f{number}"
        match how:
            case "file":
                writer.file(entry(path, len(data)), data)
            case "stream":
                writer.stream(entry(path, len(data)), io.BytesIO(data))
            case _:
                writer.deflated(deflated(path, data))
    writer.close()
    tar, inflated = both(sink)
    assert tar == inflated
    assert [file.data for file in read_tar(tar).values()] == [data for _, data in files]
    expected = [hashlib.sha256(data).hexdigest() for _, data in files]
    assert [row.content for row in writer.entries] == expected


def test_a_long_stream_is_passed_on_untouched() -> None:
    stream = raw(NOISE)
    sink = Captured()
    writer = FragmentWriter(sink)
    writer.deflated(deflated("noise", NOISE))
    writer.close()
    assert stream in b"".join(sink.packed)
    assert both(sink)[0] == both(sink)[1]


def test_short_streams_share_a_member_with_their_neighbours() -> None:
    sink = Captured()
    writer = FragmentWriter(sink)
    for number in range(50):
        writer.deflated(deflated(f"f{number}", b"short %d" % number))
    writer.close()
    assert b"".join(sink.packed).count(members.HEAD) == 1


def test_a_short_stream_of_a_long_file_is_passed_on_so_that_memory_stays_flat() -> None:
    data = bytes(members.SMALL + 1)
    sink = Captured()
    writer = FragmentWriter(sink)
    writer.deflated(deflated("zeros", data))
    writer.close()
    assert raw(data) in b"".join(sink.packed)


@pytest.mark.parametrize("data", [b"short", NOISE], ids=["packed", "passed on"])
def test_bytes_do_not_depend_on_how_a_stream_is_cut(data: bytes) -> None:
    outputs = set()
    for step in (1 if len(data) < 10 else 999, 4096, members.WINDOW):
        sink = Captured()
        writer = FragmentWriter(sink)
        stream = raw(data)
        file = DeflatedFile(entry("x", len(data)), zlib.crc32(data), len(stream), cut(stream, step), "x")
        writer.deflated(file)
        writer.close()
        outputs.add((b"".join(sink.pieces), b"".join(sink.packed)))
    assert len(outputs) == 1


LARGE = random.Random(2).randbytes(LONG) + bytes(LONG)


def test_a_helper_changes_no_byte_and_no_digest() -> None:
    alone, helped = Captured(), Captured()
    writer = FragmentWriter(alone)
    writer.deflated(deflated("large", LARGE))
    writer.close()
    with Aside(helped) as aside:
        other = FragmentWriter(aside, helper=aside)
        other.deflated(deflated("large", LARGE))
        other.close()
        aside.settle()
    assert (helped.pieces, helped.packed) == (alone.pieces, alone.packed)
    assert other.entries == writer.entries
    assert other.entries[0].content == hashlib.sha256(LARGE).hexdigest()


def test_a_helper_notices_a_wrong_checksum() -> None:
    file = deflated("large", LARGE)._replace(crc=zlib.crc32(LARGE) ^ 1)

    def write() -> None:
        with Aside(Captured()) as aside:
            writer = FragmentWriter(aside, helper=aside)
            writer.deflated(file)
            writer.settled()

    with pytest.raises(ArtifactError, match="CRC-32"):
        write()


def test_bytes_do_not_depend_on_how_a_plain_file_is_read() -> None:
    data = NOISE * 8
    outputs = set()
    for step in (1000, 65536, len(data)):
        sink = Captured()
        writer = FragmentWriter(sink)
        writer.blocks(entry("x", len(data)), cut(data, step))
        writer.close()
        outputs.add(b"".join(sink.packed))
    assert len(outputs) == 1


def test_no_member_of_ours_holds_more_than_a_piece() -> None:
    sink = Captured()
    writer = FragmentWriter(sink)
    writer.file(entry("big", 3 * members.PIECE), bytes(3 * members.PIECE))
    writer.close()
    assert max(map(len, sink.pieces)) == members.PIECE


@pytest.mark.parametrize("data", [b"small", NOISE], ids=["packed", "passed on"])
@pytest.mark.parametrize("fault", ["crc", "cut", "more", "longer"])
def test_a_broken_stream_is_an_error_that_names_archive_and_member(data: bytes, fault: str) -> None:
    stream = raw(data)
    packed = {"cut": stream[:-2], "more": stream + b"junk"}.get(fault, stream)
    crc = zlib.crc32(data) ^ (fault == "crc")
    file = DeflatedFile(
        entry("x", len(data) + (fault == "longer")), crc, len(packed), cut(packed), "some.whl: x"
    )
    with pytest.raises(ArtifactError) as caught:
        FragmentWriter(Captured()).deflated(file)
    assert caught.value.where == "some.whl: x"


@pytest.mark.parametrize("size", [4, 6])
def test_a_plain_file_of_another_length_is_an_error(size: int) -> None:
    with pytest.raises(ArtifactError, match="another length"):
        FragmentWriter(Captured()).blocks(entry("x", size), [b"12345"])


def test_a_stream_is_read_only_as_far_as_the_entry_says() -> None:
    sink = Captured()
    writer = FragmentWriter(sink)
    source = io.BytesIO(b"headtail")
    writer.stream(entry("x", 4), source)
    writer.close()
    assert read_tar(both(sink)[0])["x"].data == b"head"
    assert source.read() == b"tail"


def names(tar: bytes) -> list[tuple[str, int]]:
    """Path and mode of every entry of a stream."""
    with tarfile.open(fileobj=io.BytesIO(tar + END)) as archive:
        return [(member.name, member.mode) for member in archive]


def test_every_folder_stands_once_before_what_it_holds() -> None:
    sink = Captured()
    writer = FragmentWriter(sink)
    for path in ("a/b/x", "a/b/y", "a/c/z"):
        writer.file(entry(path, 0), b"")
    writer.close()
    found = [name for name, _ in names(both(sink)[0])]
    assert found == ["a", "a/b", "a/b/x", "a/b/y", "a/c", "a/c/z"]


def test_a_folder_with_a_mode_of_its_own_keeps_it() -> None:
    sink = Captured()
    writer = FragmentWriter(sink)
    writer.folder(TarEntry("tmp", EntryKind.DIRECTORY, 0o1777))
    writer.file(entry("tmp/x", 0), b"")
    writer.close()
    assert names(both(sink)[0]) == [("tmp", 0o1777), ("tmp/x", 0o644)]


def test_a_fragment_for_a_chain_has_links_and_files_but_no_folders() -> None:
    sink = Captured()
    writer = FragmentWriter(sink, folders=False)
    writer.folder(TarEntry("tmp", EntryKind.DIRECTORY, 0o1777))
    writer.link(symlink("a", "b"))
    writer.close()
    assert names(both(sink)[0]) == [("a", 0o777)]
    assert [(row.path, row.mode, row.content) for row in writer.entries] == [
        ("tmp", 0o1777, ""),
        ("a", 0o777, "b"),
    ]


def test_entries_are_sorted_by_bytes_with_hard_links_behind_their_targets() -> None:
    entries = [
        TarEntry("a", EntryKind.HARDLINK, 0o644, link="z"),
        entry("é", 0),
        entry("z", 0),
        entry("Z", 0),
    ]
    assert [one.path for one in sorted_entries(entries)] == ["Z", "z", "é", "a"]
