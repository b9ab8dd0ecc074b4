"""Requests to a registry: redirects, credentials, patience."""

import pytest

from fakes.scripted_http import Canned, ScriptedHttp, Sent, broken_connection
from reprobridge.digest import Digest
from reprobridge.errors import NetworkError, RegistryError
from reprobridge.registry.credentials import Password
from reprobridge.registry.options import Quirks
from reprobridge.registry.quirks import quirks_of
from reprobridge.registry.refusals import ServerFailed, Unreachable
from reprobridge.system.http import NoAnswerError, OfflineHttp
from support.registries import Waiting, blob_of, client

BLOB = blob_of(b"blob").descriptor
LOGIN = Password("ann", "correct horse")


def redirecting(*locations: str) -> ScriptedHttp:
    """A registry with Basic authentication that sends to these addresses, one after the other."""
    left = list(locations)

    def servers(sent: Sent) -> Canned:
        if sent.url.startswith("https://ghcr.io/") and "Authorization" not in sent.headers:
            return Canned(401, headers={"www-authenticate": "Basic"})
        return Canned(307, headers={"location": left.pop(0)}) if left else Canned(data=b"blob")

    return ScriptedHttp(servers)


def test_another_host_does_not_see_the_login() -> None:
    http = redirecting("https://storage.example/blob?sig=1")
    assert b"".join(client("ghcr.io", http, login=LOGIN).blob_blocks("a/b", BLOB)) == b"blob"
    assert http.sent[1].headers["Authorization"].startswith("Basic ")
    assert http.sent[2].url == "https://storage.example/blob?sig=1"
    assert "Authorization" not in http.sent[2].headers


def test_the_registry_sees_the_login_again_behind_another_host() -> None:
    http = redirecting("https://storage.example/x", "https://ghcr.io/y")
    assert b"".join(client("ghcr.io", http, login=LOGIN).blob_blocks("a/b", BLOB)) == b"blob"
    assert ["Authorization" in sent.headers for sent in http.sent] == [False, True, False, True]


def test_another_port_is_another_host() -> None:
    http = redirecting("https://ghcr.io:8443/x")
    assert b"".join(client("ghcr.io", http, login=LOGIN).blob_blocks("a/b", BLOB)) == b"blob"
    assert "Authorization" not in http.sent[2].headers


def test_a_challenge_of_another_host_is_not_answered() -> None:
    def servers(sent: Sent) -> Canned:
        if "ghcr.io" in sent.url:
            return Canned(302, headers={"location": "https://storage.example/x"})
        return Canned(401, headers={"www-authenticate": "Basic"})

    http = ScriptedHttp(servers)
    with pytest.raises(RegistryError, match="status 401"):
        list(client("ghcr.io", http, login=LOGIN).blob_blocks("a/b", BLOB))
    assert all("Authorization" not in sent.headers for sent in http.sent)


def test_https_is_not_left() -> None:
    http = redirecting("http://storage.example/blob")
    with pytest.raises(RegistryError, match="an address that we do not go to"):
        list(client("ghcr.io", http, login=LOGIN).blob_blocks("a/b", BLOB))
    assert all(sent.url.startswith("https:") for sent in http.sent)


def test_redirects_end() -> None:
    http = redirecting(*["https://ghcr.io/again"] * 100)
    with pytest.raises(RegistryError, match="redirects without end"):
        list(client("ghcr.io", http, login=LOGIN).blob_blocks("a/b", BLOB))
    assert len(http.sent) == 6


def test_writing_is_not_redirected() -> None:
    http = ScriptedHttp(lambda _: Canned(307, headers={"location": "https://else.example/"}))
    with pytest.raises(RegistryError, match="status 307"):
        client("ghcr.io", http).put_manifest("a/b", "1", b"{}", "x/y")
    assert len(http.sent) == 1


def test_a_stumbling_server_is_asked_again_and_gets_one_body_at_a_time() -> None:
    answers: list[Canned | NoAnswerError] = [Canned(500), broken_connection(), Canned(404)]
    waiting = Waiting()
    ours = client("ghcr.io", ScriptedHttp(lambda _: answers.pop(0)), waiting=waiting)
    assert ours.server.turns.width == 3
    assert ours.blob_size("a/b", BLOB.digest) is None
    assert waiting.waited == [0.5, 1]
    assert ours.server.turns.width == 1


def test_a_throttled_client_keeps_its_width() -> None:
    answers = [Canned(429, headers={"retry-after": "3"}), Canned(404)]
    waiting = Waiting()
    ours = client("ghcr.io", ScriptedHttp(lambda _: answers.pop(0)), waiting=waiting)
    ours.blob_size("a/b", BLOB.digest)
    assert (waiting.waited, ours.server.turns.width) == ([3], 3)


def test_tries_end_with_what_happened_last() -> None:
    ours = client("ghcr.io", ScriptedHttp(lambda _: Canned(503, b"maintenance")))
    with pytest.raises(ServerFailed, match="status 503 maintenance"):
        ours.tags("a/b")
    ours = client("ghcr.io", ScriptedHttp(lambda _: broken_connection()))
    with pytest.raises(Unreachable, match=r"ghcr\.io: the registry does not answer"):
        ours.tags("a/b")


def test_offline_is_no_trouble_of_a_server() -> None:
    waiting = Waiting()
    with pytest.raises(NetworkError, match="drop --offline"):
        client("ghcr.io", OfflineHttp(), waiting=waiting).blob_size("a/b", Digest.of(b""))
    assert waiting.waited == []


def test_an_endless_answer_is_given_up() -> None:
    ours = client("ghcr.io", ScriptedHttp(lambda _: Canned(data=b" " * (17 << 20))))
    with pytest.raises(RegistryError, match="too long"):
        ours.manifest("a/b", "1")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("ghcr.io", Quirks(chunk_limit=None)),
        ("GHCR.io:443", Quirks(chunk_limit=None)),
        ("notghcr.io", Quirks()),
        ("localhost:5000", Quirks()),
        ("1234.dkr.ecr.eu-west-1.amazonaws.com", Quirks(chunk_limit=20 << 20, last_chunk_closes=True)),
    ],
)
def test_what_is_peculiar_goes_by_the_host(host: str, expected: Quirks) -> None:
    assert quirks_of(host) == expected
