"""Work that is handed to a thread beside a conversion: in order, bounded, and no failure is lost."""

import threading

import pytest

from reprobridge.assemble import aside
from reprobridge.assemble.aside import Aside
from reprobridge.assemble.fragment import LayerSink
from reprobridge.oci import members


class Taken(LayerSink):
    """A sink that keeps what it takes, and may refuse a piece."""

    def __init__(self, refused: bytes = b"") -> None:
        self.pieces: list[tuple[str, bytes]] = []
        self.threads: set[int] = set()
        self._refused = refused

    def tar(self, data: bytes) -> None:
        self._take("tar", data)

    def gzip(self, data: bytes) -> None:
        self._take("gzip", data)

    def _take(self, kind: str, data: bytes) -> None:
        if self._refused and data == self._refused:
            raise OSError("no room")
        self.pieces.append((kind, data))
        self.threads.add(threading.get_ident())


def test_everything_arrives_in_order_and_in_another_thread() -> None:
    sink = Taken()
    pieces = [(kind, bytes([n]) * 70_000) for n in range(100) for kind in ("tar", "gzip")]
    with Aside(sink) as beside:
        for kind, data in pieces:
            getattr(beside, kind)(data)
        beside.settle()
        assert sink.pieces == pieces
    assert sink.threads == sink.threads - {threading.get_ident()}
    assert sink.threads


def test_settling_with_nothing_to_do_returns_at_once_and_as_often_as_asked() -> None:
    with Aside(Taken()) as beside:
        beside.settle()
        beside.do(len, b"x")
        beside.settle()
        beside.settle()


def test_a_task_is_called_behind_what_was_handed_over_before() -> None:
    sink = Taken()
    seen: list[int] = []
    with Aside(sink) as beside:
        beside.tar(b"first")
        beside.do(lambda _: seen.append(len(sink.pieces)), b"")
        beside.settle()
    assert seen == [1]


def test_what_is_to_be_compressed_arrives_as_both_streams_in_its_place() -> None:
    sink = Taken()
    with Aside(sink) as beside:
        beside.gzip(b"first")
        beside.plain(b"text", members.LIGHT)
        beside.settle()
    packed = members.member(b"text", members.LIGHT)
    assert sink.pieces == [("gzip", b"first"), ("tar", b"text"), ("gzip", packed)]
    assert threading.get_ident() not in sink.threads


def test_what_the_sink_raises_is_raised_at_the_latest_when_settling() -> None:
    def work() -> None:
        with Aside(Taken(refused=b"bad")) as beside:
            beside.tar(b"good")
            beside.tar(b"bad")
            beside.settle()

    with pytest.raises(OSError, match="no room"):
        work()


def test_a_failed_sink_stops_whoever_goes_on_writing() -> None:
    def work() -> None:
        with Aside(Taken(refused=b"bad")) as beside:
            beside.tar(b"bad")
            while True:
                beside.tar(bytes(aside.BATCH))

    with pytest.raises(OSError, match="no room"):
        work()


def test_leaving_by_an_error_ends_the_thread() -> None:
    def work() -> None:
        with Aside(Taken()) as beside:
            beside.tar(b"x")
            raise KeyboardInterrupt

    before = set(threading.enumerate())  # a thread of an earlier test may end meanwhile
    with pytest.raises(KeyboardInterrupt):
        work()
    assert set(threading.enumerate()) <= before


def test_no_more_than_a_few_batches_wait() -> None:
    gate = threading.Event()
    handed: list[int] = []

    def fill(beside: Aside) -> None:
        for n in range(20):
            beside.tar(bytes(aside.BATCH))
            handed.append(n)

    with Aside(Taken()) as beside:
        beside.do(lambda _: gate.wait(30), bytes(aside.BATCH))
        filler = threading.Thread(target=fill, args=(beside,))
        filler.start()
        filler.join(0.3)
        waiting = len(handed)
        gate.set()
        filler.join()
        beside.settle()
    assert waiting <= aside.DEPTH
    assert len(handed) == 20
