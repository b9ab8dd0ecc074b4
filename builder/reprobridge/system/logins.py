"""Looking up a registry's login as docker does: in a configuration, or with a credential helper.

A helper is a program `docker-credential-NAME`, started by the docker SDK, which is why this is a door.
The SDK takes 0.2 s to load and is imported only here.
"""

import shutil
from collections.abc import Mapping


class LoginError(Exception):
    """A login cannot be read; says what kind of failure it was and nothing that could be secret."""


def look_up(configuration: Mapping[str, object], host: str) -> Mapping[str, str] | None:
    """`username` and `password`, or `identitytoken`; None when nothing is known. Raises LoginError."""
    _require_helper(configuration)
    from docker import auth
    from docker.credentials import StoreError
    from docker.errors import DockerException

    try:
        found = auth.load_config(config_dict=dict(configuration)).resolve_authconfig(host)
    except (StoreError, DockerException) as error:
        cause = error.__cause__ or error
        raise LoginError(f"a credential helper that fails ({type(cause).__name__})") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise LoginError(f"a broken entry ({type(error).__name__})") from error
    # Entries of a file have other capitals than those of a helper.
    return {name.lower(): text for name, text in (found or {}).items() if isinstance(text, str)}


def _require_helper(configuration: Mapping[str, object]) -> None:
    """The SDK only warns, and then fails without saying which program it is about."""
    helpers = configuration.get("credHelpers")
    names = [*(helpers.values() if isinstance(helpers, Mapping) else ()), configuration.get("credsStore")]
    for name in names:
        if name and shutil.which(f"docker-credential-{name}") is None:
            raise LoginError(f"no program docker-credential-{name} on PATH")
