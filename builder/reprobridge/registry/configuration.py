"""Logins in the user's configuration: docker's, and podman's `auth.json`.

`REGISTRY_AUTH_FILE` stands alone when it is set; otherwise docker's file is asked first, since `docker login` is
what our hints say, then podman's. The first file that has a login for the registry wins.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from reprobridge.errors import RegistryError
from reprobridge.registry.credentials import IdentityToken, Login, Password
from reprobridge.registry.reference import DOCKER_HUB
from reprobridge.system.home import home_folder
from reprobridge.system.logins import LoginError, look_up


class UserLogins:
    """The logins of the user whose environment this is."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def login(self, host: str) -> Login | None:
        """The login for a registry; None: anonymous. Raises RegistryError when the configuration is broken."""
        for path in login_files(self._environment):
            configuration = _read(path)
            if configuration is None or not _concerns(configuration, host):
                continue
            try:
                found = look_up(_part_for(configuration, host), host)
            except LoginError as error:
                raise _broken(path, host, str(error)) from error
            if found:
                return _login(found)
        return None


def login_files(environment: Mapping[str, str]) -> Iterator[Path]:
    """Where logins may be, in the order in which they are asked."""
    if explicit := environment.get("REGISTRY_AUTH_FILE"):
        yield Path(explicit)
        return
    home = home_folder(environment)
    if docker := environment.get("DOCKER_CONFIG") or (home and str(home / ".docker")):
        yield Path(docker, "config.json")
    runtime = environment.get("XDG_RUNTIME_DIR")
    yield (
        Path(runtime, "containers") / "auth.json"
        if runtime
        else Path(f"/run/containers/{os.getuid()}/auth.json")
    )
    if settings := environment.get("XDG_CONFIG_HOME") or (home and str(home / ".config")):
        yield Path(settings, "containers", "auth.json")


def _read(path: Path) -> Mapping[str, object] | None:
    try:
        configuration = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise _broken(path, "registries", type(error).__name__) from error
    if not isinstance(configuration, dict):
        raise _broken(path, "registries", "something else")
    return configuration


def _broken(path: Path, host: str, found: str) -> RegistryError:
    """Without anything that stands in the file."""
    return RegistryError(
        f"the logins for {host} cannot be read",
        where=str(path),
        expected="logins as `docker login` writes them",
        found=found,
        hint="repair the file, or log in again",
    )


def _concerns(configuration: Mapping[str, object], host: str) -> bool:
    """Whether something may be known about the host: asking for it loads much, and may start a program."""
    part = _part_for(configuration, host)
    return bool(part["credsStore"] or part["auths"] or part["credHelpers"])


def _part_for(configuration: Mapping[str, object], host: str) -> dict[str, object]:
    """The part of a configuration that is about one host, so that others' broken entries do not matter."""
    return {
        "auths": _entries_for(configuration.get("auths"), host),
        "credHelpers": _entries_for(configuration.get("credHelpers"), host),
        "credsStore": configuration.get("credsStore"),
    }


def _entries_for(entries: object, host: str) -> dict[str, object]:
    if not isinstance(entries, Mapping):
        return {}
    return {key: value for key, value in entries.items() if _host_of(str(key)) == host}


def _host_of(key: str) -> str:
    """The host of an entry's key, which may be an address or, with podman, a path below the host."""
    host = key.removeprefix("https://").removeprefix("http://").partition("/")[0]
    return DOCKER_HUB if host == f"index.{DOCKER_HUB}" else host


def _login(found: Mapping[str, str]) -> Login | None:
    if token := found.get("identitytoken"):
        return IdentityToken(token)
    if "username" in found and "password" in found:
        return Password(found["username"], found["password"])
    return None
