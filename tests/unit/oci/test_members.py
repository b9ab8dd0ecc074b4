"""gzip members: the pinned encoder, and inflating what others compressed."""

import gzip
import hashlib
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.errors import AssembleError
from reprobridge.oci import members


def raw(data: bytes, level: int = 6) -> bytes:
    """A raw DEFLATE stream made by somebody else's encoder."""
    encoder = zlib.compressobj(level, zlib.DEFLATED, -15)
    return encoder.compress(data) + encoder.flush()


def inflated(stream: bytes, size: int, *, step: int = members.WINDOW) -> bytes:
    """What a stream that comes in pieces inflates to."""
    blocks = (stream[start : start + step] for start in range(0, len(stream), step))
    return b"".join(members.inflate(blocks, size))


@given(st.binary(max_size=5000))
def test_a_member_is_a_gzip_file_of_its_bytes(data: bytes) -> None:
    assert gzip.decompress(members.member(data)) == data


@given(st.lists(st.binary(max_size=500), max_size=5))
def test_members_in_a_row_are_one_gzip_file(parts: list[bytes]) -> None:
    assert gzip.decompress(b"".join(map(members.member, parts))) == b"".join(parts)


def test_a_member_has_neither_time_nor_name_nor_system() -> None:
    assert members.member(b"x")[:10] == b"\x1f\x8b\x08\0\0\0\0\0\0\xff"


def test_the_trailer_counts_modulo_four_gigabytes() -> None:
    assert members.tail(1, (1 << 32) + 5) == members.tail(1, 5)


@pytest.mark.parametrize(
    ("level", "golden"),
    [
        (members.THOROUGH, "1d631761c059dcafdacd72d9fc34ca5cca66cab442ea0952ae5428ce58918211"),
        (members.LIGHT, "c384fe9d7ddea8260b531b6171aa1122cf182e8a68953ff0126ab57523e629ba"),
    ],
)
def test_the_encoder_gives_the_bytes_that_releases_are_made_with(level: int, golden: str) -> None:
    packed = members.member(members.golden_input(), level)
    assert hashlib.sha256(packed[10:-8]).hexdigest() == golden


def test_another_encoder_is_refused() -> None:
    with pytest.raises(AssembleError, match="other bytes") as caught:
        members.prove(raw)
    assert "golden vector" in str(caught.value)


def test_an_encoder_that_differs_at_one_level_only_is_refused() -> None:
    from deflate import deflate_compress

    with pytest.raises(AssembleError, match="level 1"):
        members.prove(lambda data, level: deflate_compress(data, max(level, 2)))


@given(st.binary(max_size=3000), st.integers(min_value=1, max_value=400), st.integers(0, 9))
def test_a_stream_inflates_however_its_pieces_are_cut(data: bytes, step: int, level: int) -> None:
    assert inflated(raw(data, level), len(data), step=step) == data


def test_pieces_stay_small_whatever_a_stream_holds() -> None:
    size = 40 << 20
    sizes = [len(piece) for piece in members.inflate([raw(bytes(size), 9)], size)]
    assert max(sizes) <= members.WINDOW
    assert sum(sizes) == size


@given(st.binary(max_size=2000), st.binary(max_size=3), st.integers(-2, 2), st.integers(0, 3))
def test_a_short_stream_inflates_like_a_long_one(data: bytes, more: bytes, off: int, lost: int) -> None:
    stream = raw(data) + more
    stream = stream[: len(stream) - lost]
    size = max(0, len(data) + off)
    assert outcome(lambda: members.inflate_small(stream, size)) == outcome(lambda: inflated(stream, size))


def outcome(inflate: Callable[[], bytes]) -> bytes | None:
    """Bytes, or None for a broken stream."""
    try:
        return inflate()
    except members.BrokenStreamError:
        return None


@given(st.binary(min_size=1, max_size=2000), st.data())
def test_a_stream_that_is_cut_off_is_refused(data: bytes, choose: st.DataObject) -> None:
    stream = raw(data)
    keep = choose.draw(st.integers(0, len(stream) - 1))
    with pytest.raises(members.BrokenStreamError):
        inflated(stream[:keep], len(data))


@given(st.binary(max_size=2000), st.binary(min_size=1, max_size=20), st.sampled_from([1, 7, members.WINDOW]))
def test_bytes_behind_the_end_of_a_stream_are_refused(data: bytes, more: bytes, step: int) -> None:
    with pytest.raises(members.BrokenStreamError, match="behind its end"):
        inflated(raw(data) + more, len(data), step=step)


@pytest.mark.parametrize("claimed", [0, 99, 101, 1 << 40])
def test_a_stream_of_another_length_is_refused(claimed: int) -> None:
    with pytest.raises(members.BrokenStreamError, match="bytes"):
        inflated(raw(bytes(100)), claimed)


def test_a_bomb_is_stopped_at_its_claimed_length() -> None:
    taken: list[bytes] = []
    with pytest.raises(members.BrokenStreamError, match="more than 1000000 bytes"):
        taken.extend(members.inflate([raw(bytes(50 << 20), 9)], 1_000_000))
    assert sum(map(len, taken)) <= 1_000_000


def test_garbage_is_refused() -> None:
    with pytest.raises(members.BrokenStreamError):
        inflated(b"\xff\xff\xff\xff", 4)


@pytest.mark.parametrize("stream", [b"\x03\x00", b"\x01\x00\x00\xff\xff"])
def test_empty_streams_of_every_block_type_are_fine(stream: bytes) -> None:
    assert inflated(stream, 0) == b""
