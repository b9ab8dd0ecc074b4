"""Who may do what at the fake registry: everybody, users with a password (Basic), or bearers of tokens.

Tokens are random words that the server remembers together with what they allow; there is no clock: `expire()`
ends the tokens that were given out so far.
"""

import base64
import binascii
import secrets
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import parse_qs

from fakes.registry.exchange import Phase, Reply, Request, error, json_reply

_WRITES = frozenset({Phase.MOUNT, Phase.UPLOAD_START, Phase.UPLOAD_STATUS, Phase.UPLOAD_CHUNK,
                     Phase.UPLOAD_END, Phase.UPLOAD_CANCEL, Phase.MANIFEST_PUT})  # fmt: skip
_DELETES = frozenset({Phase.BLOB_DELETE, Phase.MANIFEST_DELETE})

_LIFE = 300
"""Seconds that a token is said to last."""

Grant = tuple[str, str]
"""A repository and an action: `pull`, `push` or `delete`."""


@dataclass(frozen=True, kw_only=True)
class Users:
    """Accounts, and what those without one may do."""

    passwords: tuple[tuple[str, str], ...] = (("author", "secret"),)
    """(name, password) of each account; an account may do everything."""
    refresh_tokens: tuple[str, ...] = ()
    """Identity tokens that stand for an account (`docker login` with some registries)."""
    anonymous_pull: bool = False
    """Whether tokens for pulling are given without a name."""


class Access:
    """Basic or token authentication; one object may serve two servers, one of them for tokens only."""

    def __init__(
        self, users: Users, *, tokens: bool, realm: str | None = None, expires_in: int = 300
    ) -> None:
        self._users, self._tokens, self._realm, self._expires_in = users, tokens, realm, expires_in
        self._granted: dict[str, frozenset[Grant]] = {}
        self._lock = threading.Lock()

    def expire(self) -> None:
        """End every token given out so far."""
        with self._lock:
            self._granted.clear()

    def refuse(self, request: Request, base: str) -> Reply | None:
        """The answer for a request that may not pass, None when it may. `base` is the server's own URL."""
        if request.phase is Phase.TOKEN:
            return None
        if not self._tokens:
            known = self._account(request.headers.get("authorization", ""))
            return None if known else _unauthorized('Basic realm="fake"')
        needed = _needed(request)
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        granted = self._granted.get(token) if scheme.lower() == "bearer" else None
        if granted is not None and needed <= granted:
            return None
        reason = "insufficient_scope" if granted is not None else "invalid_token" if token else None
        return _unauthorized(self._challenge(needed, base, reason))

    def token(self, request: Request, body: bytes) -> Reply:
        """Answer a token request: GET with Basic or nothing, or POST of an OAuth2 form."""
        if not self._tokens:
            return Reply(status=404, body=b"404 page not found\n")
        if request.method == "POST":
            return self._token_of_form(body)
        known = self._account(request.headers.get("authorization", ""))
        if "authorization" in request.headers and not known:
            return error(401, "UNAUTHORIZED", "incorrect username or password")
        return self._issue(" ".join(request.query.get("scope", ())), known=known)

    def _token_of_form(self, body: bytes) -> Reply:
        form = {name: values[-1] for name, values in parse_qs(body.decode()).items()}
        match form.get("grant_type"):
            case "refresh_token":
                known = form.get("refresh_token") in self._users.refresh_tokens
            case "password":
                known = (form.get("username"), form.get("password")) in self._users.passwords
            case _:
                return json_reply(400, {"error": "unsupported_grant_type"})
        if not known:
            return error(401, "UNAUTHORIZED", "invalid grant")
        return self._issue(form.get("scope", ""), known=True)

    def _issue(self, scope: str, *, known: bool) -> Reply:
        grants = _grants(scope)
        if not known:
            grants = {grant for grant in grants if grant[1] == "pull" and self._users.anonymous_pull}
        token = secrets.token_urlsafe(16)
        with self._lock:
            self._granted[token] = frozenset(grants)
        return json_reply(200, {"token": token, "access_token": token, "expires_in": _LIFE})

    def _account(self, authorization: str) -> bool:
        scheme, _, encoded = authorization.partition(" ")
        if scheme.lower() != "basic":
            return False
        try:
            name, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return False
        return (name, password) in self._users.passwords

    def _challenge(self, needed: Iterable[Grant], base: str, reason: str | None) -> str:
        scopes: dict[str, list[str]] = {}
        for name, action in sorted(needed):
            scopes.setdefault(name, []).append(action)
        scope = " ".join(f"repository:{name}:{','.join(actions)}" for name, actions in scopes.items())
        parts = [f'Bearer realm="{base}/token"', 'service="fake"']
        parts += [f'scope="{scope}"'] if scope else []
        parts += [f'error="{reason}"'] if reason else []
        return ",".join(parts)


def _needed(request: Request) -> frozenset[Grant]:
    if not request.name:
        return frozenset()
    actions = {"pull"}
    if request.phase in _WRITES:
        actions.add("push")
    if request.phase in _DELETES:
        actions = {"delete"}
    needed = {(request.name, action) for action in actions}
    source = request.parameter("from")
    if request.phase is Phase.MOUNT and source is not None:
        needed.add((source, "pull"))
    return frozenset(needed)


def _grants(scope: str) -> set[Grant]:
    grants: set[Grant] = set()
    for part in scope.split():
        kind, _, rest = part.partition(":")
        name, _, actions = rest.rpartition(":")
        if kind == "repository":
            grants |= {(name, action) for action in actions.split(",")}
    return grants


def _unauthorized(challenge: str) -> Reply:
    return error(401, "UNAUTHORIZED", "authentication required").with_headers(WWW_Authenticate=challenge)
