"""One registry's host: a request with authorization, redirects and patience.

Redirects are followed for reading only, and nobody but the registry itself sees the Authorization header.
"""

import contextlib
from collections.abc import Callable, Collection, Iterator
from typing import TypeVar

from reprobridge.errors import RegistryError
from reprobridge.frozen import replace
from reprobridge.registry.addresses import Addresses
from reprobridge.registry.challenge import Grants
from reprobridge.registry.credentials import Credentials
from reprobridge.registry.options import Options
from reprobridge.registry.quirks import quirks_of
from reprobridge.registry.refusals import Refused, Reply, ServerFailed, Transient, Unauthorized, no_answer
from reprobridge.registry.tokens import Authorizer
from reprobridge.registry.tries import Tries
from reprobridge.registry.turns import Turns
from reprobridge.system.http import Answer, Http, NoAnswerError, Request

LARGEST_REPLY = 16 << 20
"""Bytes; registries refuse manifests above 4 MiB, lists may be longer."""
Result = TypeVar("Result")

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS = 5
_TRIES_TO_MOUNT = 3
"""Fewer than for what must succeed: an upload does the same."""
_READING = frozenset({"GET", "HEAD"})


class Server:
    """One registry. May be used from several threads at once."""

    def __init__(self, host: str, http: Http, credentials: Credentials, options: Options) -> None:
        self.host = host
        """As in images' names."""
        self.addresses = Addresses(host, insecure=options.insecure)
        """What is where."""
        self.quirks = options.quirks or quirks_of(host)
        """What is peculiar to it."""
        self.turns = Turns(self.quirks.parallel)
        """Who moves a blob now."""
        self.missed: set[str] = set()
        """Repositories from which a mount was not made: the next blob is looked for before it asks there."""
        self.unmountable: set[str] = set()
        """Repositories from which a mount failed however often it was asked for, or hung: no other blob asks there."""
        self._http, self._patience = http, options.patience
        self._authorizer = Authorizer(self.addresses, http, credentials, options.patience)

    def tries(self) -> Tries:
        """The tries of a new step."""
        return Tries(self._patience)

    def tries_to_mount(self) -> Tries:
        """The tries of a mount."""
        most, patience = _TRIES_TO_MOUNT, self._patience
        return Tries(
            replace(
                patience,
                tries=min(most, patience.tries),
                throttled_tries=min(most, patience.throttled_tries),
            )
        )

    def pause(self, seconds: float) -> None:
        """Wait."""
        self._patience.pause(seconds)

    def request(self, request: Request, grants: Grants, expected: Collection[int]) -> Reply:
        """A small answer whose status is expected, tried again while the server stumbles. Raises Refused."""
        return self.patiently(lambda: self.request_once(request, grants, expected))

    def patiently(self, step: Callable[[], Result]) -> Result:
        """Do something that may be done again, until no Transient rises or there were too many."""
        tries = self.tries()
        while True:
            try:
                return step()
            except Transient as trouble:
                tries.after(trouble)

    def request_once(self, request: Request, grants: Grants, expected: Collection[int]) -> Reply:
        """The same, tried once: Transient says that another try may succeed."""
        follow = request.method in _READING and not _REDIRECTS & set(expected)
        with self.open(request, grants, follow=follow) as answer:
            reply = self.read(request, answer)
        if reply.status not in expected:
            raise self.refusal(reply)
        return reply

    @contextlib.contextmanager
    def open(self, request: Request, grants: Grants, *, follow: bool = True) -> Iterator[Answer]:
        """An answer of any status whose body the caller reads, after at most one new authorization.

        Raises Unreachable, also for what breaks inside the `with`.
        """
        with self._broken_is_unreachable(), contextlib.ExitStack() as stack:
            for _ in range(_MOST_REDIRECTS):
                answer = self._authorized(stack, request, grants)
                if not (follow and answer.status in _REDIRECTS and "location" in answer.headers):
                    yield answer
                    return
                url = self.addresses.follow(request.url, answer.headers["location"])
                request = replace(request, url=url)
                stack.close()
            raise self.broken(
                "the registry redirects without end",
                expected=f"at most {_MOST_REDIRECTS - 1} redirects",
                found=repr(request),
            )

    def once(self, request: Request, grants: Grants) -> Reply:
        """One exchange without a second try, for a body that should not be sent in vain.

        A 401 makes the next try carry new authorization, and raises Unauthorized (`renewed`).
        """
        with self._broken_is_unreachable():
            sent = self._with_authorization(request, grants)
            with self._http.exchange(sent) as answer:
                reply = self.read(request, answer)
        if reply.status == 401 and self.addresses.is_own(request.url):
            self._authorizer.renew(reply, grants, sent.headers.get("Authorization"))
            error = self.refusal(reply)
            if isinstance(error, Unauthorized):
                error.renewed = True
            raise error
        return reply

    def refusal(self, reply: Reply) -> Refused:
        """The error for an answer; a server that stumbles gets one body at a time from now on."""
        error = self._authorizer.refusal(reply)
        if isinstance(error, ServerFailed):
            self.turns.go_serial()
        return error

    def broken(self, message: str, *, expected: str, found: str) -> RegistryError:
        """The error for an answer that does not hold what the specification says."""
        return RegistryError(message, where=self.host, expected=expected, found=found)

    def read(self, request: Request, answer: Answer) -> Reply:
        """The answer with its body, which is read to its end so that the connection can be used again."""
        data = bytearray()
        for block in answer.blocks():
            data += block
            if len(data) > LARGEST_REPLY:
                raise self.broken(
                    "the answer is too long", expected=f"at most {LARGEST_REPLY} bytes", found="more"
                )
        return Reply(
            method=request.method,
            url=request.url,
            status=answer.status,
            headers=answer.headers,
            data=bytes(data),
        )

    def _authorized(self, stack: contextlib.ExitStack, request: Request, grants: Grants) -> Answer:
        sent = self._with_authorization(request, grants)
        answer = stack.enter_context(self._http.exchange(sent))
        if answer.status != 401 or not self.addresses.is_own(request.url):
            return answer
        self._authorizer.renew(self.read(request, answer), grants, sent.headers.get("Authorization"))
        stack.close()
        return stack.enter_context(self._http.exchange(self._with_authorization(request, grants)))

    def _with_authorization(self, request: Request, grants: Grants) -> Request:
        header = self._authorizer.header(grants) if self.addresses.is_own(request.url) else None
        if header is None:
            return request
        return replace(request, headers={**request.headers, "Authorization": header})

    @contextlib.contextmanager
    def _broken_is_unreachable(self) -> Iterator[None]:
        try:
            yield
        except NoAnswerError as error:
            self.turns.go_serial()
            raise no_answer(self.host, error) from error
