"""Many blobs: side by side, and one after the other once the server stumbled."""

import io
import random
import threading
from collections.abc import Iterator

import pytest

from fakes.registry.exchange import Phase
from fakes.registry.faults import Answer, Fault, status
from fakes.registry.server import FakeRegistry
from fakes.scripted_http import Canned, ScriptedHttp, Sent
from reprobridge.errors import ArtifactError, RegistryError
from reprobridge.oci.model import Descriptor
from reprobridge.registry.model import Blob, Outcome, Wanted
from reprobridge.registry.transfer import Moved, pull_blobs, push_blobs
from reprobridge.registry.turns import Turns
from reprobridge.system.http import RealHttp
from support.registries import blob_of, client

DATA = [random.Random(number).randbytes(5000 + number) for number in range(12)]


class Meeting:
    """A registry in which uploads wait for each other, and that keeps how many there were at once."""

    def __init__(self, together: int) -> None:
        self.most = 0
        self._now = 0
        self._lock = threading.Lock()
        self._barrier = threading.Barrier(together)
        self.http = ScriptedHttp(self.answer)

    def answer(self, sent: Sent) -> Canned:
        if sent.method == "HEAD":
            return Canned(404)
        if sent.method == "POST":
            return Canned(202, headers={"location": "/v2/upload"})
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        self._barrier.wait(timeout=60)
        with self._lock:
            self._now -= 1
        return Canned(201)


def test_three_bodies_move_side_by_side() -> None:
    meeting = Meeting(together=3)
    moved = push_blobs(client("ghcr.io", meeting.http), "a/b", map(blob_of, DATA))
    assert (moved.uploaded, meeting.most) == (12, 3)


def test_after_a_server_error_one_body_moves_at_a_time() -> None:
    meeting = Meeting(together=1)
    failing = [Canned(500)]

    def servers(sent: Sent) -> Canned:
        return failing.pop() if failing and sent.method == "HEAD" else meeting.answer(sent)

    ours = client("ghcr.io", ScriptedHttp(servers))
    push_blobs(ours, "a/b", [blob_of(DATA[0])])
    moved = push_blobs(ours, "a/b", map(blob_of, DATA))
    assert (moved.uploaded, meeting.most) == (12, 1)


def test_nothing_to_move_is_nothing_moved() -> None:
    http = ScriptedHttp(lambda _: Canned(500))
    assert push_blobs(client("ghcr.io", http), "a/b", []) == Moved()
    assert http.sent == []


def test_a_blob_that_is_named_twice_moves_once(fake_registry: FakeRegistry, real_http: RealHttp) -> None:
    moved = push_blobs(client(fake_registry.host, real_http), "a/b", [blob_of(DATA[0])] * 3)
    assert moved == Moved(bytes=5000, uploaded=1)


def test_what_was_moved_is_told(fake_registry: FakeRegistry, real_http: RealHttp) -> None:
    ours = client(fake_registry.host, real_http)
    ours.push_blob("a/other", blob_of(DATA[1]))
    ours.push_blob("a/b", blob_of(DATA[2]))
    blobs = [blob_of(data, mount_from=("a/other",)) for data in DATA[:3]]
    assert push_blobs(ours, "a/b", blobs) == Moved(bytes=5000, uploaded=1, mounted=1, present=1)


def test_an_error_stops_the_others_and_a_rerun_goes_on(
    fake_registry: FakeRegistry, real_http: RealHttp
) -> None:
    ours = client(fake_registry.host, real_http)
    fake_registry.fail(Fault(Phase.UPLOAD_END, Answer(status(403)), skip=4, times=None))
    with pytest.raises(RegistryError, match="status 403"):
        push_blobs(ours, "a/b", map(blob_of, DATA))
    most = 4 + ours.server.turns.width  # what had begun when the first one failed
    assert len(fake_registry.requests(Phase.UPLOAD_END)) <= most < len(DATA)
    fake_registry.heal()
    moved = push_blobs(ours, "a/b", map(blob_of, DATA))
    assert moved.present >= 4
    assert moved.present + moved.uploaded == len(DATA)


def test_a_transfer_under_way_ends_when_another_fails(
    fake_registry: FakeRegistry, real_http: RealHttp
) -> None:
    class Endless(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return bytes(size or 1)

    failed = threading.Event()

    def fail() -> io.BytesIO:
        failed.set()
        raise OSError("gone")

    def endless() -> io.BytesIO:
        failed.wait(timeout=60)
        return Endless()

    huge = Blob(Descriptor("x/y", blob_of(b"no such").descriptor.digest, 1 << 50), endless)
    with pytest.raises(ArtifactError, match="a blob cannot be read"):
        push_blobs(client(fake_registry.host, real_http), "a/b", [huge, Blob(blob_of(b"x").descriptor, fail)])


def test_blobs_are_pulled_into_whoever_keeps_them(fake_registry: FakeRegistry, real_http: RealHttp) -> None:
    ours = client(fake_registry.host, real_http)
    push_blobs(ours, "a/b", map(blob_of, DATA))
    kept: list[bytes] = []
    told: list[tuple[int, Outcome | None]] = []

    class Told:
        def advance(self, blob: Descriptor, count: int) -> None:
            told.append((count, None))

        def done(self, blob: Descriptor, outcome: Outcome | None) -> None:
            assert outcome is None

    def keep(blocks: Iterator[bytes]) -> None:
        kept.append(b"".join(blocks))

    wanted = [Wanted(blob_of(data).descriptor, keep) for data in DATA]
    moved = pull_blobs(ours, "a/b", wanted, Told())
    assert moved == Moved(bytes=sum(map(len, DATA)), uploaded=12)
    assert sorted(kept) == sorted(DATA)
    assert sum(count for count, _ in told) == moved.bytes


def test_an_error_of_a_pull_rises(fake_registry: FakeRegistry, real_http: RealHttp) -> None:
    ours = client(fake_registry.host, real_http)
    wanted = [Wanted(blob_of(data).descriptor, list) for data in DATA[:3]]
    with pytest.raises(RegistryError, match="status 404"):
        pull_blobs(ours, "a/b", wanted)


def test_who_waits_for_a_turn_gets_it_when_another_ends() -> None:
    turns = Turns(2)
    turns.go_serial()
    order: list[str] = []

    def second() -> None:
        with turns.take():
            order.append("second")

    with turns.take():
        thread = threading.Thread(target=second)
        thread.start()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
