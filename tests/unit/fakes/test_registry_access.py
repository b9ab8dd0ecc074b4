"""The fake registry's authentication: Basic (RFC 7617), and tokens as the distribution project describes them."""

import base64
import re
from collections.abc import Iterator

import pytest

from fakes.registry.access import Access, Users
from fakes.registry.content import sha256
from fakes.registry.exchange import Phase
from fakes.registry.server import FakeRegistry
from fakes.registry.speaker import Heard, ask, begin, closing

NAME = "lab/paper"
BASIC = {"Authorization": f"Basic {base64.b64encode(b'author:secret').decode()}"}
WRONG = {"Authorization": f"Basic {base64.b64encode(b'author:guess').decode()}"}
USERS = Users(refresh_tokens=("identity",), anonymous_pull=True)


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    with FakeRegistry(access=Access(USERS, tokens=True)) as server:
        yield server


def bearer(answer: Heard) -> dict[str, str]:
    return {"Authorization": f"Bearer {answer.json()['token']}"}


def start(registry: FakeRegistry, headers: dict[str, str], query: str = "") -> Heard:
    return ask(
        registry, "POST", f"/v2/{NAME}/blobs/uploads/{query}", headers={"Content-Length": "0"} | headers
    )


def test_basic_lets_an_account_in_and_challenges_everybody_else() -> None:
    with FakeRegistry(access=Access(USERS, tokens=False)) as registry:
        refused = ask(registry, "GET", "/v2/")
        assert (refused.status, refused.headers["www-authenticate"]) == (401, 'Basic realm="fake"')
        assert ask(registry, "GET", "/v2/", headers=WRONG).status == 401
        assert ask(registry, "GET", "/v2/", headers={"Authorization": "Basic !"}).status == 401
        assert ask(registry, "GET", "/v2/", headers=BASIC).status == 200


def test_a_challenge_names_realm_service_and_scope(registry: FakeRegistry) -> None:
    refused = begin(registry, NAME)
    assert (refused.status, refused.codes()) == (401, ["UNAUTHORIZED"])
    assert refused.headers["www-authenticate"] == (
        f'Bearer realm="{registry.url}/token",service="fake",scope="repository:{NAME}:pull,push"'
    )


def test_a_mounts_challenge_names_both_repositories(registry: FakeRegistry) -> None:
    challenge = begin(registry, NAME, f"?mount={sha256(b'')}&from=base/system").headers["www-authenticate"]
    found = re.search('scope="([^"]*)"', challenge)
    assert found is not None
    assert found[1] == f"repository:base/system:pull repository:{NAME}:pull,push"


@pytest.mark.parametrize(
    "scopes", ["&scope=repository:{0}:pull,push", "&scope=x&scope=repository:{0}:push,pull"]
)
def test_a_token_opens_what_it_was_asked_for(registry: FakeRegistry, scopes: str) -> None:
    issued = ask(registry, "GET", f"/token?service=fake{scopes.format(NAME)}", headers=BASIC)
    assert (issued.status, issued.json()["expires_in"]) == (200, 300)
    assert start(registry, bearer(issued)).status == 202


def test_a_token_for_pulling_does_not_push(registry: FakeRegistry) -> None:
    issued = ask(registry, "GET", f"/token?service=fake&scope=repository:{NAME}:pull", headers=BASIC)
    refused = start(registry, bearer(issued))
    assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]


def test_an_expired_or_invented_token_is_invalid(registry: FakeRegistry) -> None:
    issued = ask(registry, "GET", f"/token?scope=repository:{NAME}:pull,push", headers=BASIC)
    access = registry.service.access
    assert access is not None
    access.expire()
    for headers in (bearer(issued), {"Authorization": "Bearer invented"}):
        assert 'error="invalid_token"' in start(registry, headers).headers["www-authenticate"]


def test_without_a_name_tokens_only_pull(registry: FakeRegistry) -> None:
    issued = ask(registry, "GET", f"/token?scope=repository:{NAME}:pull,push")
    assert ask(registry, "GET", f"/v2/{NAME}/tags/list", headers=bearer(issued)).status == 404
    assert start(registry, bearer(issued)).status == 401


def test_a_wrong_password_gets_no_token(registry: FakeRegistry) -> None:
    assert ask(registry, "GET", "/token", headers=WRONG).status == 401


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ("grant_type=refresh_token&refresh_token=identity", 200),
        ("grant_type=refresh_token&refresh_token=invented", 401),
        ("grant_type=password&username=author&password=secret", 200),
        ("grant_type=wish", 400),
    ],
)
def test_an_oauth2_form_gets_a_token(registry: FakeRegistry, form: str, status: int) -> None:
    body = f"{form}&service=fake&scope=repository:{NAME}:pull,push".encode()
    issued = ask(registry, "POST", "/token", body)
    assert issued.status == status
    if status == 200:
        assert start(registry, bearer(issued)).status == 202


def test_a_big_body_without_a_valid_token_is_refused_early(registry: FakeRegistry) -> None:
    issued = ask(registry, "GET", f"/token?scope=repository:{NAME}:pull,push", headers=BASIC)
    location = start(registry, bearer(issued)).headers["location"]
    body = bytes(8 << 20)
    refused = ask(registry, "PUT", closing(location, sha256(body)), body, {"Authorization": "Bearer old"})
    assert refused.status == 401
    (exchange,) = [one for one in registry.log if one.request.phase is Phase.UPLOAD_END]
    assert 0 < exchange.received < len(body)


def test_tokens_of_another_server_with_the_same_access_are_honoured() -> None:
    access = Access(USERS, tokens=True)
    with FakeRegistry(access=access) as first, FakeRegistry(access=access) as second:
        issued = ask(first, "GET", f"/token?scope=repository:{NAME}:pull,push", headers=BASIC)
        assert start(second, bearer(issued)).status == 202
