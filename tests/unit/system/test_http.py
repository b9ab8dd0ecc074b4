"""The door to HTTP servers: streams, tells what happened, and decides nothing."""

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from reprobridge.errors import ArtifactError, NetworkError
from reprobridge.system.http import (
    Body,
    NoAnswerError,
    OfflineHttp,
    RealHttp,
    Request,
    is_loopback,
    without_query,
)
from support.file_server import FileServer, redirect, status, truncated


def get(http: RealHttp, url: str) -> tuple[int, bytes]:
    with http.exchange(Request(method="GET", url=url)) as answer:
        return answer.status, b"".join(answer.blocks())


@contextlib.contextmanager
def raw_server(reply: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server for one request that says exactly this and hangs up; gives its address and what it heard."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(5)
                data = b""
                while not data.endswith(b"end of body"):
                    if not (block := connection.recv(1 << 16)):
                        break
                    data += block
                heard.append(data)
                connection.sendall(reply)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", heard
        finally:
            thread.join()


def test_a_name_that_means_no_address_is_told_apart_from_a_server_that_does_not_answer() -> None:
    with contextlib.closing(RealHttp()) as http:
        with pytest.raises(NoAnswerError) as unknown:
            get(http, "http://no-such-host.invalid/v2/")
        with socket.socket() as holder:
            holder.bind(("127.0.0.1", 0))  # without listening: nobody else can have the port
            port = holder.getsockname()[1]
            with pytest.raises(NoAnswerError) as refused:
                get(http, f"http://127.0.0.1:{port}/v2/")
    assert (unknown.value.unknown_host, refused.value.unknown_host) == (True, False)
    assert (unknown.value.timed_out, refused.value.timed_out) == (False, False)


def test_who_only_asks_does_not_wait_as_long_as_who_waits_for_work() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,  # takes connections, and says nothing
        contextlib.closing(RealHttp(asking_timeout=0.2)) as http,
    ):
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        with pytest.raises(NoAnswerError) as hung, http.exchange(Request(method="HEAD", url=url, asks=True)):
            pass
    assert hung.value.timed_out


def test_an_answer_of_any_status_is_given(real_http: RealHttp, file_server: FileServer) -> None:
    url = file_server.put("/x", b"bytes")
    assert get(real_http, url) == (200, b"bytes")
    file_server.fail("/x", status(503))
    assert get(real_http, url) == (503, b"")


def test_a_redirect_is_not_followed(real_http: RealHttp, file_server: FileServer) -> None:
    url = file_server.put("/x", b"bytes")
    file_server.fail("/x", redirect("/y"))
    with real_http.exchange(Request(method="GET", url=url)) as answer:
        assert (answer.status, answer.headers["location"]) == (302, "/y")


def test_cookies_are_not_kept(real_http: RealHttp, file_server: FileServer) -> None:
    url = file_server.put("/x", b"")
    file_server.fail("/x", status(200), redirect("/x"))
    with raw_server(b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 0\r\n\r\n") as (other, _):
        body = Body.of(b"end of body")
        with real_http.exchange(Request(method="PUT", url=other, body=body)) as answer:
            assert answer.headers["set-cookie"] == "a=b; Path=/"
    get(real_http, url)
    assert "cookie" not in file_server.requests[-1].headers


def test_a_body_is_streamed_with_its_length(real_http: RealHttp) -> None:
    body = Body(16, lambda: iter((b"12345", b"end of body")))
    with raw_server(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n") as (url, heard):
        request = Request(method="PUT", url=url, headers={"Content-Type": "a/b"}, body=body)
        with real_http.exchange(request) as answer:
            assert answer.status == 201
    head, _, sent = heard[0].partition(b"\r\n\r\n")
    assert sent == b"12345end of body"
    assert {b"Content-Length: 16", b"Content-Type: a/b", b"Accept-Encoding: identity"} <= set(
        head.split(b"\r\n")
    )
    assert b"chunked" not in head


def test_what_the_body_raises_rises_as_it_is(real_http: RealHttp, file_server: FileServer) -> None:
    def broken() -> Iterator[bytes]:
        yield b"1"
        raise ArtifactError("the file changed")

    request = Request(method="PUT", url=file_server.url, body=Body(2, broken))
    with pytest.raises(ArtifactError, match="the file changed"), real_http.exchange(request):
        pass


def test_a_body_that_breaks_off_is_no_answer(real_http: RealHttp, file_server: FileServer) -> None:
    url = file_server.put("/x", b"0123456789")
    file_server.fail("/x", truncated(4))
    with pytest.raises(NoAnswerError, match=r"no answer from 127\.0\.0\.1"):
        get(real_http, url)


def test_no_server_is_no_answer(real_http: RealHttp, file_server: FileServer) -> None:
    file_server.stop()
    with pytest.raises(NoAnswerError, match="expected: an HTTP answer"):
        get(real_http, file_server.url)


def test_a_secret_in_a_broken_header_is_not_told(real_http: RealHttp, file_server: FileServer) -> None:
    headers = {"Authorization": "Bearer s3cret\nX: y"}
    request = Request(method="GET", url=f"{file_server.url}/x?sig=s3cret", headers=headers)
    with pytest.raises(NoAnswerError) as raised, real_http.exchange(request):
        pass
    assert "s3cret" not in str(raised.value)
    assert "s3cret" not in repr(request)


def test_a_proxy_is_not_asked_for_this_machine(
    real_http: RealHttp, file_server: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert get(real_http, file_server.put("/x", b"near")) == (200, b"near")


def test_offline_nothing_is_asked() -> None:
    with (
        pytest.raises(NetworkError, match="drop --offline"),
        OfflineHttp().exchange(Request(method="GET", url="https://ghcr.io/v2/")),
    ):
        pass


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1"])
def test_this_machine_is_recognised(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "localhost.evil.org", "127.0.0.1.evil.org", "127.evil.org", "10.0.0.1"])
def test_another_machine_is_not_this_one(host: str) -> None:
    assert not is_loopback(host)


def test_an_address_is_shown_without_what_may_be_secret() -> None:
    assert without_query("https://user:pw@host:5000/v2/a?_state=secret#x") == "https://host:5000/v2/a"
