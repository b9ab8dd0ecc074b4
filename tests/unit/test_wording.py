"""Words that depend on a number, or on what was wrong; errors in one line."""

import json

import pytest

from reprobridge.errors import TrustError
from reprobridge.wording import (
    SECRET_ENDINGS,
    SECRET_NAMES,
    complaint,
    counted,
    has_login,
    without_passwords,
)
from support.source_tree import ROOT


@pytest.mark.parametrize(("number", "text"), [(0, "0 files"), (1, "1 file"), (2, "2 files")])
def test_only_one_is_singular(number: int, text: str) -> None:
    assert counted(number, "file") == text


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (KeyError("manifests"), "no 'manifests'"),
        (FileNotFoundError(2, "No such file or directory", "x"), "No such file or directory"),
        (OSError("odd"), "odd"),
        (RecursionError("maximum recursion depth exceeded"), "endless nesting"),
        (json.JSONDecodeError("Expecting value", "", 0), "Expecting value: line 1 column 1 (char 0)"),
    ],
)
def test_what_was_wrong_is_said_without_the_exceptions_class(error: Exception, text: str) -> None:
    assert complaint(error) == text


def test_an_error_in_one_line_keeps_its_parts_apart() -> None:
    error = TrustError("no", where="here", expected="one\nthing", found="another", hint="look")
    assert error.in_one_line() == "here: no; expected: one; thing; found: another; hint: look"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("at 'https://ann:secret@h/x/'.", "at 'https://***@h/x/'."),
        ("https://token@h/x", "https://***@h/x"),
        ("https://ann:se@cr:et@h/x and ftp://b:c@h", "https://***@h/x and ftp://***@h"),
        ("ssh://git@h/x", "ssh://git@h/x"),
        ("git+ssh://git:secret@h/x", "git+ssh://***@h/x"),
        ("https://h/x@1.0?a=b@c", "https://h/x@1.0?a=b@c"),
        ("git@h:x", "git@h:x"),
        ("https://h/x.git?private_token=glpat-1", "https://h/x.git?private_token=***"),
        ("https://h/x?ref=main&access_token=a#b", "https://h/x?ref=main&access_token=***#b"),
        ("'https://h/x?job-token=a' failed", "'https://h/x?job-token=***' failed"),
        ("https://h/x#accessToken=a", "https://h/x#accessToken=***"),
        ("https://h/x.tar.gz?sv=1&sig=a%2Fb", "https://h/x.tar.gz?sv=1&sig=***"),
        (
            "https://h/x?X-Amz-Date=1&X-Amz-Credential=k&X-Amz-Signature=s",
            "https://h/x?X-Amz-Date=1&X-Amz-Credential=***&X-Amz-Signature=***",
        ),
        ("https://h/x?private%5Ftoken=a;api_key=b", "https://h/x?private%5Ftoken=***;api_key=***"),
        ("https://h/x?download=1&raw=true&config=sig", "https://h/x?download=1&raw=true&config=sig"),
        (
            "https://h/x.whl#sha256=0a&egg=token&subdirectory=auth",
            "https://h/x.whl#sha256=0a&egg=token&subdirectory=auth",
        ),
        ("https://h/x?token=", "https://h/x?token="),
        ("https://h/token=a/x?design=b&tokens=2", "https://h/token=a/x?design=b&tokens=2"),
    ],
)
def test_what_logs_in_is_masked_in_addresses(text: str, shown: str) -> None:
    assert without_passwords(text) == shown
    assert has_login(text) == (text != shown)


def test_the_guide_names_every_parameter_that_is_refused() -> None:
    page = (ROOT / "guides/how-to/private-sources.md").read_text(encoding="utf-8")
    assert [name for name in (*SECRET_ENDINGS, *SECRET_NAMES) if f"`{name}`" not in page] == []


@pytest.mark.parametrize(
    "text", ["a" * 3_000_000, "?" + "a" * 3_000_000 + "=", "?a=" * 1_000_000, "a://" * 1_000_000]
)
def test_a_hostile_text_does_not_take_for_ever(text: str) -> None:
    assert not has_login(text)
