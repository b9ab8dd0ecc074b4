"""The least that turning wheels into layers costs: `python -m benchmarks.floor FOLDER NAME…`, in one thread.

Inflate each member once; SHA-256 of each member (RECORD), of the tar stream, and of the layer, which is about
as long as the wheel. The wheel's own SHA-256 is taken when it is downloaded, which is not timed here.
Reading comes from the page cache, as in the builds, and nothing is written.
"""

import hashlib
import mmap
import struct
import sys
import zipfile
from pathlib import Path

from isal import isal_zlib

_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_BLOCK = 1 << 20


def floor_of(wheel: Path) -> None:
    """Do it for one wheel."""
    tar = hashlib.sha256()
    with wheel.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        layer = hashlib.sha256(data)
        with zipfile.ZipFile(wheel) as archive:
            members = archive.infolist()
        for member in members:
            *_, name, extra = _LOCAL_HEADER.unpack_from(data, member.header_offset)
            start = member.header_offset + _LOCAL_HEADER.size + name + extra
            _hash_member(data, start, member, tar)
    layer.digest()
    tar.digest()


def _hash_member(data: mmap.mmap, start: int, member: zipfile.ZipInfo, tar: "hashlib._Hash") -> None:
    content = hashlib.sha256()
    inflater = isal_zlib.decompressobj(wbits=-15)
    end = start + member.compress_size
    while start < end:
        block = data[start : min(start + _BLOCK, end)]
        start += len(block)
        plain = block if member.compress_type == zipfile.ZIP_STORED else inflater.decompress(block)
        content.update(plain)
        tar.update(plain)
    content.digest()


if __name__ == "__main__":
    folder, *names = sys.argv[1:]
    for name in names:
        floor_of(Path(folder) / name)
