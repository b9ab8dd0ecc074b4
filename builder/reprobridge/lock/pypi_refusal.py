"""The errors for a package index that cannot be asked: it does not answer, or nobody may ask it."""

from reprobridge.errors import NetworkError
from reprobridge.lock.pypi_settings import IndexSettings
from reprobridge.wording import without_passwords

_HEADLINE = "the Python package index cannot be asked"
_NO_NETWORK = ("network was disabled", "network connectivity is disabled")
"""What uv says where it may not ask, and does not have the answer."""


class OfflineError(NetworkError):
    """Without a network nobody knows the answer."""


def is_offline(said: str) -> bool:
    """Whether uv says that it lacks an answer because it may not use the network."""
    return any(words in said.lower() for words in _NO_NETWORK)


def offline_error(where: str, found: str, *, offline: bool) -> OfflineError:
    """The error for a question that needs the network; `offline`: we forbid it, not a setting of uv."""
    return OfflineError(
        _HEADLINE,
        where=where,
        expected="a network",
        found=f"offline mode: {without_passwords(found)}",
        hint="drop --offline" if offline else "your settings of uv forbid the network (UV_OFFLINE, uv.toml)",
    )


def unreachable(where: str, found: str, settings: IndexSettings) -> NetworkError:
    """The error for an index that gives no answer."""
    return NetworkError(
        _HEADLINE,
        where=where,
        expected="an answer of the index",
        found=without_passwords(found),
        hint=settings.advice,
    )
