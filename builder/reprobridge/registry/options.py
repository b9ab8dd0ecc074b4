"""How to speak to a registry: what is peculiar to some, and how patient to be."""

import time
from collections.abc import Callable

from reprobridge.frozen import field, frozen


@frozen(kw_only=True)
class Quirks:
    """What a kind of registry needs."""

    parallel: int = 3
    """Blobs that move side by side."""
    chunk_limit: int | None = 64 << 20
    """Bytes of a chunk where an upload must be cut; None: never cut, whole bodies only."""
    last_chunk_closes: bool = False
    """The last chunk rides in the request that closes the upload, which is refused without a body."""


@frozen(kw_only=True)
class Patience:
    """How long to go on."""

    pause: Callable[[float], None] = time.sleep
    """Waits so many seconds."""
    say: Callable[[str], object] = lambda _: None
    """Told before each wait what makes us wait."""
    clock: Callable[[], float] = time.time
    """Seconds since 1970: the end of tokens, and dates in Retry-After."""
    tries: int = 5
    """For one step, when connections break or the server fails."""
    throttled_tries: int = 8
    """When the server asks to come later."""
    longest_wait: float = 120
    """Seconds; a server that asks for more is given up on."""


@frozen(kw_only=True)
class Options:
    """How to speak to one registry."""

    insecure: bool = False
    """Plain http, also where the host is another machine."""
    quirks: Quirks | None = None
    """None: those of its host."""
    patience: Patience = field(default_factory=Patience)
    """How long to go on."""
