"""What a registry wants to know of us: `WWW-Authenticate`, and the scopes of tokens.

RFC 7235 for the header, the distribution project's token authentication for Bearer.
"""

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from reprobridge.frozen import frozen

Grants: TypeAlias = "frozenset[tuple[str, str]]"
"""What a token allows: pairs of a resource such as `repository:owner/name`, and an action."""

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_SCHEME = re.compile(rf"\s*,?\s*({_WORD})(?=\s|,|$)(?!\s*=)")
_PARAMETER = re.compile(rf'\s*,?\s*({_WORD})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|({_WORD}))')


@frozen
class Challenge:
    """One way in which a server lets us prove who we are."""

    scheme: str
    """In lower case: `basic`, `bearer`."""
    parameters: Mapping[str, str]
    """Names in lower case."""


def parse_challenges(header: str) -> tuple[Challenge, ...]:
    """Every challenge of a header; what cannot be read ends it."""
    found: list[Challenge] = []
    position = 0
    while scheme := _SCHEME.match(header, position):
        parameters: dict[str, str] = {}
        position = scheme.end()
        while parameter := _PARAMETER.match(header, position):
            name, quoted, plain = parameter.groups()
            parameters[name.lower()] = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            position = parameter.end()
        found.append(Challenge(scheme[1].lower(), parameters))
    return tuple(found)


def pull(repository: str) -> Grants:
    """What reading a repository needs."""
    return frozenset({(f"repository:{repository}", "pull")})


def push(repository: str) -> Grants:
    """What writing into a repository needs, which includes looking what is there."""
    return frozenset({(f"repository:{repository}", "pull"), (f"repository:{repository}", "push")})


def parse_scope(text: str) -> Grants:
    """Read `repository:a/b:pull,push repository:c:pull`."""
    pairs = set()
    for scope in text.split():
        resource, colon, actions = scope.rpartition(":")
        pairs |= {(resource, action) for action in actions.split(",") if colon and action}
    return frozenset(pairs)


def scope_texts(grants: Iterable[tuple[str, str]]) -> list[str]:
    """One text for each resource, as a token server reads it."""
    actions: dict[str, list[str]] = {}
    for resource, action in sorted(grants):
        actions.setdefault(resource, []).append(action)
    return [f"{resource}:{','.join(names)}" for resource, names in actions.items()]
