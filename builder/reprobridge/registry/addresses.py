"""Addresses at a registry, and where a registry may send us.

A registry names further addresses in Location, Link and the realm of a challenge. Those are somebody's words:
https is never left for http, and plain http only leads to this machine or where the user asked for it.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode, urljoin, urlsplit

from reprobridge.errors import RegistryError
from reprobridge.registry.reference import DOCKER_HUB
from reprobridge.system.http import is_loopback, without_query

_API_HOSTS: Mapping[str, str] = {
    DOCKER_HUB: "registry-1.docker.io",
    "index.docker.io": "registry-1.docker.io",
}
"""Registries whose images are named by another host than the one that answers."""


class Addresses:
    """What is where at one host."""

    def __init__(self, host: str, *, insecure: bool) -> None:
        self.host = host
        """As in images' names."""
        self._insecure = insecure
        api_host = _API_HOSTS.get(host, host)
        plain = insecure or is_loopback(urlsplit(f"//{api_host}").hostname or "")
        self._origin = ("http" if plain else "https", api_host.lower())

    def of(self, repository: str, *parts: str, **query: str) -> str:
        """An address below `/v2/REPOSITORY/`."""
        path = "/".join(quote(part, safe="/:") for part in (repository, *parts))
        scheme, netloc = self._origin
        return f"{scheme}://{netloc}/v2/{path}" + (f"?{urlencode(query, safe=':/')}" if query else "")

    def is_own(self, url: str) -> bool:
        """Whether credentials for this registry may go there: same scheme, host and port."""
        parts = urlsplit(url)
        return (parts.scheme, parts.netloc.lower()) == self._origin

    def follow(self, current: str, named: str) -> str:
        """The address that an answer from `current` names, relative or absolute. Raises RegistryError."""
        try:
            url = urljoin(current, named)
            parts = urlsplit(url)
            allowed = parts.hostname is not None and parts.username is None and self._may(current, url)
        except ValueError:
            url, allowed = "", False
        if not allowed:
            raise RegistryError(
                "the registry sends us to an address that we do not go to",
                where=self.host,
                expected=f"an address reached by {urlsplit(current).scheme} or better, without a user name",
                found=without_query(url) if url else "no address",
                hint="a registry behind a proxy must be told its public address",
            )
        return url

    def realm(self, named: str) -> str:
        """The token server that a challenge names; our login goes there, as the protocol asks. Raises RegistryError.

        From https it must be https, on any host. By http it is the registry's own host, or this machine.
        """
        url = self.follow(self.of(""), named)
        parts = urlsplit(url)
        own = urlsplit(f"//{self._origin[1]}").hostname
        if parts.scheme == "http" and parts.hostname != own and not is_loopback(parts.hostname or ""):
            raise RegistryError(
                "the registry asks for a login at another host, without encryption",
                where=self.host,
                expected=f"a token server at {own}, or one reached by https",
                found=without_query(url),
                hint="--insecure lets plain http go to the registry that you named, and nowhere else",
            )
        return url

    def _may(self, current: str, url: str) -> bool:
        scheme = urlsplit(url).scheme
        if scheme == "https":
            return True
        downgrade = urlsplit(current).scheme == "https"
        near = is_loopback(urlsplit(url).hostname or "")
        return scheme == "http" and not downgrade and (near or self._insecure)


def with_query(url: str, fields: Sequence[tuple[str, str]]) -> str:
    """An address with further parameters; what it holds already is left as it is, it may be signed."""
    base, mark, fragment = url.partition("#")
    joint = "&" if urlsplit(base).query else "" if base.endswith("?") else "?"
    return f"{base}{joint}{urlencode(fields, safe=':/')}{mark}{fragment}"
