"""The fake registry takes blobs as the distribution specification says (1.1, "Pushing blobs")."""

import hashlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.registry.content import sha256
from fakes.registry.exchange import Phase
from fakes.registry.options import Options
from fakes.registry.server import FakeRegistry
from fakes.registry.speaker import Heard, ask, begin, closing, push

NAME = "lab/paper"
DATA = b"0123456789" * 1000


def patch(registry: FakeRegistry, location: str, data: bytes, content_range: str | None = None) -> Heard:
    headers = {} if content_range is None else {"Content-Range": content_range}
    return ask(registry, "PATCH", location, data, headers)


def test_a_blob_arrives_by_post_and_put(fake_registry: FakeRegistry) -> None:
    begun = begin(fake_registry, NAME)
    assert begun.status == 202
    assert begun.headers["location"].startswith(f"/v2/{NAME}/blobs/uploads/")
    ended = ask(fake_registry, "PUT", closing(begun.headers["location"], sha256(DATA)), DATA)
    assert ended.status == 201
    assert ended.headers["docker-content-digest"] == sha256(DATA)
    assert ended.headers["location"] == f"/v2/{NAME}/blobs/{sha256(DATA)}"
    assert fake_registry.content.state()[NAME]["blobs"] == {sha256(DATA): DATA}
    assert fake_registry.content.sessions == {}


def test_a_blob_of_another_algorithm_arrives_under_its_digest(fake_registry: FakeRegistry) -> None:
    digest = f"sha512:{hashlib.sha512(DATA).hexdigest()}"
    location = begin(fake_registry, NAME).headers["location"]
    assert ask(fake_registry, "PUT", closing(location, digest), DATA).status == 201
    assert ask(fake_registry, "GET", f"/v2/{NAME}/blobs/{digest}").body == DATA


def test_a_blob_arrives_as_one_stream_of_unknown_length(fake_registry: FakeRegistry) -> None:
    location = begin(fake_registry, NAME).headers["location"]
    patched = ask(fake_registry, "PATCH", location, iter([DATA, DATA]))
    assert (patched.status, patched.headers["range"]) == (202, f"0-{2 * len(DATA) - 1}")
    ended = ask(fake_registry, "PUT", closing(patched.headers["location"], sha256(DATA * 2)), b"")
    assert ended.status == 201


@given(cuts=st.lists(st.integers(1, len(DATA) - 1), unique=True, max_size=4).map(sorted), rides=st.booleans())
def test_a_blob_arrives_in_any_chunks_in_order(cuts: list[int], rides: bool) -> None:
    edges = [0, *cuts, len(DATA)]
    pieces = [(first, DATA[first:last]) for first, last in itertools.pairwise(edges)]
    with FakeRegistry() as registry:
        location = begin(registry, NAME).headers["location"]
        closer = pieces.pop() if rides else (len(DATA), b"")
        for first, piece in pieces:
            last = first + len(piece) - 1
            patched = patch(registry, location, piece, f"{first}-{last}")
            assert (patched.status, patched.headers["range"]) == (202, f"0-{last}")
            location = patched.headers["location"]
        headers = {"Content-Range": f"{closer[0]}-{len(DATA) - 1}"} if rides else {}
        ended = ask(registry, "PUT", closing(location, sha256(DATA)), closer[1], headers)
        assert ended.status == 201
        assert registry.content.blobs == {sha256(DATA): DATA}


@pytest.mark.parametrize("content_range", ["5-14", "bytes 10-19", "10-18", "x"])
def test_a_chunk_out_of_order_is_refused_and_the_session_goes_on(
    fake_registry: FakeRegistry, content_range: str
) -> None:
    location = begin(fake_registry, NAME).headers["location"]
    location = patch(fake_registry, location, DATA[:10], "0-9").headers["location"]
    refused = patch(fake_registry, location, DATA[10:20], content_range)
    assert (refused.status, refused.headers["range"]) == (416, "0-9")
    accepted = patch(fake_registry, refused.headers["location"], DATA[10:20], "10-19")
    assert (accepted.status, accepted.headers["range"]) == (202, "0-19")


def test_the_state_of_a_session_can_be_asked_for(fake_registry: FakeRegistry) -> None:
    location = begin(fake_registry, NAME).headers["location"]
    location = patch(fake_registry, location, DATA[:10]).headers["location"]
    told = ask(fake_registry, "GET", location)
    assert (told.status, told.headers["range"], told.headers["location"]) == (204, "0-9", location)


def test_a_location_that_is_out_of_date_is_no_session(fake_registry: FakeRegistry) -> None:
    location = begin(fake_registry, NAME).headers["location"]
    patch(fake_registry, location, DATA[:10])
    assert patch(fake_registry, location, DATA[10:20]).codes() == ["BLOB_UPLOAD_INVALID"]


@pytest.mark.parametrize("name", [NAME, "another/name"])
def test_a_session_that_was_cancelled_or_is_anothers_is_unknown(
    fake_registry: FakeRegistry, name: str
) -> None:
    location = begin(fake_registry, NAME).headers["location"]
    if name == NAME:
        assert ask(fake_registry, "DELETE", location).status == 204
    gone = patch(fake_registry, location.replace(NAME, name), DATA)
    assert (gone.status, gone.codes()) == (404, ["BLOB_UPLOAD_UNKNOWN"])


@pytest.mark.parametrize("digest", [sha256(b"other"), "sha256:abc", "md5:abc"])
def test_a_blob_with_another_digest_is_refused_and_its_session_over(
    fake_registry: FakeRegistry, digest: str
) -> None:
    location = begin(fake_registry, NAME).headers["location"]
    refused = ask(fake_registry, "PUT", closing(location, digest), DATA)
    assert (refused.status, refused.codes()) == (400, ["DIGEST_INVALID"])
    assert fake_registry.content.state() == {}
    assert ask(fake_registry, "PUT", closing(location, sha256(DATA)), DATA).status == 404


def test_an_end_without_a_digest_is_refused(fake_registry: FakeRegistry) -> None:
    location = begin(fake_registry, NAME).headers["location"]
    assert ask(fake_registry, "PUT", location, DATA).codes() == ["DIGEST_INVALID"]


def test_a_blob_is_mounted_from_another_repository(fake_registry: FakeRegistry) -> None:
    digest = push(fake_registry, "base/system", DATA)
    mounted = begin(fake_registry, NAME, f"?mount={digest}&from=base/system")
    assert (mounted.status, mounted.headers["docker-content-digest"]) == (201, digest)
    assert ask(fake_registry, "GET", f"/v2/{NAME}/blobs/{digest}").body == DATA
    assert fake_registry.phases().count(Phase.MOUNT) == 1


@pytest.mark.parametrize(
    ("options", "source"), [(Options(mounts=False), "base/system"), (Options(), "base/other")]
)
def test_a_mount_that_is_not_possible_begins_an_upload(options: Options, source: str) -> None:
    with FakeRegistry(options) as registry:
        digest = push(registry, "base/system", DATA)
        begun = begin(registry, NAME, f"?mount={digest}&from={source}")
        assert begun.status == 202
        assert ask(registry, "PUT", closing(begun.headers["location"], digest), DATA).status == 201


@pytest.mark.parametrize(("single", "status"), [(True, 201), (False, 202)])
def test_a_single_post_stores_the_blob_or_begins_a_session(single: bool, status: int) -> None:
    with FakeRegistry(Options(single_post=single)) as registry:
        answer = ask(registry, "POST", f"/v2/{NAME}/blobs/uploads/?digest={sha256(DATA)}", DATA)
        assert answer.status == status
        assert registry.content.blobs == ({sha256(DATA): DATA} if single else {})


def test_locations_may_be_absolute_and_without_a_query() -> None:
    with FakeRegistry(Options(absolute_locations=True, state_in_location=False)) as registry:
        location = begin(registry, NAME).headers["location"]
        assert location == f"{registry.url}/v2/{NAME}/blobs/uploads/session-1"
        assert ask(registry, "PUT", closing(location, sha256(DATA)), DATA).status == 201


def test_limits_are_announced_and_kept() -> None:
    with FakeRegistry(Options(chunk_limit=1 << 20, body_limit=2 << 20, chunk_minimum=5)) as registry:
        begun = begin(registry, NAME)
        assert begun.headers["oci-chunk-min-length"] == "5"
        refused = patch(registry, begun.headers["location"], bytes((1 << 20) + 1))
        assert refused.status == 416
        assert b"maximum permissible limit of 1.00MiB" in refused.body
        big = bytes((2 << 20) + 1)
        assert ask(registry, "PUT", closing(begun.headers["location"], sha256(big)), big).status == 413


def test_a_name_that_the_grammar_forbids_is_refused(fake_registry: FakeRegistry) -> None:
    assert begin(fake_registry, "Lab/Paper").codes() == ["NAME_INVALID"]
    assert begin(fake_registry, "lab/-paper").codes() == ["NAME_INVALID"]
    assert begin(fake_registry, "l/a__b/c-d.e").status == 202
