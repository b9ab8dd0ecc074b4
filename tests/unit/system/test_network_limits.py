"""No server decides how much is read: bodies without an end, and lengths that are not true."""

import pytest

from reprobridge.errors import NetworkError
from reprobridge.system.network import SMALL, TooLong, fetch_at_most, read_url
from support.file_server import FileServer, endless, said_length, truncated
from support.lock_doors import impatient

BODY = b"index" * 13_000


def test_a_body_without_an_end_is_refused_at_its_limit_and_not_asked_for_again(
    file_server: FileServer,
) -> None:
    url = file_server.put("/InRelease", BODY)
    file_server.fail("/InRelease", endless())
    with pytest.raises(TooLong) as caught:
        read_url(impatient(), url)
    assert url in caught.value.message
    assert (caught.value.expected, caught.value.found) == (f"at most {SMALL} bytes", "more")
    assert caught.value.hint
    assert file_server.paths() == ["/InRelease"]


def test_a_body_of_exactly_the_limit_is_read(file_server: FileServer) -> None:
    got = bytearray()
    fetch_at_most(impatient(), file_server.put("/a", BODY), len(BODY), lambda: got.extend)
    assert got == BODY
    with pytest.raises(TooLong):
        fetch_at_most(impatient(), file_server.put("/a", BODY), len(BODY) - 1, lambda: got.extend)


def test_each_attempt_has_the_whole_limit(file_server: FileServer) -> None:
    file_server.fail("/a", truncated(len(BODY) - 1, times=2))
    got: list[bytearray] = []

    def begin() -> object:
        got.append(bytearray())
        return got[-1].extend

    fetch_at_most(impatient(), file_server.put("/a", BODY), len(BODY), begin)  # type: ignore[arg-type]  # a sink
    assert got[-1] == BODY
    assert len(got) == 3


@pytest.mark.parametrize("length", [len(BODY) + 1, 1 << 60])
def test_a_length_that_promises_more_than_comes_is_an_error(file_server: FileServer, length: int) -> None:
    url = file_server.put("/a", BODY)
    file_server.fail("/a", said_length(length))
    with pytest.raises(NetworkError, match="cannot fetch") as caught:
        read_url(impatient(), url)
    assert caught.value.expected == "an answer"


def test_what_comes_beyond_the_promised_length_is_not_read(file_server: FileServer) -> None:
    url = file_server.put("/a", BODY)
    file_server.fail("/a", said_length(7))
    assert read_url(impatient(), url) == BODY[:7]
