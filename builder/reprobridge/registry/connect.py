"""A registry with the credentials of the user's configuration."""

import os
from collections.abc import Callable

from reprobridge.registry.client import Registry
from reprobridge.registry.configuration import UserLogins
from reprobridge.registry.options import Options, Patience
from reprobridge.system.http import Http


def connect(
    host: str, http: Http, *, insecure: bool = False, say: Callable[[str], object] = lambda _: None
) -> Registry:
    """The registry at `host`; plain http for this machine's own, or for any when `insecure`.

    `say` is told once when the registry makes us wait. Configuration is read when the registry asks who we are.
    """
    options = Options(insecure=insecure, patience=Patience(say=_once(say)))
    return Registry(host, http, UserLogins(os.environ), options)


def _once(say: Callable[[str], object]) -> Callable[[str], None]:
    said: list[str] = []

    def first(text: str) -> None:
        if not said:
            said.append(text)
            say(text)

    return first
