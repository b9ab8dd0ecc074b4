"""Reading a wheel's members without holding more than a block of one."""

import contextlib
import mmap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from reprobridge.assemble.wheel.directory import Member, broken, read_directory
from reprobridge.oci import members

_MOST_WHOLE = 64 << 20
"""Most bytes of a member that is read whole: metadata, RECORD, scripts that are rewritten."""


class WheelArchive:
    """An open wheel. Made by `open_wheel`; every failure is an ArtifactError that names wheel and member."""

    def __init__(self, name: str, data: mmap.mmap) -> None:
        self.name = name
        """The wheel's file name."""
        self._data = data
        self.members: Mapping[str, Member] = {member.name: member for member in read_directory(name, data)}
        """Its files in the order of the directory; folders are left out."""

    def packed(self, member: Member) -> Iterable[bytes]:
        """What the archive holds of a member, in pieces of at most `members.WINDOW` bytes."""
        end = member.start + member.packed_size
        if member.packed_size <= members.WINDOW:
            return (self._data[member.start : end],)
        return (
            self._data[start : min(start + members.WINDOW, end)]
            for start in range(member.start, end, members.WINDOW)
        )

    def content(self, member: Member) -> Iterator[bytes]:
        """A member's bytes in pieces; length and CRC have been checked when the last one has been taken."""
        from isal import isal_zlib

        crc = 0
        pieces = self.packed(member)
        try:
            for data in members.inflate(pieces, member.size) if member.deflated else pieces:
                crc = isal_zlib.crc32(data, crc)
                yield data
        except members.BrokenStreamError as error:
            raise broken(self.name, member.name, f"{member.size} bytes", str(error)) from error
        if crc != member.crc:
            raise broken(self.name, member.name, f"CRC-32 {member.crc:08x}", f"{crc:08x}")

    def begins(self, member: Member, start: bytes) -> bool:
        """Whether a member's bytes begin like this."""
        return next(self.content(member), b"").startswith(start)

    def read(self, member: Member) -> bytes:
        """A small member's bytes, whole and checked."""
        if member.size > _MOST_WHOLE:
            raise broken(self.name, member.name, f"at most {_MOST_WHOLE} bytes", f"{member.size} bytes")
        return b"".join(self.content(member))


@contextlib.contextmanager
def open_wheel(path: Path, name: str) -> Iterator[WheelArchive]:
    """The wheel at `path`, called `name` in errors. Raises ArtifactError for what is no sound archive."""
    with path.open("rb") as stream:
        try:
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:
            raise broken(name, None, "a zip archive", "an empty file") from error
        with data:
            yield WheelArchive(name, data)
