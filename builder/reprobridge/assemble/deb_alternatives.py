"""The calls of `update-alternatives --install` in a postinst, read without running it."""

import re
import shlex
from collections.abc import Iterator

from reprobridge.assemble.deb_facts import Alternative, Slave

_INSTALL = re.compile(r"\bupdate-alternatives\b([^\n;&|]*?--install\b[^\n;&|]*)")


def parse_alternatives(script: str) -> tuple[tuple[Alternative, ...], bool]:
    """The literal calls in order, and whether there are others that only a shell could tell."""
    found: list[Alternative] = []
    complete = True
    for words in _calls(script):
        alternative = _alternative(words)
        if alternative is None:
            complete = False
        elif alternative not in found:
            found.append(alternative)
    return tuple(found), complete


def _calls(script: str) -> Iterator[list[str]]:
    joined = re.sub(r"\\\n", " ", script)
    lines = [line for line in joined.splitlines() if not line.lstrip().startswith("#")]
    for match in _INSTALL.finditer("\n".join(lines)):
        try:
            yield shlex.split(match[1])
        except ValueError:
            yield ["$"]


def _alternative(words: list[str]) -> Alternative | None:
    if any("$" in word or "`" in word for word in words):
        return None
    at = words.index("--install") + 1 if "--install" in words else len(words)
    match words[at:]:
        case [link, name, path, priority, *rest] if priority.lstrip("-").isdigit():
            slaves = tuple(
                Slave(*rest[n + 1 : n + 4]) for n, word in enumerate(rest) if _is_slave(rest, n, word)
            )
            return Alternative(link, name, path, int(priority), slaves)
        case _:
            return None


def _is_slave(words: list[str], at: int, word: str) -> bool:
    return word in ("--slave", "--follower") and at + 3 < len(words)
