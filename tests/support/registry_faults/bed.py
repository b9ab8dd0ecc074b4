"""What a row of the table is tried on: a fake registry, a second host, and our client with a clock of its own."""

import contextlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from fakes.registry.access import Access, Users
from fakes.registry.content import Content
from fakes.registry.options import Options
from fakes.registry.server import FakeRegistry
from reprobridge.frozen import replace
from reprobridge.registry.client import Registry
from reprobridge.registry.credentials import OneLogin, Password
from reprobridge.registry.options import Options as ClientOptions
from reprobridge.registry.options import Patience, Quirks
from reprobridge.system.http import Answer, Http, RealHttp, Request

SECRET = "correct-horse"
"""The password that must stay with the registry."""
HTTPS_HOST = "registry.test"
"""The registry's host where the client believes to speak https."""
START = 1_800_000_000.0
"""What the client's clock shows first."""


@dataclass
class Clock:
    """Time that passes only by waiting."""

    pauses: list[float] = field(default_factory=list)
    """Seconds of each wait."""

    def pause(self, seconds: float) -> None:
        """Wait, at once."""
        self.pauses.append(seconds)

    def now(self) -> float:
        """Seconds since 1970."""
        return START + sum(self.pauses)


@dataclass(frozen=True)
class HttpsInName:
    """A door behind which `https://registry.test` is the fake registry, over plain http."""

    real: Http
    address: str
    """The fake's URL."""

    def exchange(self, request: Request) -> AbstractContextManager[Answer]:
        """Ask the fake when it is meant."""
        parts = urlsplit(request.url)
        if (parts.scheme, parts.netloc) == ("https", HTTPS_HOST):
            url = self.address + request.url.partition(HTTPS_HOST)[2]
            return self.real.exchange(replace(request, url=url))
        return self.real.exchange(request)


@dataclass(frozen=True, kw_only=True)
class Bed:
    """Everything that a row may look at."""

    registry: FakeRegistry
    """What the client talks to."""
    elsewhere: FakeRegistry
    """Another host with the same content that wants no authentication."""
    access: Access | None
    """The registry's tokens or passwords."""
    clock: Clock
    """The client's waits."""
    client: Registry
    """Our client."""

    @property
    def content(self) -> Content:
        """What the registry holds."""
        return self.registry.content


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """What a bed is to be like; the fields are those of a row."""

    options: Options = field(default_factory=Options)
    login: str | None = None
    quirks: Quirks | None = None
    https: bool = False
    read_timeout: float = 30


@contextlib.contextmanager
def bed(wishes: Wishes) -> Iterator[Bed]:
    """Start everything, and end it."""
    access = None
    if wishes.login is not None:
        access = Access(Users(passwords=(("author", SECRET),)), tokens=wishes.login == "token")
    clock, http = Clock(), RealHttp(read_timeout=wishes.read_timeout)
    with (
        FakeRegistry(wishes.options, access=access) as registry,
        FakeRegistry(wishes.options, content=registry.content) as elsewhere,
        contextlib.closing(http),
    ):
        patience = Patience(pause=clock.pause, clock=clock.now)
        host = HTTPS_HOST if wishes.https else registry.host
        door = HttpsInName(http, registry.url) if wishes.https else http
        options = ClientOptions(quirks=wishes.quirks, patience=patience)
        client = Registry(host, door, OneLogin(Password("author", SECRET)), options)
        yield Bed(registry=registry, elsewhere=elsewhere, access=access, clock=clock, client=client)
