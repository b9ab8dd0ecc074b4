"""Challenges and scopes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.registry.challenge import (
    Challenge,
    parse_challenges,
    parse_scope,
    pull,
    push,
    scope_texts,
)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", ()),
        ("Basic", (Challenge("basic", {}),)),
        ('Basic realm="a, b"', (Challenge("basic", {"realm": "a, b"}),)),
        (
            'Bearer realm="https://r/t",service="s",scope="repository:a/b:pull,push repository:c:pull"',
            (
                Challenge(
                    "bearer",
                    {
                        "realm": "https://r/t",
                        "service": "s",
                        "scope": "repository:a/b:pull,push repository:c:pull",
                    },
                ),
            ),
        ),
        (
            'BEARER Realm = "r" , error="invalid_token", Basic realm=plain',
            (
                Challenge("bearer", {"realm": "r", "error": "invalid_token"}),
                Challenge("basic", {"realm": "plain"}),
            ),
        ),
        (r'Bearer realm="a\"b"', (Challenge("bearer", {"realm": 'a"b'}),)),
        ("Bearer realm", (Challenge("bearer", {}), Challenge("realm", {}))),
        ("=,=", ()),
    ],
)
def test_challenges_are_read(header: str, expected: tuple[Challenge, ...]) -> None:
    assert parse_challenges(header) == expected


@given(st.text())
def test_any_header_can_be_read(header: str) -> None:
    assert isinstance(parse_challenges(header), tuple)


def test_scopes_are_read_and_written() -> None:
    grants = push("a/b") | pull("c")
    assert scope_texts(grants) == ["repository:a/b:pull,push", "repository:c:pull"]
    assert parse_scope(" ".join(scope_texts(grants))) == grants
    assert parse_scope("registry:catalog:*") == frozenset({("registry:catalog", "*")})
    assert parse_scope("nonsense") == frozenset()


def test_who_may_write_may_look() -> None:
    assert pull("a/b") < push("a/b")
    assert not pull("a/b") <= push("a/c")
