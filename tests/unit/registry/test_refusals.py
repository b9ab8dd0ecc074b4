"""Errors that say what the registry said, and nothing that should not be seen."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.digest import Digest
from reprobridge.registry.refusals import (
    Refused,
    Reply,
    ServerFailed,
    Throttled,
    Transient,
    Unauthorized,
    readable,
    refusal,
    wait_asked_for,
)

NOW = 1_700_000_000.0  # Tue, 14 Nov 2023 22:13:20 GMT


def reply(status: int, data: bytes = b"", headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(
        method="PUT",
        url="https://ghcr.io/v2/a/b/blobs/uploads/1?_state=secret",
        status=status,
        headers=headers or {},
        data=data,
    )


def errors(code: str, message: str, detail: object = None) -> bytes:
    return json.dumps({"errors": [{"code": code, "message": message, "detail": detail}]}).encode()


def test_the_registrys_own_words_are_told() -> None:
    error = refusal("ghcr.io", reply(400, errors("MANIFEST_INVALID", "no layers")), now=NOW)
    assert str(error) == (
        "ghcr.io: the registry refuses PUT a/b/blobs/uploads/1\n"
        "  expected: success\n"
        "  found: status 400 MANIFEST_INVALID no layers"
    )
    assert (error.status, error.code) == (400, "MANIFEST_INVALID")


@pytest.mark.parametrize(
    ("status", "data", "kind"),
    [
        (401, b"", Unauthorized),
        (403, b"", Refused),
        (403, b"You have exceeded a secondary rate limit", Throttled),
        (404, b"", Refused),
        (408, b"", ServerFailed),
        (429, b"", Throttled),
        (500, b"", ServerFailed),
        (501, b"", Refused),
        (502, b"", ServerFailed),
        (503, b"", ServerFailed),
        (504, b"", ServerFailed),
        (520, b"", ServerFailed),
    ],
)
def test_the_status_says_whether_another_try_may_succeed(
    status: int, data: bytes, kind: type[Refused]
) -> None:
    assert type(refusal("ghcr.io", reply(status, data), now=NOW)) is kind


@pytest.mark.parametrize("status", [401, 403])
def test_who_is_not_allowed_is_told_how_to_log_in(status: int) -> None:
    assert "docker login ghcr.io" in (refusal("ghcr.io", reply(status), now=NOW).hint or "")


@pytest.mark.parametrize(
    ("headers", "data", "seconds"),
    [
        ({}, b"", None),
        ({"retry-after": "7"}, b"", 7),
        ({"retry-after": "0"}, b"", 0),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:50 GMT"}, b"", 30),
        ({"retry-after": "Tue, 14 Nov 2023 22:13:00 GMT"}, b"", 0),
        (
            {"retry-after": "Mon, 01 Jan 2001 00:00:09 GMT", "date": "Mon, 01 Jan 2001 00:00:00 GMT"},
            b"",
            9,
        ),
        ({"retry-after": "soon"}, b"", None),
        ({}, errors("TOOMANYREQUESTS", "retry-after: 10.3ms, allowed: 2000/minute"), 0.0103),
        ({}, errors("TOOMANYREQUESTS", "retry-after: 44s"), 44),
        ({}, errors("TOOMANYREQUESTS", "Retry after 2m"), 120),
        ({}, b"retry-after: 1.2.3s", None),
    ],
)
def test_the_wait_that_is_asked_for_is_understood(
    headers: Mapping[str, str], data: bytes, seconds: float | None
) -> None:
    assert wait_asked_for(reply(429, data, headers), NOW) == pytest.approx(seconds)
    error = refusal("ghcr.io", reply(429, data, headers), now=NOW)
    assert isinstance(error, Transient)
    assert error.wait == pytest.approx(seconds)


def test_missing_blobs_are_named_with_a_way_to_bring_them() -> None:
    digest = Digest("cd" * 32)
    data = errors("MANIFEST_BLOB_UNKNOWN", "blob unknown to registry", {"digest": str(digest)})
    error = refusal("ghcr.io", reply(400, data), now=NOW)
    assert error.missing == (digest,)
    assert "publish --check-blobs" in str(error.hint)
    data = errors("DIGEST_INVALID", "wrong", {"digest": str(digest)})
    assert refusal("ghcr.io", reply(400, data), now=NOW).missing == ()


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"<!doctype html><p>hotel", "status 502 (an HTML page)"),
        (b"bad \x1b[31mgateway\r\n\x07", "status 502 bad [31mgateway"),
        (b"[]", "status 502 []"),
        (b'{"errors": 7}', 'status 502 {"errors": 7}'),
        (b'{"errors": ["x", {"code": 1, "message": null}]}', "status 502 1 None"),
        (b"\xff\xfe", "status 502 \ufffd\ufffd"),
        (b"", "status 502"),
    ],
)
def test_other_words_are_shown_safely(data: bytes, shown: str) -> None:
    assert refusal("ghcr.io", reply(502, data), now=NOW).found == shown


@given(st.text(max_size=2000))
def test_what_is_shown_is_one_short_printable_line(text: str) -> None:
    assert readable(text).isprintable()
    assert len(readable(text)) <= 300


@given(st.binary(max_size=300), st.integers(400, 599))
def test_any_answer_becomes_an_error(data: bytes, status: int) -> None:
    assert refusal("ghcr.io", reply(status, data), now=NOW).status == status


def test_states_and_signatures_in_addresses_are_not_told() -> None:
    assert "secret" not in str(refusal("ghcr.io", reply(400), now=NOW))
