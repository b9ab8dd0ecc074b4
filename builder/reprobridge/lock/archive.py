"""What stands in a source archive: tar (plain, gzip, bzip2, xz, zstd) and zip, told apart by their bytes.

Nothing is extracted: the archive's members become `Found` entries whose bytes are read from the archive (or
from its decompressed copy, a temporary file) when the tree is kept. Names and links are judged there, for
all sources alike; here we refuse what has no place in a tree at all, and bombs.
A single top folder is stripped, as in every release archive. Of members of one path the last one of a tar
counts, as for tar itself; a zip must not have two.
"""

import contextlib
import functools
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, cast

from reprobridge.digest import CHUNK
from reprobridge.errors import ArtifactError
from reprobridge.lock.tree import Found, found_file, found_link
from reprobridge.lock.tree_checks import name_problem
from reprobridge.system import files

SLACK = 256 << 20
"""Bytes that any archive may unpack to."""
RATIO = 200
"""Bytes that each byte of an archive may unpack to beyond `SLACK`; source text stays below 20."""
MEMBERS = 1_000_000
"""Most members of an archive."""

_ENCRYPTED = 0x1
_UTF8_NAME = 0x800
_BROKEN_MEMBER = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)
_BROKEN = (*_BROKEN_MEMBER, lzma.LZMAError, struct.error, OSError, ValueError, LookupError, OverflowError)


@contextlib.contextmanager
def open_archive(path: Path, scratch: Path, *, name: str, slack: int = SLACK) -> Iterator[list[Found]]:
    """The files and links of an archive, readable while the context is open; `name` is for errors.

    It may unpack to `slack` bytes, and to `RATIO` times its own. A compressed tar is copied, decompressed, into a temporary file in `scratch`. Raises ArtifactError for
    what is broken, hostile, or no archive, also while its files are read.
    """
    limit = slack + RATIO * path.stat().st_size
    with contextlib.ExitStack() as stack:
        try:
            if _is_zip(path):
                found = list(_zip_members(stack.enter_context(zipfile.ZipFile(path))))
            else:
                tar = stack.enter_context(_plain_tar(path, scratch, limit))
                found = list(_tar_members(tar))
        except _BROKEN as error:
            raise _broken(name, str(error) or type(error).__name__) from error
        if (size := sum(one.entry.size for one in found)) > limit:
            raise _broken(name, f"one that unpacks to {size} bytes, more than source code ever does")
        try:
            yield found
        except _BROKEN_MEMBER as error:
            raise _broken(name, str(error) or type(error).__name__) from error


def strip_top(found: Iterable[Found]) -> list[Found]:
    """Drop the first component of every path when it is the same folder in all of them."""
    listed = list(found)
    tops = {one.entry.path.partition("/")[0] for one in listed}
    if len(tops) != 1 or any("/" not in one.entry.path for one in listed):
        return listed
    top = tops.pop()
    return listed if name_problem(top) else below(listed, top)


def below(found: Iterable[Found], folder: str) -> list[Found]:
    """What stands below a folder, with paths relative to it."""
    prefix = f"{folder.strip('/')}/"
    return [
        _renamed(one, one.entry.path.removeprefix(prefix))
        for one in found
        if one.entry.path.startswith(prefix)
    ]


def _renamed(found: Found, path: str) -> Found:
    if found.open is None:
        return found_link(path, found.entry.link)
    executable = bool(found.entry.mode & 0o100)
    return found_file(path, found.entry.size, executable=executable, opener=found.open)


# tar


@contextlib.contextmanager
def _plain_tar(path: Path, scratch: Path, limit: int) -> Iterator[tarfile.TarFile]:
    with contextlib.ExitStack() as stack:
        blocks = _decompressed(path)
        if blocks is not None:
            plain, stream = stack.enter_context(files.unfinished(scratch))
            for block in blocks:
                stream.write(block)
                if stream.tell() > limit:
                    raise ValueError(f"one that decompresses to more than {limit} bytes")
            stream.flush()
            path = plain
        source = stack.enter_context(path.open("rb"))
        yield stack.enter_context(
            tarfile.open(fileobj=source, mode="r:", encoding="utf-8", errors="surrogateescape")
        )


def _decompressed(path: Path) -> Iterator[bytes] | None:
    """The decompressed bytes in pieces, or None for what isn't compressed."""
    with path.open("rb") as stream:
        head = stream.read(6)
    if head.startswith(b"\x1f\x8b"):
        import gzip

        return _blocks(cast("IO[bytes]", gzip.GzipFile(path)))
    if head.startswith(b"BZh"):
        import bz2

        return _blocks(bz2.BZ2File(path))
    if head == b"\xfd7zXZ\0":
        return _blocks(lzma.LZMAFile(path))
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return _zstd_blocks(path)
    return None


def _blocks(source: IO[bytes]) -> Iterator[bytes]:
    with source:
        while block := source.read(CHUNK):
            yield block


def _zstd_blocks(path: Path) -> Iterator[bytes]:
    import zstandard

    with path.open("rb") as stream:
        reader = zstandard.ZstdDecompressor().stream_reader(stream, read_across_frames=True)
        try:
            while block := reader.read(CHUNK):
                yield block
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error


def _tar_members(tar: tarfile.TarFile) -> Iterator[Found]:
    last: dict[str, tarfile.TarInfo] = {}
    for member in tar:
        if len(last) >= MEMBERS:
            raise ValueError(f"more than {MEMBERS} members")
        if not member.isdir():
            path = _tidied(member.name)
            last.pop(path, None)
            last[path] = member
    for path, member in last.items():
        if member.issym():
            yield found_link(path, member.linkname)
        else:
            yield _tar_file(tar, path, member)


def _tar_file(tar: tarfile.TarFile, path: str, member: tarfile.TarInfo) -> Found:
    real = _link_target(tar, member) if member.islnk() else member
    if not real.isreg():
        raise ArtifactError(
            "the archive holds a special file",
            where=ascii(member.name),
            expected="files, folders and links to them",
            found="a device, a pipe, or a hard link to something that is no file",
        )

    def opener() -> BinaryIO:
        return cast("BinaryIO", tar.extractfile(real))

    return found_file(path, real.size, executable=bool(real.mode & 0o100), opener=opener)


def _link_target(tar: tarfile.TarFile, member: tarfile.TarInfo) -> tarfile.TarInfo:
    for _ in range(40):
        try:
            # The member of that name that stands before the link, as tar itself would have extracted it.
            member = tar._find_link_target(member)  # type: ignore[attr-defined]  # noqa: SLF001
        except KeyError:
            break
        if not member.islnk():
            return member
    raise ValueError(f"a hard link leads nowhere: {member.name!r} -> {member.linkname!r}")


# zip


def _is_zip(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(4) in {b"PK\x03\x04", b"PK\x05\x06"}


def _zip_members(archive: zipfile.ZipFile) -> Iterator[Found]:
    members = archive.infolist()
    if len(members) > MEMBERS:
        raise ValueError(f"more than {MEMBERS} members")
    for member in members:
        path = _tidied(_zip_name(member))
        if member.flag_bits & _ENCRYPTED:
            raise ValueError(f"{path!r} is encrypted")
        if member.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise ValueError(f"{path!r} is compressed by method {member.compress_type}")
        mode = member.external_attr >> 16
        if stat.S_ISLNK(mode):
            yield found_link(path, archive.read(member).decode("utf-8", "surrogateescape"))
        elif not member.is_dir():
            opener = functools.partial(_open_member, archive, member)
            yield found_file(path, member.file_size, executable=bool(mode & 0o100), opener=opener)


def _open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> BinaryIO:
    return cast("BinaryIO", archive.open(member, mode="r"))


def _zip_name(member: zipfile.ZipInfo) -> str:
    name = member.orig_filename
    if "\\" in name:
        raise ValueError(f"{name!r} has a backslash")
    if not member.flag_bits & _UTF8_NAME:
        # zipfile took the bytes for code page 437; nearly everybody writes UTF-8 and forgets the flag.
        name = name.encode("cp437").decode("utf-8", "surrogateescape")
    return name


def _tidied(name: str) -> str:
    """Without `./` at the start and `//` or `/./` inside; everything else stays to be judged."""
    parts = [part for part in name.split("/") if part not in {"", "."}]
    return ("/" if name.startswith("/") else "") + "/".join(parts)


def _broken(name: str, found: str) -> ArtifactError:
    return ArtifactError(
        "the source archive cannot be used",
        where=name,
        expected="a sound tar (plain, gzip, bzip2, xz, zstd) or zip",
        found=found,
    )
