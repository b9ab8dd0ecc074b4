"""The fake registry's faults happen where, how and as often as they are told to."""

import http.client
import socket
from dataclasses import replace

import pytest

from fakes.registry.content import sha256
from fakes.registry.exchange import Phase
from fakes.registry.faults import (
    Answer,
    Changed,
    Fault,
    LostReply,
    Meanwhile,
    Reset,
    Stall,
    declared,
    flipped,
    headers,
    html,
    redirect,
    status,
    truncated,
)
from fakes.registry.server import FakeRegistry
from fakes.registry.speaker import ask, begin, closing, push

NAME = "lab/paper"
DATA = b"0123456789" * 100
BASE = "/v2/"


def blob(registry: FakeRegistry) -> str:
    return f"/v2/{NAME}/blobs/{push(registry, NAME, DATA)}"


def statuses(registry: FakeRegistry, count: int) -> list[int]:
    return [ask(registry, "GET", BASE).status for _ in range(count)]


@pytest.mark.parametrize(
    ("times", "skip", "seen"), [(1, 0, [500, 200, 200]), (2, 1, [200, 500, 500]), (None, 0, [500, 500, 500])]
)
def test_a_fault_strikes_as_often_as_told_and_later(
    fake_registry: FakeRegistry, times: int | None, skip: int, seen: list[int]
) -> None:
    fake_registry.fail(Fault(Phase.BASE, Answer(status(500)), times=times, skip=skip))
    assert statuses(fake_registry, 3) == seen
    assert fake_registry.faults.met == seen.count(500)


def test_faults_come_one_after_the_other_and_end_when_healed(fake_registry: FakeRegistry) -> None:
    fake_registry.fail(*(Fault(Phase.BASE, Answer(status(code))) for code in (500, 503, 502)))
    assert statuses(fake_registry, 2) == [500, 503]
    fake_registry.heal()
    assert statuses(fake_registry, 1) == [200]


def test_a_fault_strikes_only_its_phase_and_its_reference(fake_registry: FakeRegistry) -> None:
    fake_registry.fail(Fault(Phase.MANIFEST_GET, Answer(status(500)), reference="1.0.0", times=None))
    assert statuses(fake_registry, 1) == [200]
    assert ask(fake_registry, "GET", f"/v2/{NAME}/manifests/latest").status == 404
    assert ask(fake_registry, "GET", f"/v2/{NAME}/manifests/1.0.0").status == 500


def test_a_fault_without_a_phase_strikes_any_request(fake_registry: FakeRegistry) -> None:
    fake_registry.fail(Fault(None, Answer(status(500)), skip=1))
    assert ask(fake_registry, "GET", f"/v2/{NAME}/manifests/latest").status == 404
    assert statuses(fake_registry, 2) == [500, 200]


@pytest.mark.parametrize("phase", [Phase.UPLOAD_END, Phase.UPLOAD_CHUNK])
@pytest.mark.parametrize("read", [0, 100, len(DATA)])
def test_a_reset_carries_nothing_out_and_ends_the_session(
    fake_registry: FakeRegistry, phase: Phase, read: int
) -> None:
    fake_registry.fail(Fault(phase, Reset(body=read)))
    location = begin(fake_registry, NAME).headers["location"]
    method = "PUT" if phase is Phase.UPLOAD_END else "PATCH"
    with pytest.raises(ConnectionResetError):
        ask(fake_registry, method, closing(location, sha256(DATA)), DATA)
    assert fake_registry.log[-1].received == read
    assert fake_registry.content.state() == {}
    assert ask(fake_registry, "GET", location).status == 404


def test_a_client_that_hangs_up_in_its_request_ends_the_session(fake_registry: FakeRegistry) -> None:
    location = begin(fake_registry, NAME).headers["location"]
    connection = http.client.HTTPConnection(fake_registry.host)
    connection.putrequest("PUT", closing(location, sha256(DATA)))
    connection.putheader("Content-Length", str(len(DATA)))
    connection.endheaders(DATA[:100])
    connection.sock.shutdown(socket.SHUT_WR)
    assert connection.sock.recv(1) == b""  # the server has noticed
    connection.close()
    assert (fake_registry.content.sessions, fake_registry.content.state()) == ({}, {})


def test_a_lost_reply_is_carried_out(fake_registry: FakeRegistry) -> None:
    fake_registry.fail(Fault(Phase.UPLOAD_END, LostReply()))
    with pytest.raises(ConnectionResetError):
        push(fake_registry, NAME, DATA)
    assert fake_registry.content.blobs == {sha256(DATA): DATA}


def test_a_stalled_request_is_not_answered(fake_registry: FakeRegistry) -> None:
    fake_registry.fail(Fault(Phase.BASE, Stall()))
    host, _, port = fake_registry.host.partition(":")
    with socket.create_connection((host, int(port)), timeout=0.05) as connection:
        connection.sendall(b"GET /v2/ HTTP/1.1\r\n\r\n")
        with pytest.raises(TimeoutError):
            connection.recv(1)
    assert statuses(fake_registry, 1) == [200]


def test_an_answer_comes_instead_and_nothing_is_carried_out(fake_registry: FakeRegistry) -> None:
    said = status(429, b"TOOMANYREQUESTS", Retry_After="7")
    fake_registry.fail(Fault(Phase.UPLOAD_END, Answer(said)))
    location = begin(fake_registry, NAME).headers["location"]
    answer = ask(fake_registry, "PUT", closing(location, sha256(DATA)), DATA)
    assert (answer.status, answer.body, answer.headers["retry-after"]) == (429, b"TOOMANYREQUESTS", "7")
    assert fake_registry.content.blobs == {}


def test_an_early_answer_comes_before_the_body_is_read(fake_registry: FakeRegistry) -> None:
    fake_registry.fail(Fault(Phase.UPLOAD_END, Answer(status(401), early=1000)))
    location = begin(fake_registry, NAME).headers["location"]
    body = bytes(8 << 20)
    assert ask(fake_registry, "PUT", closing(location, sha256(body)), body).status == 401
    assert fake_registry.log[-1].received == 1000


def test_headers_of_the_right_answer_change_and_vanish(fake_registry: FakeRegistry) -> None:
    fake_registry.fail(Fault(Phase.UPLOAD_START, headers(Location=None, Range="0-7")))
    begun = begin(fake_registry, NAME)
    assert (begun.status, "location" in begun.headers, begun.headers["range"]) == (202, False, "0-7")


@pytest.mark.parametrize(
    ("change", "reset"), [(truncated(10), False), (truncated(10, reset=True), True), (declared(5), False)]
)
def test_an_answer_breaks_off(fake_registry: FakeRegistry, change: object, reset: bool) -> None:
    target = blob(fake_registry)
    assert callable(change)
    fake_registry.fail(Fault(Phase.BLOB_GET, Changed(change)))
    with pytest.raises(ConnectionResetError if reset else http.client.IncompleteRead):
        ask(fake_registry, "GET", target)
    assert ask(fake_registry, "GET", target).body == DATA


def test_an_answer_says_less_than_it_is(fake_registry: FakeRegistry) -> None:
    target = blob(fake_registry)
    fake_registry.fail(Fault(Phase.BLOB_GET, Changed(declared(-5))))
    assert ask(fake_registry, "GET", target).body == DATA[:-5]


def test_an_answer_has_one_wrong_byte(fake_registry: FakeRegistry) -> None:
    target = blob(fake_registry)
    fake_registry.fail(Fault(Phase.BLOB_GET, Changed(flipped(3))))
    body = ask(fake_registry, "GET", target).body
    assert (len(body), body[:3], body[3], body[4:]) == (len(DATA), DATA[:3], DATA[3] ^ 1, DATA[4:])


@pytest.mark.parametrize("after", [False, True])
def test_somebody_changes_the_content_before_or_after(fake_registry: FakeRegistry, after: bool) -> None:
    fake_registry.fail(Fault(Phase.UPLOAD_END, Meanwhile(lambda content: content.sessions.clear(), after)))
    location = begin(fake_registry, NAME).headers["location"]
    answer = ask(fake_registry, "PUT", closing(location, sha256(DATA)), DATA)
    assert answer.status == (201 if after else 404)


def test_redirects_and_pages_of_html_are_what_they_say(fake_registry: FakeRegistry) -> None:
    assert (redirect("http://other/x").status, redirect("http://other/x").headers["Location"]) == (
        307,
        "http://other/x",
    )
    fake_registry.fail(Fault(Phase.TAGS, Answer(replace(html(), status=200))))
    answer = ask(fake_registry, "GET", f"/v2/{NAME}/tags/list")
    assert (answer.headers["content-type"], answer.body[:9]) == ("text/html", b"<!doctype")


def test_a_connection_serves_several_requests(fake_registry: FakeRegistry) -> None:
    connection = http.client.HTTPConnection(fake_registry.host)
    for _ in range(3):
        connection.request("GET", BASE)
        assert connection.getresponse().read() == b"{}"
    connection.close()


def test_a_stopped_registry_refuses_connections_and_ends_open_ones() -> None:
    with FakeRegistry() as registry:
        connection = http.client.HTTPConnection(registry.host)
        connection.request("GET", BASE)
        connection.getresponse().read()
    assert connection.sock.recv(1) == b""
    connection.close()
    with pytest.raises(ConnectionRefusedError):
        ask(registry, "GET", BASE)
