"""What this store remembers of registries: which repository was given which blobs, so that they can be mounted.

A hint and nothing more: a registry that does not have a blob any more, or does not let us mount it, is sent
the bytes.
"""

from collections.abc import Iterable

from reprobridge.digest import Digest, Json, digest_json
from reprobridge.store.store import Store

RESULT = "pushed"
"""Kind of the store's results that hold what a registry was given, by its host."""


def remember_pushed(store: Store, host: str, repository: str, blobs: Iterable[Digest]) -> None:
    """Remember that the repository holds these blobs."""
    known = _known(store, host)
    known[repository] = sorted({*known.get(repository, []), *(blob.hex for blob in blobs)})
    value: dict[str, Json] = {name: list(held) for name, held in known.items()}
    store.remember(RESULT, digest_json(host), value)


class Mounts:
    """From where blobs may be mounted at one registry."""

    def __init__(self, store: Store, host: str, named: tuple[str, ...]) -> None:
        self._named = named
        self._known = {name: frozenset(held) for name, held in _known(store, host).items()}

    def sources(self, blob: Digest, repository: str, sure: tuple[str, ...] = ()) -> tuple[str, ...]:
        """Repositories that may hold the blob: the sure ones, those that the user named, those that were given it."""
        given = sorted(name for name, held in self._known.items() if blob.hex in held)
        every = dict.fromkeys((*sure, *self._named, *given))
        return tuple(name for name in every if name != repository)[:MOST]


MOST = 3
"""Repositories that are tried for one blob: each costs a request."""


def _known(store: Store, host: str) -> dict[str, list[str]]:
    match store.result(RESULT, digest_json(host)):
        case dict(value):
            return {str(name): list(map(str, held)) for name, held in value.items() if isinstance(held, list)}
    return {}
