"""Layers whose bytes are not here, but known to lie in a repository of a registry.

An image may be put together of them: its manifest and configuration need only their digests. Whoever needs the
bytes after all asks for them there, or makes the layer from its locked files.
"""

from reprobridge.digest import Digest
from reprobridge.frozen import frozen
from reprobridge.store.store import Store

RESULT = "elsewhere"
"""Kind of the store's results that say where a blob lies, by its digest."""
LEARNED = "learned-"
"""Begins the kinds of results that rest on somebody's word, so that nothing which was made here is mixed with them.

Only a build that may use known layers reads them, and what it derives from them is kept as such too.
"""


@frozen
class Place:
    """A repository that holds a blob."""

    host: str
    """The registry."""
    repository: str
    """In the registry."""


def remember_place(store: Store, blob: Digest, place: Place) -> None:
    """Remember that a blob lies there; a later place replaces an earlier one."""
    store.remember(RESULT, blob, {"host": place.host, "repository": place.repository})


def is_had(store: Store, blob: Digest, size: int, *, elsewhere: bool) -> bool:
    """Whether a blob is here with its length, or, where that counts, known to lie elsewhere."""
    return store.holds(blob, size) or (elsewhere and place_of(store, blob) is not None)


def place_of(store: Store, blob: Digest) -> Place | None:
    """Where a blob lies, as far as this store knows."""
    match store.result(RESULT, blob):
        case {"host": str(host), "repository": str(repository)}:
            return Place(host, repository)
    return None
