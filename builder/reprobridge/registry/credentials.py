"""Who we are for a registry."""

from typing import Protocol, TypeAlias

from reprobridge.frozen import frozen


@frozen
class Password:
    """A user name with a password or an access token."""

    user: str
    """Login name."""
    secret: str
    """Never shown."""

    def __repr__(self) -> str:
        return f"<password of {self.user}>"


@frozen
class IdentityToken:
    """A refresh token that `docker login` was given instead of a password."""

    secret: str
    """Never shown."""

    def __repr__(self) -> str:
        return "<identity token>"


Login: TypeAlias = Password | IdentityToken
"""What proves who we are."""


class Credentials(Protocol):
    """Where logins come from."""

    def login(self, host: str) -> Login | None:
        """The login for a registry, asked for when it wants one; None: anonymous. Raises RegistryError."""


class Anonymous:
    """No logins."""

    def login(self, host: str) -> Login | None:
        """None."""
        del host
        return None


@frozen
class OneLogin:
    """The same login whoever asks."""

    given: Login
    """That one."""

    def login(self, host: str) -> Login | None:
        """The one."""
        del host
        return self.given
