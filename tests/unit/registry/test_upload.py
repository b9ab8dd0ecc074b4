"""Uploads against the fake registry: what is sent, and what never is."""

import contextlib
import io
import random
from pathlib import Path

import pytest

from fakes.registry.exchange import Phase
from fakes.registry.faults import Answer, Fault, Reset, Stall, status
from fakes.registry.options import Options
from fakes.registry.server import FakeRegistry
from fakes.scripted_http import Canned, ScriptedHttp, Sent
from reprobridge.errors import ArtifactError, RegistryError
from reprobridge.oci.layout import DamagedBlobError
from reprobridge.oci.model import Descriptor
from reprobridge.registry.chunks import smaller_chunk
from reprobridge.registry.model import Blob, Outcome
from reprobridge.registry.options import Quirks
from reprobridge.system.http import RealHttp
from support.registries import Waiting, blob_of, client

MIB = 1 << 20
DATA = random.Random(3).randbytes(3 * MIB + 17)


class Counted:
    """Progress that keeps sums."""

    def __init__(self) -> None:
        self.bytes = 0
        self.steps: list[int] = []
        self.outcomes: list[Outcome | None] = []

    def advance(self, blob: Descriptor, count: int) -> None:
        self.bytes += count
        self.steps.append(count)

    def done(self, blob: Descriptor, outcome: Outcome | None) -> None:
        self.outcomes.append(outcome)


@pytest.mark.parametrize("data", [b"", b"x", DATA[:MIB], DATA], ids=len)
def test_a_blob_goes_up_in_one_body(fake_registry: FakeRegistry, real_http: RealHttp, data: bytes) -> None:
    told = Counted()
    assert client(fake_registry.host, real_http).push_blob("a/b", blob_of(data), told) is Outcome.UPLOADED
    assert fake_registry.phases() == [Phase.BLOB_HEAD, Phase.UPLOAD_START, Phase.UPLOAD_END]
    assert list(fake_registry.content.blobs.values()) == [data]
    assert fake_registry.received() == len(data)
    assert (told.bytes, told.outcomes) == (len(data), [Outcome.UPLOADED])


def test_a_blob_that_is_there_is_not_even_opened(fake_registry: FakeRegistry, real_http: RealHttp) -> None:
    ours = client(fake_registry.host, real_http)
    ours.push_blob("a/b", blob_of(DATA))

    def unreadable() -> io.BytesIO:
        raise OSError("not local")

    blob = Blob(blob_of(DATA).descriptor, unreadable)
    assert ours.push_blob("a/b", blob) is Outcome.EXISTS
    with pytest.raises(ArtifactError, match="a blob cannot be read"):
        ours.push_blob("a/other", blob)


@pytest.mark.parametrize(
    "found", [DATA[:-1] + b"!", DATA[:-5], DATA + b"more", b""], ids=["other", "shorter", "longer", "empty"]
)
@pytest.mark.parametrize("limit", [None, 2 * MIB], ids=["whole", "chunks"])
def test_a_changed_file_never_goes_up_as_a_whole(
    real_http: RealHttp, found: bytes, limit: int | None
) -> None:
    with FakeRegistry(Options(body_limit=limit)) as registry:
        blob = Blob(blob_of(DATA).descriptor, lambda: io.BytesIO(found))
        with pytest.raises(DamagedBlobError, match="a blob is damaged"):
            client(registry.host, real_http, quirks=Quirks(chunk_limit=MIB)).push_blob("a/b", blob)
        assert registry.received() < len(DATA)


@pytest.mark.parametrize("limit", [None, 2 * MIB], ids=["whole", "chunks"])
def test_a_changed_file_is_named_with_a_way_out(
    real_http: RealHttp, limit: int | None, tmp_path: Path
) -> None:
    (tmp_path / "layer").write_bytes(DATA[:-1] + b"!")
    blob = Blob(blob_of(DATA).descriptor, lambda: (tmp_path / "layer").open("rb"))
    with FakeRegistry(Options(body_limit=limit)) as registry, pytest.raises(DamagedBlobError) as caught:
        client(registry.host, real_http, quirks=Quirks(chunk_limit=MIB)).push_blob("a/b", blob)
    assert caught.value.where == str(tmp_path / "layer")
    assert "delete this file and build again" in str(caught.value.hint)


@pytest.mark.parametrize("closes", [False, True])
def test_a_body_that_is_too_large_goes_up_in_chunks(real_http: RealHttp, closes: bool) -> None:
    with FakeRegistry(Options(body_limit=MIB)) as registry:
        told = Counted()
        quirks = Quirks(chunk_limit=4 * MIB, last_chunk_closes=closes)
        blob = blob_of(DATA)
        assert (
            client(registry.host, real_http, quirks=quirks).push_blob("a/b", blob, told) is Outcome.UPLOADED
        )
        ranges = [
            request.headers["content-range"]
            for request in registry.requests(Phase.UPLOAD_CHUNK)
            if request.headers["content-range"].startswith(f"{MIB}-")
        ]
        assert ranges == [f"{MIB}-{2 * MIB - 1}"]
        assert told.bytes == len(DATA)


def test_a_registry_that_takes_no_chunks_is_told_about(real_http: RealHttp) -> None:
    with FakeRegistry(Options(body_limit=MIB)) as registry:
        ours = client(registry.host, real_http, quirks=Quirks(chunk_limit=None))
        with pytest.raises(RegistryError, match="takes no blob of this size"):
            ours.push_blob("a/b", blob_of(DATA))
        assert registry.requests(Phase.UPLOAD_CHUNK) == []


def test_progress_takes_back_what_was_sent_in_vain(fake_registry: FakeRegistry, real_http: RealHttp) -> None:
    fake_registry.fail(Fault(Phase.UPLOAD_END, Reset(body=2 * MIB)))
    told = Counted()
    client(fake_registry.host, real_http).push_blob("a/b", blob_of(DATA), told)
    assert told.bytes == len(DATA)
    assert min(told.steps) < 0


def test_bytes_that_break_on_the_way_are_sent_once_more(
    fake_registry: FakeRegistry, real_http: RealHttp
) -> None:
    wrong = b'{"errors": [{"code": "DIGEST_INVALID", "message": "other bytes"}]}'
    fault = Answer(status(400, wrong))
    fake_registry.fail(Fault(Phase.UPLOAD_END, fault))
    ours = client(fake_registry.host, real_http)
    assert ours.push_blob("a/b", blob_of(DATA)) is Outcome.UPLOADED
    fake_registry.fail(Fault(Phase.UPLOAD_END, fault, times=None))
    with pytest.raises(RegistryError, match="DIGEST_INVALID"):
        ours.push_blob("a/b", blob_of(b"another"))
    assert len(fake_registry.requests(Phase.UPLOAD_END)) == 4


def test_where_mounts_are_made_a_blob_is_not_looked_for_before(
    fake_registry: FakeRegistry, real_http: RealHttp
) -> None:
    fake_registry.content.put_blob("c/d", DATA)
    ours = client(fake_registry.host, real_http)
    assert ours.push_blob("a/b", blob_of(DATA, mount_from=("c/d",))) is Outcome.MOUNTED
    assert fake_registry.phases() == [Phase.MOUNT]


def test_where_a_mount_was_not_made_blobs_are_looked_for_first(real_http: RealHttp) -> None:
    with FakeRegistry(Options(mounts=False)) as registry:
        ours, blob = client(registry.host, real_http), blob_of(DATA, mount_from=("c/d",))
        registry.content.put_blob("a/b", DATA)
        assert ours.push_blob("a/b", blob) is Outcome.EXISTS
        assert registry.phases() == [Phase.MOUNT, Phase.BLOB_HEAD, Phase.UPLOAD_CANCEL]
        registry.log.clear()
        assert ours.push_blob("a/b", blob) is Outcome.EXISTS
        assert registry.phases() == [Phase.BLOB_HEAD]


def test_a_source_whose_mounts_fail_is_asked_for_one_blob_only(
    fake_registry: FakeRegistry, real_http: RealHttp
) -> None:
    fake_registry.fail(Fault(Phase.MOUNT, Answer(status(500)), times=None))
    ours = client(fake_registry.host, real_http)
    for data in (b"one", b"two"):
        assert ours.push_blob("a/b", blob_of(data, mount_from=("c/d",))) is Outcome.UPLOADED
    assert fake_registry.phases().count(Phase.MOUNT) == 3
    fake_registry.heal()
    fake_registry.content.put_blob("e/f", DATA)
    assert ours.push_blob("a/b", blob_of(DATA, mount_from=("c/d", "e/f"))) is Outcome.MOUNTED


def test_a_source_that_did_not_mount_says_nothing_of_another(
    fake_registry: FakeRegistry, real_http: RealHttp
) -> None:
    for data in (DATA, b"two"):
        fake_registry.content.put_blob("e/f", data)
    ours = client(fake_registry.host, real_http)
    assert ours.push_blob("a/b", blob_of(b"one", mount_from=("c/d",))) is Outcome.UPLOADED
    fake_registry.log.clear()
    assert ours.push_blob("a/b", blob_of(DATA, mount_from=("e/f",))) is Outcome.MOUNTED
    assert ours.push_blob("a/b", blob_of(b"two", mount_from=("c/d", "e/f"))) is Outcome.MOUNTED
    assert fake_registry.phases() == [Phase.MOUNT, Phase.MOUNT]


def test_every_source_is_asked_before_a_blob_is_uploaded(
    fake_registry: FakeRegistry, real_http: RealHttp
) -> None:
    ours = client(fake_registry.host, real_http)
    ours.push_blob("a/b", blob_of(b"one", mount_from=("c/d",)))
    fake_registry.content.put_blob("c/d", DATA)
    fake_registry.log.clear()
    assert ours.push_blob("a/b", blob_of(DATA, mount_from=("c/d", "e/f"))) is Outcome.MOUNTED
    expected = [Phase.MOUNT, Phase.BLOB_HEAD, Phase.UPLOAD_CANCEL, Phase.MOUNT]
    assert fake_registry.phases() == expected
    assert fake_registry.content.sessions == {}


def test_a_mount_that_hangs_is_not_waited_for_again(fake_registry: FakeRegistry) -> None:
    fake_registry.fail(Fault(Phase.MOUNT, Stall(), times=None))
    waiting = Waiting()
    with contextlib.closing(RealHttp(asking_timeout=0.3)) as http:
        ours = client(fake_registry.host, http, waiting=waiting)
        sources = ("c/d", "e/f")
        assert ours.push_blob("a/b", blob_of(DATA, mount_from=sources)) is Outcome.UPLOADED
        assert (fake_registry.phases().count(Phase.MOUNT), waiting.waited) == (1, [])
        fake_registry.heal()
        fake_registry.content.put_blob("c/d", b"two")
        fake_registry.content.put_blob("e/f", b"two")
        assert ours.push_blob("a/b", blob_of(b"two", mount_from=sources)) is Outcome.MOUNTED
        asked = [request.parameter("from") for request in fake_registry.requests(Phase.MOUNT)]
        assert asked == ["c/d", "e/f"]


def test_only_what_makes_the_registry_work_is_waited_for_long() -> None:
    def servers(sent: Sent) -> Canned:
        match sent.method:
            case "HEAD":
                return Canned(404)
            case "POST":
                return Canned(202, headers={"location": "/v2/a/b/blobs/uploads/1"})
        return Canned(201 if sent.method == "PUT" else 204)

    http = ScriptedHttp(servers)
    ours = client("registry.test", http)
    ours.push_blob("a/b", blob_of(b"one", mount_from=("c/d",)))
    ours.push_blob("a/b", blob_of(b"two"))
    ours.manifest_digest("a/b", "1")
    assert {(sent.method, "mount=" in sent.url) for sent in http.sent if sent.asks} == {
        ("HEAD", False),
        ("POST", True),
    }
    assert {(sent.method, "mount=" in sent.url) for sent in http.sent if not sent.asks} == {
        ("POST", False),
        ("PUT", False),
    }


@pytest.mark.parametrize(
    ("current", "limit", "chunk"),
    [
        (None, 64 * MIB, 64 * MIB),
        (64 * MIB, 64 * MIB, 32 * MIB),
        (2 * MIB, 64 * MIB, MIB),
        (MIB, 64 * MIB, None),
        (None, None, None),
    ],
)
def test_chunks_are_halved_down_to_a_mebibyte(
    current: int | None, limit: int | None, chunk: int | None
) -> None:
    assert smaller_chunk(current, limit) == chunk


def test_a_file_is_read_anew_for_each_try(
    fake_registry: FakeRegistry, real_http: RealHttp, tmp_path: Path
) -> None:
    (tmp_path / "blob").write_bytes(DATA)
    opened: list[io.BufferedReader] = []

    def open_file() -> io.BufferedReader:
        opened.append((tmp_path / "blob").open("rb"))
        return opened[-1]

    fake_registry.fail(Fault(Phase.UPLOAD_END, Reset(body=MIB), times=2))
    blob = Blob(blob_of(DATA).descriptor, open_file)
    assert client(fake_registry.host, real_http).push_blob("a/b", blob) is Outcome.UPLOADED
    assert len(opened) == 3
    assert all(stream.closed for stream in opened)
