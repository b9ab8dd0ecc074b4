"""Tokens: asked for what is needed, kept while they live, renewed when refused, never shown."""

import base64
import json
from urllib.parse import parse_qs, parse_qsl, urlsplit

import pytest

from fakes.scripted_http import Canned, ScriptedHttp, Sent, broken_connection
from reprobridge.digest import Digest
from reprobridge.errors import RegistryError
from reprobridge.registry.blobs import mount
from reprobridge.registry.credentials import IdentityToken, Login, Password
from reprobridge.registry.refusals import Refused, Unauthorized, Unreachable
from reprobridge.system.http import NoAnswerError
from support.registries import Waiting, blob_of, client

REALM = "https://auth.example/token"
SECRET = "correct horse"
BLOB = Digest.of(b"blob")


class Guarded:
    """A registry that takes the newest token only, and its token server."""

    def __init__(self) -> None:
        self.given = 0
        self.valid = True
        self.life: object = 300
        self.demands = ""
        """Scope in the challenge."""
        self.post = 200
        self.realm = REALM
        self.token_status = 200
        self.http = ScriptedHttp(self.answer)

    def answer(self, sent: Sent) -> Canned | NoAnswerError:
        if sent.url.startswith(self.realm):
            return self.token(sent)
        if self.valid and self.given and sent.headers.get("Authorization") == f"Bearer t{self.given}":
            return Canned(headers={"content-length": "4"})
        challenge = f'Bearer realm="{self.realm}",service="s",scope="{self.demands}"'
        data = json.dumps({"errors": [{"code": "UNAUTHORIZED", "message": f"not with {SECRET}"}]})
        return Canned(401, data.encode(), {"www-authenticate": challenge})

    def token(self, sent: Sent) -> Canned:
        if sent.method == "POST" and self.post != 200:
            return Canned(self.post)
        if self.token_status != 200:
            return Canned(self.token_status, f"no, {SECRET} is wrong".encode())
        self.given += 1
        return Canned(data=json.dumps({"token": f"t{self.given}", "expires_in": self.life}).encode())

    def asked_for(self) -> list[list[str]]:
        """The scopes of every request for a token."""
        urls = [sent.url for sent in self.http.sent if sent.url.startswith(self.realm)]
        return [parse_qs(urlsplit(url).query).get("scope", []) for url in urls]


@pytest.fixture
def guarded() -> Guarded:
    return Guarded()


def test_the_login_goes_to_the_token_server_and_the_token_to_the_registry(guarded: Guarded) -> None:
    client("ghcr.io", guarded.http, login=Password("ann", SECRET)).blob_size("a/b", BLOB)
    first, token, second = guarded.http.sent
    assert "Authorization" not in first.headers
    assert (
        base64.b64decode(token.headers["Authorization"].removeprefix("Basic ")) == b"ann:" + SECRET.encode()
    )
    assert parse_qsl(urlsplit(token.url).query) == [("service", "s"), ("scope", "repository:a/b:pull")]
    assert second.headers["Authorization"] == "Bearer t1"


def test_nobody_asks_without_a_login(guarded: Guarded) -> None:
    client("ghcr.io", guarded.http).blob_size("a/b", BLOB)
    assert "Authorization" not in guarded.http.sent[1].headers


def test_a_token_is_kept_until_shortly_before_its_end(guarded: Guarded) -> None:
    waiting = Waiting()
    ours = client("ghcr.io", guarded.http, waiting=waiting)
    for now, tokens in ((0, 1), (269, 1), (271, 2)):
        waiting.now = 1_000_000.0 + now
        ours.blob_size("a/b", BLOB)
        assert guarded.given == tokens


@pytest.mark.parametrize(("life", "seconds"), [(None, 48), (60, 48), (10, 8), (3600, 3570)])
def test_a_short_life_is_not_used_to_its_end(guarded: Guarded, life: object, seconds: int) -> None:
    waiting, guarded.life = Waiting(), life
    ours = client("ghcr.io", guarded.http, waiting=waiting)
    ours.blob_size("a/b", BLOB)
    waiting.now += seconds - 1
    ours.blob_size("a/b", BLOB)
    assert guarded.given == 1
    waiting.now += 2
    ours.blob_size("a/b", BLOB)
    assert guarded.given == 2


def test_a_token_for_writing_also_reads(guarded: Guarded) -> None:
    ours = client("ghcr.io", guarded.http)
    assert not mount(ours.server, "a/b", blob_of(b"blob").descriptor, "c")
    given = guarded.given
    ours.blob_size("a/b", BLOB)
    ours.blob_size("c", BLOB)
    assert guarded.given == given
    assert guarded.asked_for()[0] == ["repository:a/b:pull,push", "repository:c:pull"]


def test_what_the_registry_demands_is_asked_for_besides_what_we_need(guarded: Guarded) -> None:
    guarded.demands = "repository:base/x:pull registry:catalog:*"
    client("ghcr.io", guarded.http).blob_size("a/b", BLOB)
    expected = ["registry:catalog:*", "repository:a/b:pull", "repository:base/x:pull"]
    assert guarded.asked_for() == [expected]


def test_a_refused_token_is_renewed_once(guarded: Guarded) -> None:
    ours = client("ghcr.io", guarded.http, login=Password("ann", SECRET))
    ours.blob_size("a/b", BLOB)
    guarded.given += 1  # the old one is not the newest any more
    ours.blob_size("a/b", BLOB)
    assert len(guarded.asked_for()) == 2
    guarded.valid = False
    with pytest.raises(Unauthorized, match=r"docker login ghcr\.io"):
        ours.blob_size("a/b", BLOB)
    assert len(guarded.asked_for()) == 3


def test_an_identity_token_is_posted(guarded: Guarded) -> None:
    client("ghcr.io", guarded.http, login=IdentityToken("idt")).blob_size("a/b", BLOB)
    form = dict(parse_qsl(guarded.http.sent[1].body.decode()))
    assert guarded.http.sent[1].method == "POST"
    assert form == {
        "grant_type": "refresh_token",
        "service": "s",
        "client_id": "reprobridge",
        "scope": "repository:a/b:pull",
        "refresh_token": "idt",
    }


@pytest.mark.parametrize("status", [404, 405])
def test_an_identity_token_is_tried_by_get_where_post_is_unknown(guarded: Guarded, status: int) -> None:
    guarded.post = status
    client("ghcr.io", guarded.http, login=IdentityToken("idt")).blob_size("a/b", BLOB)
    assert [sent.method for sent in guarded.http.sent] == ["HEAD", "POST", "GET", "HEAD"]
    assert guarded.http.sent[2].headers["Authorization"] == "Basic " + base64.b64encode(b":idt").decode()


@pytest.mark.parametrize(
    "shown",
    ["p%2Fa%20%22b%26", "p/a%20%22b%26", "p%2Fa+%22b%26", 'p/a \\"b&'],
    ids=["quoted", "path", "form", "json"],
)
def test_no_secret_is_told_in_another_spelling(shown: str) -> None:
    def servers(sent: Sent) -> Canned:
        if sent.url.startswith(REALM):
            return Canned(401, f"no, {shown} is wrong".encode())
        return Canned(401, headers={"www-authenticate": f'Bearer realm="{REALM}"'})

    with pytest.raises(Unauthorized, match="is wrong") as raised:
        client("ghcr.io", ScriptedHttp(servers), login=Password("ann", 'p/a "b&')).blob_size("a/b", BLOB)
    assert shown not in str(raised.value)


@pytest.mark.parametrize("login", [Password("ann", SECRET), IdentityToken(SECRET), None])
def test_no_secret_is_told(guarded: Guarded, login: Login | None) -> None:
    guarded.token_status = 401
    with pytest.raises(Unauthorized) as raised:
        client("ghcr.io", guarded.http, login=login).blob_size("a/b", BLOB)
    if login is not None:
        assert SECRET not in str(raised.value)
        assert SECRET not in repr(login)
    assert raised.value.where == "ghcr.io"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"<html>",
        b"{}",
        b'{"token": ""}',
        b'{"token": "a\\nX-Evil: b"}',
        b'{"token": "t", "expires_in": "x"}',
    ],
)
def test_what_is_no_token_is_refused_without_showing_it(data: bytes) -> None:
    def servers(sent: Sent) -> Canned:
        if sent.url.startswith(REALM):
            return Canned(data=data)
        return Canned(401, headers={"www-authenticate": f'Bearer realm="{REALM}"'})

    with pytest.raises(RegistryError, match="does not answer with a token") as raised:
        client("ghcr.io", ScriptedHttp(servers)).blob_size("a/b", BLOB)
    assert "X-Evil" not in str(raised.value)


def test_a_login_does_not_go_to_a_realm_without_tls() -> None:
    guarded = Guarded()
    guarded.realm = "http://auth.example/token"
    with pytest.raises(RegistryError, match="an address that we do not go to"):
        client("ghcr.io", guarded.http, login=Password("ann", SECRET)).blob_size("a/b", BLOB)
    assert len(guarded.http.sent) == 1


def test_basic_is_used_where_there_is_no_bearer() -> None:
    def servers(sent: Sent) -> Canned:
        if "Authorization" in sent.headers:
            return Canned(headers={"content-length": "4"})
        return Canned(401, headers={"www-authenticate": "Negotiate, Basic realm=x"})

    http = ScriptedHttp(servers)
    ours = client("ghcr.io", http, login=Password("ann", SECRET))
    ours.blob_size("a/b", BLOB)
    ours.blob_size("a/b", BLOB)
    assert len(http.sent) == 3, "the second look is authorized at once"


@pytest.mark.parametrize("challenge", ["", "Negotiate", "Bearer", "Basic realm=x"])
def test_a_challenge_that_cannot_be_met_is_told(challenge: str) -> None:
    http = ScriptedHttp(lambda _: Canned(401, headers={"www-authenticate": challenge}))
    with pytest.raises(Unauthorized, match="docker login"):
        client("ghcr.io", http).blob_size("a/b", BLOB)
    assert len(http.sent) == 1


def test_a_token_server_that_stumbles_is_asked_again() -> None:
    guarded = Guarded()
    left: list[Canned | NoAnswerError] = [Canned(503), broken_connection(), Canned(429)]

    def servers(sent: Sent) -> Canned | NoAnswerError:
        return left.pop() if sent.url.startswith(REALM) and left else guarded.answer(sent)

    assert client("ghcr.io", ScriptedHttp(servers)).blob_size("a/b", BLOB) == 4


def test_a_token_server_that_is_not_there_is_told() -> None:
    guarded = Guarded()

    def servers(sent: Sent) -> Canned | NoAnswerError:
        return broken_connection() if sent.url.startswith(REALM) else guarded.answer(sent)

    with pytest.raises(Unreachable):
        client("ghcr.io", ScriptedHttp(servers)).blob_size("a/b", BLOB)


def test_a_login_that_may_not_is_told_so() -> None:
    http = ScriptedHttp(lambda _: Canned(403, b'{"errors":[{"code":"DENIED","message":"no"}]}'))
    with pytest.raises(Refused, match="DENIED no"):
        client("ghcr.io", http, login=Password("ann", SECRET)).blob_size("a/b", BLOB)
    assert len(http.sent) == 1
