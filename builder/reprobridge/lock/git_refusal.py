"""Why git could not fetch: its reason in one line, fit to be shown, and what a user can do about it."""

import re

from reprobridge.errors import NetworkError
from reprobridge.frozen import frozen
from reprobridge.wording import without_passwords

_LONGEST = 300
_REACHED = re.compile(r"not our ref|unadvertised object|dumb http transport")
"""The remote has an answer, but not to a question for one commit."""
_NOISE = re.compile(
    r"hint: |warning: |\*\* |Warning: Permanently added |Please make sure you have the correct access rights"
    r"|and the repository exists\.|fatal: Could not read from remote repository\.|remote:$"
)
"""Beginnings of lines that give no reason."""
_ADDRESS = re.compile(r"(?<!\w)'[^\n]*?'(?!\w)|[\w+.-]+://\S+")
"""What git's words quote or name: it may hold any word, and none of them gives a reason."""
_GUIDE = "guides/how-to/private-sources.md"


@frozen(kw_only=True)
class Obstacle:
    """A kind of reason for which no other way of asking the same remote helps."""

    pattern: "re.Pattern[str]"
    """Found in git's words, or those of the programs that it calls."""
    hint: str
    """What to do."""
    passing: bool = False
    """Whether it may be gone a second later."""


_OBSTACLES = (
    Obstacle(
        pattern=re.compile(r"Host key verification failed"),
        hint="connect to the host once by ssh, and compare its key, so that it is known",
    ),
    Obstacle(
        pattern=re.compile(
            r"proxy (CONNECT|authentication)|(from|resolve) proxy|CONNECT tunnel", re.IGNORECASE
        ),
        hint="correct the proxy: `http.proxy` in git's configuration, HTTPS_PROXY, or ssh's ProxyCommand",
    ),
    Obstacle(
        pattern=re.compile(
            r"resolve host|timed out|reset by peer|hung up|early EOF|unexpected (disconnect|eof)|transfer closed"
            r"|non-properly terminated|curl (18|28|52|55|56|92)\b|(HTTP|error:) 5\d\d|too slow|Connection closed"
        ),
        hint="try again, and look at network and proxy (`http.proxy`, HTTPS_PROXY)",
        passing=True,
    ),
    Obstacle(
        pattern=re.compile(r"certificate|SSL|TLS"),
        hint="trust the server's authority: `http.sslCAInfo` in git's configuration, or GIT_SSL_CAINFO",
    ),
    Obstacle(
        pattern=re.compile(
            r"Authentication failed|could not read (Username|Password)|Permission denied|(HTTP|error:) 40[13]"
            r"|[Rr]epository .*not found|Access denied|Too many authentication failures"
        ),
        hint="git asks nobody here: let a credential helper, ~/.netrc or an ssh key of yours answer, and "
        f"check that it may read this repository ({_GUIDE})",
    ),
    Obstacle(
        pattern=re.compile(r"Connection refused|Failed to connect|[Cc]ouldn't connect|No route|unreachable"),
        hint="check address, network and proxy (`http.proxy`, HTTPS_PROXY)",
    ),
    Obstacle(
        pattern=re.compile(r"dubious ownership"),
        hint="if you trust the folder's owner: `git config --global --add safe.directory FOLDER`",
    ),
)


def obstacle(stderr: bytes) -> Obstacle | None:
    """What kept git from the remote; None where the remote was reached, or the reason is none that we know."""
    said = _ADDRESS.sub("''", stderr.decode(errors="replace"))
    if _REACHED.search(said):
        return None
    return next((kind for kind in _OBSTACLES if kind.pattern.search(said)), None)


def cannot_fetch(url: str, commit: str, stderr: bytes, status: int) -> NetworkError:
    """The error for a fetch that failed with these words and this exit status."""
    kind = obstacle(stderr)
    return NetworkError(
        "cannot fetch the source",
        where=without_passwords(url),
        expected=f"a git repository with the commit {commit}",
        found=reason(stderr) or f"exit status {status} of git",
        hint=kind.hint if kind else f"check that `git ls-remote` of the address answers ({_GUIDE})",
    )


def reason(stderr: bytes) -> str:
    """What git said, in one line, without what gives no reason, without passwords and what a terminal obeys."""
    lines = [line.strip() for line in stderr.decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if not _NOISE.match(line)] or lines[-1:]
    text = "; ".join(dict.fromkeys(telling))
    shown = "".join(one if one.isprintable() else "?" for one in without_passwords(text))
    return shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
