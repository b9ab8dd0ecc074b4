"""Archives as sources: all formats, and hostile or damaged ones."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError
from reprobridge.lock.archive import below, open_archive, strip_top
from reprobridge.lock.tree import keep_tree
from reprobridge.store.store import Store
from support.lock_doors import temporary_files
from support.tree_dump import dump_tar

COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "two gzip members": lambda data: gzip.compress(data[:700]) + gzip.compress(data[700:]),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


def member(
    name: str, data: bytes = b"", *, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644
) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname, info.mode = len(data), kind, link, mode
    return info, data


def tar(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(
        fileobj=stream, mode="w", format=tarfile.PAX_FORMAT, errors="surrogateescape"
    ) as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def typical() -> bytes:
    return tar(
        member("./pkg-1.0/", kind=tarfile.DIRTYPE, mode=0o700),
        member("./pkg-1.0/run.py", b"print(1)\n"),
        member("./pkg-1.0/tool", b"#!/bin/sh\n", mode=0o777),
        member("./pkg-1.0/link", kind=tarfile.SYMTYPE, link="run.py"),
        member("./pkg-1.0/hard", kind=tarfile.LNKTYPE, link="./pkg-1.0/tool"),
        member("./pkg-1.0/.git/config", b"[core]\n"),
    )


def zipped(*entries: tuple[str, bytes, int], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, data, attributes in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr, info.compress_type = attributes << 16, compression
            archive.writestr(info, data)
    return stream.getvalue()


@pytest.fixture
def store(store_folder: Path) -> Store:
    return Store(store_folder)


def kept(store: Store, data: bytes) -> Digest:
    """The tree's digest, with all that `source.py` does to an archive's members."""
    path = store.path(store.add(data))
    with open_archive(path, store.root, name="source.tar") as found:
        return keep_tree(store, strip_top(found), where="source.tar").blob


def dumped(store: Store, data: bytes) -> list[str]:
    return [line for line in dump_tar(store.path(kept(store, data))) if ".git" not in line]


def refusal(store: Store, data: bytes) -> str:
    with pytest.raises(ArtifactError) as raised:
        kept(store, data)
    assert not temporary_files(store.root)
    return str(raised.value)


@pytest.mark.parametrize("compressor", COMPRESSORS)
def test_a_tar_of_any_compression_gives_the_same_tree_without_its_top_folder(
    store: Store, compressor: str
) -> None:
    lines = dumped(store, COMPRESSORS[compressor](typical()))
    assert [line.split(" ", 1)[0] + " " + line.rsplit(" ", 1)[1] for line in lines] == [
        "file hard", "symlink run.py", "file run.py", "file tool",
    ]  # fmt: skip
    assert lines[0].removesuffix("hard") == lines[3].removesuffix("tool")
    assert lines[3].startswith("file 0755")
    assert not temporary_files(store.root)


def test_a_zip_gives_the_same_tree_as_a_tar(store: Store) -> None:
    data = zipped(
        ("pkg-1.0/", b"", 0o40755),
        ("pkg-1.0/run.py", b"print(1)\n", 0o100644),
        ("pkg-1.0/tool", b"#!/bin/sh\n", 0o100755),
        ("pkg-1.0/hard", b"#!/bin/sh\n", 0o100755),
        ("pkg-1.0/link", b"run.py", 0o120777),
    )
    assert dumped(store, data) == dumped(store, typical())


def test_only_a_single_top_folder_is_stripped(store: Store) -> None:
    data = tar(member("a/x"), member("b/y"))
    assert [line.split()[-1] for line in dumped(store, data)] == ["a/x", "b/y"]
    assert [line.split()[-1] for line in dumped(store, tar(member("alone")))] == ["alone"]


def test_below_gives_a_folders_part(store: Store) -> None:
    path = store.path(
        store.add(tar(member("a/b/x"), member("a/bc/y"), member("a/b/l", kind=tarfile.SYMTYPE, link="x")))
    )
    with open_archive(path, store.root, name="s") as found:
        assert [one.entry.path for one in below(found, "a/b/")] == ["x", "l"]


def test_the_last_member_of_a_path_counts_in_a_tar(store: Store) -> None:
    data = tar(member("a", b"old"), member("./a", b"newest"), member("b"))
    assert dumped(store, data)[0] == dumped(store, tar(member("a", b"newest"), member("b")))[0]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (tar(member("../evil")), "the component '..'"),
        (tar(member("a/../../evil")), "the component '..'"),
        (tar(member("/etc/evil"), member("x")), "absolute"),
        (tar(member("l", kind=tarfile.SYMTYPE, link="/etc"), member("l/x")), "relative links"),
        (tar(member("l", kind=tarfile.SYMTYPE, link="../.."), member("x")), "links that stay in the source"),
        (tar(member("l", kind=tarfile.SYMTYPE, link="x"), member("l/y"), member("x/z")), "below 'l'"),
        (tar(member("h", kind=tarfile.LNKTYPE, link="/etc/passwd")), "hard link leads nowhere"),
        (tar(member("h", kind=tarfile.LNKTYPE, link="h")), "hard link leads nowhere"),
        (tar(member("dev", kind=tarfile.CHRTYPE)), "special file"),
        (tar(member("pipe", kind=tarfile.FIFOTYPE)), "special file"),
        (tar(member("a/.wh.x")), "delete files of other layers"),
        (tar(member("caf\udce9"), member("x")), "names in UTF-8"),
        (zipped(("../evil", b"", 0)), "the component '..'"),
        (zipped(("a\\b", b"", 0)), "backslash"),
        (zipped(("l", b"../..", 0o120777), ("x", b"", 0)), "links that stay in the source"),
        (zipped(("l", b"\xff", 0o120777), ("x", b"", 0)), "a path in UTF-8"),
        (tar(), "the source is empty"),
        (b"<html>not found</html>" * 100, "cannot be used"),
        (b"", "cannot be used"),
        (gzip.compress(typical(), mtime=0)[:-200], "cannot be used"),
        (zstandard.ZstdCompressor().compress(typical())[:40], "cannot be used"),
        (lzma.compress(typical())[:-40], "cannot be used"),
        (typical()[:1100], "cannot be used"),
    ],
    ids=lambda value: value if isinstance(value, str) else "archive",  # some bytes hold the time
)
def test_a_hostile_or_broken_archive_is_refused(store: Store, data: bytes, reason: str) -> None:
    assert reason in refusal(store, data)


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
def test_a_zip_with_two_members_of_one_path_is_refused(store: Store) -> None:
    assert "it twice" in refusal(store, zipped(("a", b"1", 0), ("a", b"2", 0)))


def test_a_zip_member_with_a_wrong_checksum_is_refused_while_it_is_read(store: Store) -> None:
    data = zipped(("a", b"content", 0), compression=zipfile.ZIP_STORED)
    assert "Bad CRC-32" in refusal(store, data.replace(b"content", b"CONTENT"))


def test_an_encrypted_zip_is_refused(store: Store) -> None:
    data = bytearray(zipped(("a", b"content", 0)))
    data[data.index(b"PK\x01\x02") + 8] |= 1
    assert "encrypted" in refusal(store, bytes(data))


def test_a_utf8_name_without_its_flag_is_read_as_utf8(store: Store) -> None:
    data = zipped(("caf\N{LATIN SMALL LETTER E WITH ACUTE}", b"", 0))
    flag = data.replace(b"\x00\x08", b"\x00\x00")  # the bit of both headers
    assert dumped(store, flag)[0].endswith("café")


@pytest.mark.parametrize(
    "data", [gzip.compress(bytes(40 << 20)), zipped(("zeros", bytes(40 << 20), 0))], ids=["gzip", "zip"]
)
def test_a_bomb_is_refused_before_it_fills_the_disk(store: Store, data: bytes) -> None:
    path = store.path(store.add(data))
    with (
        pytest.raises(ArtifactError, match="more than"),
        open_archive(path, store.root, name="b", slack=1 << 20),
    ):
        pytest.fail("it was opened")
    assert not temporary_files(store.root)


def test_a_sparse_member_counts_with_the_bytes_that_it_becomes(store: Store) -> None:
    info, _ = member("sparse")
    info.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(1 << 40), "GNU.sparse.name": "sparse"}
    assert "more than source code ever does" in refusal(store, tar((info, b"")))


def test_a_zip_with_an_uncommon_compression_is_refused(store: Store) -> None:
    assert "method 14" in refusal(store, zipped(("a", b"content", 0), compression=zipfile.ZIP_LZMA))


SOUND = {
    "tar": typical(),
    "zip": zipped(("p/run.py", b"print(1)\n" * 9, 0o100755), ("p/l", b"run.py", 0o120777)),
}


@pytest.mark.parametrize("kind", SOUND)
@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(data=st.data())
def test_a_damaged_archive_is_read_or_refused_and_nothing_else(
    store_folder: Path, kind: str, data: st.DataObject
) -> None:
    damaged = bytearray(SOUND[kind])
    for position in data.draw(st.lists(st.integers(0, len(damaged) - 1), min_size=1, max_size=4)):
        damaged[position] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del damaged[data.draw(st.integers(0, len(damaged))) :]
    store = Store(store_folder)
    try:
        kept(store, bytes(damaged))
    except ArtifactError:
        assert not temporary_files(store.root)
