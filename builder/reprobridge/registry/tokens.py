"""The Authorization header: Basic, or a token from the server that the registry names.

Token authentication as the distribution project specifies it, with what real servers do differently.
Tokens are kept by what they allow, and are never shown.
"""

import base64
import json
import re
import threading
from collections.abc import Mapping
from urllib.parse import quote, quote_plus, urlencode

from reprobridge.errors import RegistryError
from reprobridge.frozen import frozen, replace
from reprobridge.registry.addresses import Addresses, with_query
from reprobridge.registry.challenge import Challenge, Grants, parse_challenges, parse_scope, scope_texts
from reprobridge.registry.credentials import Credentials, IdentityToken, Login, Password
from reprobridge.registry.options import Patience
from reprobridge.registry.refusals import Refused, Reply, Transient, no_answer, refusal
from reprobridge.system.http import Body, Http, NoAnswerError, Request

_CLIENT = "reprobridge"
_LARGEST = 1 << 20
_VISIBLE = re.compile(r"[\x21-\x7e]+")
_SHORTEST_LIFE = 60


@frozen(kw_only=True)
class _Token:
    grants: Grants
    header: str
    stale_at: float

    def __repr__(self) -> str:
        return f"<token for {scope_texts(self.grants)}>"


class Authorizer:
    """Who we are for one registry. May be used from several threads: one fetches a token, the others wait."""

    def __init__(
        self, addresses: Addresses, http: Http, credentials: Credentials, patience: Patience
    ) -> None:
        self._addresses, self._http = addresses, http
        self._credentials, self._patience = credentials, patience
        self._challenge: Challenge | None = None
        self._tokens: list[_Token] = []
        self._widened: dict[Grants, Grants] = {}
        self._lock = threading.RLock()
        self._known_login: tuple[Login | None] | None = None

    def header(self, grants: Grants) -> str | None:
        """The header for a request that needs these grants; None before the registry has asked for one."""
        with self._lock:
            match self._challenge:
                case None:
                    return None
                case Challenge(scheme="basic"):
                    return self._basic()
                case challenge:
                    wanted = self._widened.get(grants, grants)
                    return self._kept(wanted) or self._fetched_or_forgotten(challenge, wanted)

    def renew(self, reply: Reply, grants: Grants, sent: str | None) -> None:
        """Learn from a 401 how to do better next time. Raises Unauthorized when there is no better."""
        with self._lock:
            challenge = self._chosen(reply)
            if challenge.scheme == "basic":
                if self._basic() in (None, sent):
                    raise self.refusal(reply)
            else:
                self._widened[grants] = grants | parse_scope(challenge.parameters.get("scope", ""))
                self._tokens = [token for token in self._tokens if token.header != sent]
            self._challenge = challenge

    def refusal(self, reply: Reply) -> Refused:
        """The error for an answer; a server that repeats our secrets does not get them shown."""
        with self._lock:
            secrets = [token.header.removeprefix("Bearer ") for token in self._tokens]
            who = "with the stored login" if self._known_login and self._known_login[0] else "anonymously"
            match self._known_login:
                case (Password(user, secret),):
                    secrets += [basic_header(user, secret).removeprefix("Basic "), secret]
                case (IdentityToken(secret),):
                    secrets += [secret]
        data = reply.data
        for spelled in _spellings(secrets):
            data = data.replace(spelled, b"...")
        error = refusal(self._addresses.host, replace(reply, data=data), now=self._patience.clock())
        if error.status in (401, 403):
            error.found = f"{error.found} (asked {who})"
        return error

    def _chosen(self, reply: Reply) -> Challenge:
        """The challenge that we can meet."""
        found = parse_challenges(reply.headers.get("www-authenticate", ""))
        for challenge in found:
            if challenge.scheme == "bearer" and challenge.parameters.get("realm"):
                return challenge
        for challenge in found:
            if challenge.scheme == "basic":
                return challenge
        raise self.refusal(reply)

    def _login(self) -> Login | None:
        """Asked for once: a credential helper is a program."""
        if self._known_login is None:
            self._known_login = (self._credentials.login(self._addresses.host),)
        return self._known_login[0]

    def _basic(self) -> str | None:
        match self._login():
            case Password(user, secret):
                return basic_header(user, secret)
            case _:
                return None

    def _kept(self, wanted: Grants) -> str | None:
        now = self._patience.clock()
        self._tokens = [token for token in self._tokens if token.stale_at > now]
        return next((token.header for token in self._tokens if wanted <= token.grants), None)

    def _fetched_or_forgotten(self, challenge: Challenge, wanted: Grants) -> str:
        """A new token; a challenge that brings none is not kept, the next one may be better."""
        try:
            return self._fetched(challenge, wanted)
        except RegistryError:
            self._challenge = None
            raise

    def _fetched(self, challenge: Challenge, wanted: Grants) -> str:
        asked_at = self._patience.clock()
        token, life = _read_token(self._addresses.host, self._ask(challenge, wanted))
        # A token that ends on the way is refused: a fifth of its life, or 30 s, before its end it is old.
        stale_at = asked_at + life - min(30.0, life / 5)
        self._tokens.insert(0, _Token(grants=wanted, header=f"Bearer {token}", stale_at=stale_at))
        return f"Bearer {token}"

    def _ask(self, challenge: Challenge, wanted: Grants) -> Reply:
        realm = self._addresses.realm(challenge.parameters["realm"])
        fields = [("scope", text) for text in scope_texts(wanted)]
        if service := challenge.parameters.get("service"):
            fields.insert(0, ("service", service))
        login = self._login()
        if isinstance(login, IdentityToken):
            reply = self._sent(_refresh_request(realm, fields, login))
            if reply.status == 200:
                return reply
            if reply.status not in (400, 401, 404, 405):  # these: a server that knows only GET
                raise self.refusal(reply)
        reply = self._sent(_get_request(realm, fields, login))
        if reply.status != 200:
            raise self.refusal(reply)
        return reply

    def _sent(self, request: Request) -> Reply:
        """A token server's answer. Raises Transient: patience is with the request that needs the token."""
        try:
            with self._http.exchange(request) as answer:
                data = b""
                for block in answer.blocks():
                    data = (data + block)[:_LARGEST]
        except NoAnswerError as error:
            raise no_answer(self._addresses.host, error) from error
        reply = Reply(
            method=request.method, url=request.url, status=answer.status, headers=answer.headers, data=data
        )
        if answer.status != 200 and isinstance(trouble := self.refusal(reply), Transient):
            raise trouble
        return reply


def _spellings(secrets: list[str]) -> list[bytes]:
    """The secrets as servers repeat them: as they are, out of an address or a form, or in JSON; the longest first."""
    spelled = {
        form.encode()
        for secret in filter(None, secrets)
        for form in (
            secret,
            quote(secret),
            quote(secret, safe=""),
            quote_plus(secret),
            json.dumps(secret)[1:-1],
            json.dumps(secret, ensure_ascii=False)[1:-1],
        )
    }
    return sorted(spelled, key=len, reverse=True)


def basic_header(user: str, secret: str) -> str:
    """RFC 7617."""
    return "Basic " + base64.b64encode(f"{user}:{secret}".encode()).decode()


def _get_request(realm: str, fields: list[tuple[str, str]], login: Login | None) -> Request:
    headers: Mapping[str, str] = {}
    match login:
        case Password(user, secret):
            headers = {"Authorization": basic_header(user, secret)}
        case IdentityToken(secret):
            headers = {"Authorization": basic_header("", secret)}  # as containerd does
    return Request(method="GET", url=with_query(realm, fields), headers=headers)


def _refresh_request(realm: str, fields: list[tuple[str, str]], login: IdentityToken) -> Request:
    scope = " ".join(text for name, text in fields if name == "scope")
    form = {
        "grant_type": "refresh_token",
        **dict(field for field in fields if field[0] == "service"),
        "client_id": _CLIENT,
        "scope": scope,
        "refresh_token": login.secret,
    }
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    return Request(method="POST", url=realm, headers=headers, body=Body.of(urlencode(form).encode()))


def _read_token(host: str, reply: Reply) -> tuple[str, float]:
    """The token and its life in seconds. What is no token is not shown: it may hold one."""
    try:
        answer = json.loads(reply.data)
        token = str(answer.get("token") or answer.get("access_token") or "")
        life = float(answer.get("expires_in") or _SHORTEST_LIFE)
    except (ValueError, AttributeError, TypeError, RecursionError):
        token, life = "", 0.0
    if not _VISIBLE.fullmatch(token) or not 0 < life < float("inf"):
        raise RegistryError(
            "the token server does not answer with a token",
            where=host,
            expected="a JSON object with a token",
            found=reply.headers.get("content-type", "something of no type"),
        )
    return token, life
