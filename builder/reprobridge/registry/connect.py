"""A registry with the credentials of the user's configuration."""

import os

from reprobridge.registry.client import Registry
from reprobridge.registry.configuration import UserLogins
from reprobridge.registry.options import Options
from reprobridge.system.http import Http


def connect(host: str, http: Http, *, insecure: bool = False) -> Registry:
    """The registry at `host`; plain http for this machine's own, or for any when `insecure`.

    Configuration is read when the registry asks who we are.
    """
    return Registry(host, http, UserLogins(os.environ), Options(insecure=insecure))
