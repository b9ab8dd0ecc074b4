"""Downloads: only the blob's bytes, taken up where the connection broke."""

import random

import pytest

from fakes.scripted_http import Canned, ScriptedHttp, Sent
from reprobridge.errors import RegistryError
from reprobridge.registry.refusals import LostBlobError, Unreachable
from support.registries import Waiting, blob_of, client

MIB = 1 << 20
DATA = random.Random(4).randbytes(5 * MIB + 3)
BLOB = blob_of(DATA).descriptor


def pulled(servers: ScriptedHttp, waiting: Waiting | None = None) -> list[bytes]:
    """The pieces that arrive; those before an error are in the error's notes."""
    return list(client("ghcr.io", servers, waiting=waiting).blob_blocks("a/b", BLOB))


def breaking(step: int, *, ranges: bool = True) -> ScriptedHttp:
    """A server whose connections break after so many bytes."""

    def servers(sent: Sent) -> Canned:
        start = int(sent.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-")) if ranges else 0
        rest = DATA[start:]
        headers = {"content-range": f"bytes {start}-{len(DATA) - 1}/{len(DATA)}"} if start else {}
        return Canned(206 if start else 200, rest[:step], headers, breaks=step < len(rest))

    return ScriptedHttp(servers)


def test_a_blob_arrives_in_pieces_of_a_mebibyte() -> None:
    blocks = pulled(ScriptedHttp(lambda _: Canned(data=DATA)))
    assert b"".join(blocks) == DATA
    assert max(map(len, blocks)) == MIB


@pytest.mark.parametrize("data", [b"", b"x"])
def test_a_small_blob_arrives(data: bytes) -> None:
    ours = client("ghcr.io", ScriptedHttp(lambda _: Canned(data=data)))
    assert b"".join(ours.blob_blocks("a/b", blob_of(data).descriptor)) == data


def test_a_broken_connection_is_taken_up_where_it_broke() -> None:
    http = breaking(2 * MIB)
    assert b"".join(pulled(http)) == DATA
    asked = [sent.headers.get("Range") for sent in http.sent]
    assert asked == [None, f"bytes={2 * MIB}-", f"bytes={4 * MIB}-"]


def test_tries_that_bring_much_are_not_counted_and_others_are() -> None:
    waiting = Waiting()
    assert b"".join(pulled(breaking(MIB), waiting)) == DATA
    assert waiting.waited == [0.5] * 5
    http = breaking(MIB // 2)
    with pytest.raises(Unreachable):
        pulled(http)
    assert len(http.sent) == 5


def test_a_server_that_knows_no_ranges_is_read_from_the_beginning() -> None:
    steps = [MIB + 5, 3 * MIB, len(DATA)]

    def servers(sent: Sent) -> Canned:
        step = steps.pop(0)
        return Canned(200, DATA[:step], breaks=step < len(DATA))

    assert b"".join(pulled(ScriptedHttp(servers))) == DATA


@pytest.mark.parametrize("end", [1, MIB, 5 * MIB, len(DATA)])
def test_the_whole_of_a_wrong_blob_is_never_given(end: int) -> None:
    wrong = bytearray(DATA)
    wrong[end - 1] ^= 1
    given = bytearray()
    with pytest.raises(RegistryError, match="other bytes") as raised:
        client("ghcr.io", ScriptedHttp(lambda _: Canned(data=bytes(wrong)))).pull_blob(
            "a/b", BLOB, given.extend
        )
    assert len(given) < len(DATA)
    assert raised.value.where == f"ghcr.io/a/b@{BLOB.digest}"
    assert str(BLOB.digest) in (raised.value.expected or "")


def test_more_bytes_than_the_blob_has_are_not_taken() -> None:
    with pytest.raises(RegistryError, match="more bytes than the blob has"):
        pulled(ScriptedHttp(lambda _: Canned(data=DATA + b"x")))


def test_another_length_is_refused_before_anything_moves() -> None:
    http = ScriptedHttp(lambda _: Canned(data=DATA, headers={"content-length": "7"}))
    with pytest.raises(RegistryError, match="another size"):
        pulled(http)


def test_an_answer_that_ends_too_early_without_saying_so_is_no_blob() -> None:
    with pytest.raises(RegistryError, match="too short"):
        pulled(ScriptedHttp(lambda sent: Canned(data=DATA[:10])))


@pytest.mark.parametrize("content_range", ["bytes 0-9/10", "", "bytes */10", "pages 1-2"])
def test_another_part_than_asked_for_is_refused(content_range: str) -> None:
    answers = [Canned(data=DATA[:MIB], breaks=True), Canned(206, DATA, {"content-range": content_range})]
    with pytest.raises(RegistryError, match="another part"):
        pulled(ScriptedHttp(lambda _: answers.pop(0)))


def test_a_blob_that_is_not_there_is_told() -> None:
    http = ScriptedHttp(lambda _: Canned(404, b'{"errors": [{"code": "BLOB_UNKNOWN", "message": "no"}]}'))
    with pytest.raises(LostBlobError, match="BLOB_UNKNOWN") as caught:
        pulled(http)
    assert caught.value.message == "the registry has lost a blob that its manifest names"
    assert caught.value.wanted == BLOB.digest
    assert str(BLOB.digest) in str(caught.value.where)
    assert "publish --check-blobs" in str(caught.value.hint)
    assert len(http.sent) == 1
