"""Reading a .deb: an ar archive of `debian-binary`, control.tar and data.tar (deb(5)).

data.tar is unpacked once, in pieces, into a spool, because a fragment's order is not the package's;
so memory stays flat however large the package is.
"""

import contextlib
import gzip
import lzma
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, BinaryIO, cast

from reprobridge.digest import CHUNK
from reprobridge.errors import ArtifactError
from reprobridge.frozen import frozen
from reprobridge.system.files import spooled

_MAGIC = b"!<arch>\n"
_HEADER = 60
_CONTROL_LIMIT = 64 << 20
"""Most bytes of an unpacked control.tar; the largest in Debian has a few MiB."""


@frozen
class DebArchive:
    """An opened package."""

    control: Mapping[str, bytes]
    """Files of control.tar by name: `control`, `postinst`, `conffiles`, …"""
    data: tarfile.TarFile
    """data.tar, seekable."""


@contextlib.contextmanager
def open_deb(path: Path, name: str) -> Iterator[DebArchive]:
    """Open a package; `name` is what errors call it. Raises ArtifactError for anything that is no .deb."""
    with path.open("rb") as stream, spooled() as spool, _errors_named(name):
        members = dict(_members(stream, name))
        control_name, data_name = (_member(members, kind, name) for kind in ("control.tar", "data.tar"))
        with spooled() as control:
            _unpack(_Section(stream, *members[control_name]), control_name, control, _CONTROL_LIMIT)
            with tarfile.open(fileobj=control, mode="r:") as archive:
                files = {
                    member.name.removeprefix("./"): cast(IO[bytes], archive.extractfile(member)).read()
                    for member in archive
                    if member.isreg()
                }
        _unpack(_Section(stream, *members[data_name]), data_name, spool, None)
        with tarfile.open(fileobj=spool, mode="r:", errors="surrogateescape") as data:
            yield DebArchive(files, data)


def _members(stream: BinaryIO, name: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Name -> (offset, size) of each member of the ar archive; the first must be `debian-binary` 2.x."""
    if stream.read(len(_MAGIC)) != _MAGIC:
        raise ArtifactError(
            "not a Debian package", where=name, expected="an ar archive", found="something else"
        )
    offset = len(_MAGIC)
    while header := stream.read(_HEADER):
        if len(header) < _HEADER or header[58:] != b"`\n" or not header[48:58].strip().isdigit():
            raise ArtifactError(
                "the ar archive is broken", where=name, found=f"a bad header at byte {offset}"
            )
        member = header[:16].decode("ascii", "replace").rstrip().rstrip("/")
        size = int(header[48:58])
        offset += _HEADER
        if offset == len(_MAGIC) + _HEADER and (member != "debian-binary" or stream.read(2) != b"2."):
            raise ArtifactError(
                "not a Debian package that we can read", where=name, expected="format 2.x", found=member
            )
        yield member, (offset, size)
        offset += size + size % 2
        stream.seek(offset)


def _member(members: Mapping[str, tuple[int, int]], kind: str, name: str) -> str:
    for member in members:
        if member.rpartition("/")[2] in (kind, f"{kind}.xz", f"{kind}.gz", f"{kind}.zst"):
            return member
    raise ArtifactError(
        "a part of the package is missing or compressed in an unknown way",
        where=name,
        expected=f"{kind}, {kind}.xz, {kind}.gz or {kind}.zst",
        found=", ".join(members),
    )


class _Section:
    """A stretch of a file, as a file."""

    def __init__(self, stream: BinaryIO, offset: int, size: int) -> None:
        self._stream, self._left = stream, size
        stream.seek(offset)

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        data = self._stream.read(wanted)
        self._left -= len(data)
        return data


def _unpack(section: _Section, member: str, target: IO[bytes], limit: int | None) -> None:
    """Decompress a member into a spool and rewind it."""
    source = _decompressed(section, member)
    total = 0
    while block := source.read(CHUNK):
        total += len(block)
        if limit is not None and total > limit:
            raise ArtifactError("a package's control data are too large", expected=f"at most {limit} bytes")
        target.write(block)
    target.seek(0)


def _decompressed(section: _Section, member: str) -> IO[bytes]:
    packed = cast(IO[bytes], section)
    match member.rpartition(".")[2]:
        case "xz":
            return lzma.open(packed)
        case "gz":
            return cast(IO[bytes], gzip.open(packed))
        case "zst":
            import zstandard

            reader = zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
            return cast(IO[bytes], reader)
        case _:
            return packed


@contextlib.contextmanager
def _errors_named(name: str) -> Iterator[None]:
    """Every way in which a decompressor or tarfile says that bytes are broken, as our error."""
    try:
        yield
    except (lzma.LZMAError, zlib.error, EOFError, gzip.BadGzipFile, tarfile.TarError, UnicodeError) as error:
        raise ArtifactError("the package is broken", where=name, found=str(error)) from error
    except Exception as error:
        if type(error).__name__ == "ZstdError":  # imported only where a package needs it
            raise ArtifactError("the package is broken", where=name, found=str(error)) from error
        raise
