"""The two surroundings in which git runs: closed, and open to the user's settings for reaching a remote.

*Closed* is for everything that reads: no configuration, attributes or variables of the user or the system, so
that one commit is the same bytes everywhere. *Open* is for `git fetch` alone: credential helpers, ssh commands,
proxies, certificates and `insteadOf` stand in the user's configuration, and fetching cannot change content, since
git names every object by its hash and the commit is pinned. What a configuration could have a fetch do besides
(hooks, maintenance, partial fetches) is switched off. Neither ever asks anybody anything.
"""

import os
from collections.abc import Mapping

QUIET_SSH = "ssh -o BatchMode=yes -o ServerAliveInterval=30"
"""How ssh is called where the user has no command for it: it neither asks nor waits for a dead connection."""
SSH_COMMANDS = frozenset({"GIT_SSH", "GIT_SSH_COMMAND"})
"""Variables with which the user calls ssh in their own way."""
PROTOCOLS = "git:http:https:ssh"
"""What git may speak to other machines: never a program that an address names (`ext::`)."""

_ALWAYS_KEPT = frozenset({"GIT_EXEC_PATH"})
_OPEN_KEPT = (
    "GIT_ASKPASS",
    "GIT_CONFIG_",
    "GIT_CURL_",
    "GIT_HTTP_",
    "GIT_PROXY_",
    "GIT_SSH",
    "GIT_SSL_",
)
_FIXED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    # Messages are looked into; C.UTF-8 alone would let LANGUAGE translate them.
    "LC_ALL": "C.UTF-8",
    "LANGUAGE": "",
}
_CLOSED = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ASKPASS": ""}
_SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "fetch.writeCommitGraph=false",
    "gc.auto=0",
    "maintenance.auto=false",
    # A server that is busy sends a few bytes now and then; one that sends none for a minute is gone.
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
)


def closed_environment(user: Mapping[str, str], **extra: str) -> dict[str, str]:
    """The user's environment without anything that changes what git gives."""
    kept = {name: value for name, value in user.items() if not _is_gits(name) or name in _ALWAYS_KEPT}
    return {**kept, **_FIXED, **_CLOSED, **extra}


def open_environment(user: Mapping[str, str], **extra: str) -> dict[str, str]:
    """The user's environment and configuration, for reaching what their own git reaches."""
    kept = {
        name: value
        for name, value in user.items()
        if not _is_gits(name) or name in _ALWAYS_KEPT or name.startswith(_OPEN_KEPT)
    }
    # Empty: also `core.askPass`, which mostly opens a window, stays silent. The variable is a script's means.
    return {"GIT_ASKPASS": "", **kept, **_FIXED, **extra}


def open_arguments(user: Mapping[str, str], url: str) -> tuple[str, ...]:
    """Arguments of git before its command, stronger than any configuration."""
    # Names the remote as a clone would, for sections that are included by it (`hasconfig:remote.*.url`).
    settings = [*_SETTINGS, f"remote.origin.url={url}"]
    if not user.get("GIT_ASKPASS"):
        settings.append("credential.interactive=false")
    return tuple(argument for setting in settings for argument in ("-c", setting))


def _is_gits(name: str) -> bool:
    return name.startswith("GIT_")
