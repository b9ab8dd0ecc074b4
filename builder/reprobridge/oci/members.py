"""gzip members: how a tar stream becomes a layer, with DEFLATE data that we received passed on as it is.

A gzip file may consist of several members (RFC 1952 §2.2), so a layer is a chain of them: members around
DEFLATE streams that somebody else made, and members that we compress ourselves.
Whatever we compress goes through one pinned encoder: libdeflate, in pieces of at most `PIECE` bytes. Its output
does not depend on the CPU (guides/decisions/0003-deflate-encoder.md), but may change with its release, so the
encoder proves itself on a golden vector before its first use and refuses to work otherwise. `ENCODER` is part
of every recipe's key.
Inflating may use any library, since its output is defined: ISA-L here.
"""

import functools
import hashlib
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, cast

from reprobridge.errors import AssembleError

if TYPE_CHECKING:
    from isal.igzip_lib import IgzipDecompressor

ENCODER = "libdeflate-1.25/1"
"""Identity and revision of the encoder: libdeflate, at `THOROUGH` unless a converter says `LIGHT`."""
THOROUGH, LIGHT = 6, 1
"""How hard pieces are compressed. LIGHT suits what is little beside streams that are passed on: in torch's layer
it saves 0.3 of 3 CPU seconds and costs 0.4 % of the bytes."""
CODEC = "gzip-members/1"
"""Identity and revision of the layer's outer format, `PIECE` and `PASSED_ON` included; in every recipe's key."""
PIECE = 1 << 20
"""Most bytes that go into one member of ours, so that memory does not grow with a file."""
PASSED_ON = 4096
"""Streams of more bytes than this are passed on; shorter ones are cheaper to inflate and to compress together
with their tar headers. Layers against a bound of 0: torch -3 %, scipy -0.5 %, jedi -30 %, at less CPU (ADR 2)."""
SMALL = 64 << 10
"""Most bytes that a stream may inflate to and still be taken together with others."""
WINDOW = 256 << 10
"""Most bytes of a stream that are read, and that are inflated, at once: both stay in a core's cache."""
HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
"""Header of each member: no name, no time, unknown system."""

_GOLDEN = {
    THOROUGH: "1d631761c059dcafdacd72d9fc34ca5cca66cab442ea0952ae5428ce58918211",
    LIGHT: "c384fe9d7ddea8260b531b6171aa1122cf182e8a68953ff0126ab57523e629ba",
}


class BrokenStreamError(ValueError):
    """A DEFLATE stream is damaged, or ends elsewhere than it should."""


def tail(crc: int, size: int) -> bytes:
    """Trailer of a member: CRC-32 and length modulo 2^32 of what it inflates to."""
    return struct.pack("<II", crc, size & 0xFFFFFFFF)


def member(data: bytes, level: int = THOROUGH) -> bytes:
    """One member of ours around at most `PIECE` bytes, compressed `THOROUGH` or `LIGHT`."""
    return b"".join((HEAD, _proven_encoder()(data, level), tail(zlib.crc32(data), len(data))))


def chain(data: bytes) -> bytes:
    """Members of ours around any number of bytes; nothing for none."""
    return b"".join(member(data[start : start + PIECE]) for start in range(0, len(data), PIECE))


def inflate(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """What a raw DEFLATE stream holds, in pieces of at most `WINDOW` bytes.

    Raises BrokenStreamError unless the stream ends exactly with the last block and holds exactly `size` bytes.
    """
    new_inflater, isal_error = _isal()
    inflater = new_inflater()
    left = size
    try:
        for block in blocks:
            if inflater.eof:
                raise BrokenStreamError("bytes behind its end")
            data = inflater.decompress(block, WINDOW)
            while data:
                left -= len(data)
                if left < 0:
                    raise BrokenStreamError(f"more than {size} bytes")
                yield data
                data = b"" if inflater.needs_input or inflater.eof else inflater.decompress(b"", WINDOW)
    except isal_error as error:
        raise BrokenStreamError(str(error)) from error
    if not inflater.eof:
        raise BrokenStreamError(f"no end after {size - left} bytes")
    if inflater.unused_data:
        raise BrokenStreamError("bytes behind its end")
    if left:
        raise BrokenStreamError(f"{size - left} bytes")


def inflate_small(stream: bytes, size: int) -> bytes:
    """What a whole stream of at most `SMALL` bytes holds; errors as for `inflate`."""
    new_inflater, isal_error = _isal()
    inflater = new_inflater()
    try:
        data: bytes = inflater.decompress(stream, size + 1)
    except isal_error as error:
        raise BrokenStreamError(str(error)) from error
    if len(data) != size or not inflater.eof or inflater.unused_data:
        found = "bytes behind its end" if inflater.eof and inflater.unused_data else f"{len(data)} bytes"
        raise BrokenStreamError(found)
    return data


@functools.cache
def _isal() -> "tuple[Callable[[], IgzipDecompressor], type[Exception]]":
    """What makes an inflater for a raw stream, and what such a one raises."""
    from isal import igzip_lib

    # isal's stub declares the class of its errors as an instance
    new_inflater = functools.partial(igzip_lib.IgzipDecompressor, igzip_lib.DECOMP_DEFLATE)
    return new_inflater, cast("type[Exception]", igzip_lib.error)


@functools.cache
def golden_input() -> bytes:
    """The bytes on which the encoder proves itself: text-like, repetitive and noisy stretches."""
    noise = b"".join(hashlib.sha256(b"%d" % number).digest() for number in range(512))
    words = b" ".join(b"path/%d/to/%d" % (number % 97, number % 31) for number in range(4096))
    return noise + words + bytes(8192) + noise[:4096] + words[::3]


def prove(encode: Callable[[bytes, int], bytes | bytearray]) -> None:
    """Raise AssembleError unless this is the encoder that releases are made with, at every level."""
    for level, golden in _GOLDEN.items():
        found = hashlib.sha256(encode(golden_input(), level)).hexdigest()
        if found != golden:
            raise AssembleError(
                "this machine's libdeflate gives other bytes than the release was made with",
                expected=f"golden vector {golden[:16]}… at level {level}",
                found=f"{found[:16]}…",
                hint="reinstall reprobridge's own dependencies (the `deflate` package) from wheels",
            )


@functools.cache
def _proven_encoder() -> Callable[[bytes, int], bytearray]:
    from deflate import deflate_compress

    prove(deflate_compress)
    return deflate_compress
