"""The calls of `update-alternatives --install` in a postinst, read without running it."""

import itertools
from collections.abc import Container, Sequence

from reprobridge.assemble.deb.facts import Alternative, Slave
from reprobridge.shell.following import follow
from reprobridge.shell.state import UNKNOWN

_PROGRAM = "update-alternatives"


def parse_alternatives(
    script: str, architecture: str, files: Container[str] = ()
) -> tuple[tuple[Alternative, ...], bool]:
    """The calls in their order, and whether these are all: some may depend on what no text tells.

    `files` are the package's own, as absolute paths.
    """
    if _PROGRAM not in script:
        return (), True
    variables = {"DPKG_MAINTSCRIPT_ARCH": architecture, "DPKG_ROOT": ""}
    try:
        calls = [call.words for call in follow(script, ("configure", ""), variables, files)]
    except (ValueError, RecursionError):
        return (), False
    wanted = [words for words in calls if _PROGRAM in words[:1] and "--install" in words]
    known = [alternative for words in wanted if (alternative := _alternative(words)) is not None]
    complete = len(known) == len(wanted) and UNKNOWN not in "".join("".join(words) for words in wanted)
    return tuple(dict.fromkeys(known)), complete


def _alternative(words: Sequence[str]) -> Alternative | None:
    """An alternative with the followers that are certain, if it is certain itself."""
    certain = list(itertools.takewhile(lambda word: UNKNOWN not in word, words))
    match certain[certain.index("--install") + 1 :] if "--install" in certain else []:
        case [link, name, path, priority, *rest] if priority.lstrip("-").isdigit():
            slaves = tuple(
                Slave(*rest[n + 1 : n + 4]) for n, word in enumerate(rest) if _is_slave(rest, n, word)
            )
            return Alternative(link, name, path, int(priority), slaves)
        case _:
            return None


def _is_slave(words: Sequence[str], at: int, word: str) -> bool:
    return word in ("--slave", "--follower") and at + 3 < len(words)
