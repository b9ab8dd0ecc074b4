"""The language of faults: where in the protocol, what happens there, how often.

Fault(Phase.UPLOAD_END, Reset(body=1000))                          # once, in the middle of the first PUT
Fault(Phase.BLOB_HEAD, Answer(status(429, Retry_After="7")), times=3)
Fault(Phase.MANIFEST_PUT, LostReply(), reference="1.0.0")          # only for this tag
Fault(Phase.BLOB_GET, Changed(truncated(10)), times=None)          # for ever
Fault(Phase.UPLOAD_END, Meanwhile(lambda content: content.sessions.clear()))
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from fakes.registry.content import Content
from fakes.registry.exchange import Phase, Reply, Request, error


@dataclass(frozen=True, kw_only=True)
class Reset:
    """The connection is reset after so many bytes of the request's body; nothing of it is carried out."""

    body: int = 0
    """Bytes of the body that are read before."""


@dataclass(frozen=True)
class LostReply:
    """The request is carried out, then the connection is reset without an answer."""


@dataclass(frozen=True)
class Stall:
    """The request is read and never answered, until the client hangs up."""


@dataclass(frozen=True)
class Answer:
    """This answer instead of the right one; nothing is carried out."""

    reply: Reply
    early: int | None = None
    """It comes after so many bytes of the request's body, and the connection ends; None: after all of it."""


@dataclass(frozen=True)
class Changed:
    """The request is carried out and its answer changed on the way back."""

    change: Callable[[Reply], Reply]


@dataclass(frozen=True)
class Meanwhile:
    """Somebody else changes what the registry holds right before the request, or right after it."""

    do: Callable[[Content], object]
    after: bool = False


Happening = Reset | LostReply | Stall | Answer | Changed | Meanwhile


@dataclass(frozen=True)
class Fault:
    """Where, what, how often."""

    where: Phase | None
    """The step of the protocol; None: any."""
    what: Happening
    """What happens there."""
    times: int | None = 1
    """Requests that meet it; None: all."""
    skip: int = 0
    """Requests of this kind that pass before."""
    reference: str | None = None
    """Only requests for this tag or digest."""

    def strikes(self, request: Request) -> bool:
        """Whether a request is of the kind that meets this fault."""
        return self.where in (None, request.phase) and self.reference in (None, request.reference)


class Faults:
    """The faults that are still to come. A request meets at most one: the first that strikes."""

    def __init__(self) -> None:
        self._armed: list[Fault] = []
        self.met = 0
        """Requests that met a fault."""

    def arm(self, *faults: Fault) -> None:
        """Add faults behind the ones that are armed already."""
        self._armed += faults

    def clear(self) -> None:
        """From now on nothing goes wrong."""
        self._armed.clear()

    def next(self, request: Request) -> Happening | None:
        """What a request meets; counts it."""
        for place, fault in enumerate(self._armed):
            if not fault.strikes(request):
                continue
            if fault.skip:
                self._armed[place] = replace(fault, skip=fault.skip - 1)
                return None
            if fault.times is not None:
                left = replace(fault, times=fault.times - 1)
                self._armed[place : place + 1] = [left] if left.times else []
            self.met += 1
            return fault.what
        return None


def status(code: int, body: bytes | None = None, **headers: str) -> Reply:
    """An error answer: with this body, or with an error in the specification's form that says little."""
    reply = error(code, "UNKNOWN", "out of order") if body is None else Reply(status=code, body=body)
    return reply.with_headers(**headers)


def redirect(location: str, code: int = 307) -> Reply:
    """An answer that sends the client elsewhere."""
    return Reply(status=code, headers={"Location": location})


def html(code: int = 200) -> Reply:
    """A page of a proxy or a login form, where JSON was to come."""
    return Reply(
        status=code,
        headers={"Content-Type": "text/html"},
        body=b"<!doctype html><title>Sign in</title><p>Welcome to the network of this hotel",
    )


def headers(**changed: str | None) -> Changed:
    """The right answer with headers set, or removed by None; underscores stand for dashes."""
    return Changed(lambda reply: reply.with_headers(**changed))


def truncated(keep: int, *, reset: bool = False) -> Callable[[Reply], Reply]:
    """The answer's body ends after so many bytes, in an orderly way or by a reset."""
    return lambda reply: replace(reply, keep=keep, reset=reset)


def declared(difference: int) -> Callable[[Reply], Reply]:
    """Content-Length says more (or, negative, less) than what comes, and then the connection ends."""
    return lambda reply: replace(reply, declared=len(reply.body) + difference, keep=len(reply.body))


def flipped(index: int = 0) -> Callable[[Reply], Reply]:
    """The right length with one wrong byte."""

    def change(reply: Reply) -> Reply:
        body = bytearray(reply.body)
        body[index] ^= 1
        return replace(reply, body=bytes(body))

    return change
