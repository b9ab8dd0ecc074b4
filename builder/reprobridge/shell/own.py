"""Commands of the shell itself in a script: what they print and change; and redirections."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from reprobridge.shell.state import UNKNOWN, State
from reprobridge.shell.syntax import Redirection
from reprobridge.shell.words import Fields

OWN = frozenset(
    (
        *("[", "test", ":", "true", "false", "echo", "printf", "read", "getopts", "set", "shift"),
        *("local", "export", "readonly", "unset", "return", "exit", "trap", "break", "continue"),
    )
)
"""Their names, as far as they are followed."""
LASTING = frozenset(
    (":", "export", "readonly", "return", "set", "shift", "trap", "unset", ".", "eval", "exec")
)
"""Commands before which an assignment stays, in some shells (POSIX §2.14)."""
_MOST_ARGUMENTS = 10_000
_OUTPUTS = ("/dev/stdout", "/dev/fd/", "/proc/")
_OPTIONS = re.compile(r"-[neE]+\b")


def set_arguments(state: State, name: str, given: Fields) -> None:
    """`set` and `shift`. Raises ValueError for too many arguments."""
    if name == "shift":
        number = "".join(given.texts[:1]) or "1"
        known = state.arguments if given.certain and number.isdecimal() and len(number) < 6 else None
        state.arguments = None if known is None else known[int(number) :]
        return
    rest = list(given.texts)
    while rest and rest[0][:1] in ("-", "+") and rest[0] != "--":
        rest = rest[2:] if rest[0].endswith("o") else rest[1:]
    if not given.certain:
        state.arguments = None
    elif rest:
        state.arguments = tuple(rest[1:] if rest[0] == "--" else rest)
    if len(state.arguments or ()) > _MOST_ARGUMENTS:
        raise ValueError("too many arguments")


def declare(state: State, name: str, given: Sequence[str]) -> None:
    """`local`, `export` and `readonly`."""
    for word in given:
        key, sign, value = word.partition("=")
        if UNKNOWN in key:
            state.variables.clear()
        if name == "local":
            state.outer.setdefault(key, state.variables.get(key, UNKNOWN))
        if sign or name == "local":
            state.variables[key] = value if sign else UNKNOWN


def forget(state: State, name: str, given: Sequence[str]) -> None:
    """`unset`, `read` and `getopts`."""
    if UNKNOWN in "".join(given):
        state.variables.clear()
    if name == "unset" and "-f" in given:
        state.functions.update(dict.fromkeys(given, (None,)))
        return
    state.variables.update(dict.fromkeys(given, "" if name == "unset" else UNKNOWN))
    state.variables.update(
        dict.fromkeys({"read": ["REPLY"], "getopts": ["OPTARG", "OPTIND"]}.get(name, []), UNKNOWN)
    )


def trapped(given: Sequence[str]) -> list[str]:
    """The script that `trap` is given."""
    rest = given[given[:1] == ["--"] :]
    return [text for text in rest[:1] if len(rest) > 1 and text != "-"]


def echoed(given: Sequence[str]) -> str:
    """What `echo` prints; shells disagree on backslashes."""
    plain = given[:1] == ["-n"]
    text = " ".join(given[plain:])
    return UNKNOWN if "\\" in text or _OPTIONS.match(text) else text + ("" if plain else "\n")


def formatted(given: Sequence[str]) -> str:
    """What `printf` prints, for the simplest formats."""
    match given:
        case [("%s" | "%s\\n") as form, text]:
            return text + ("\n" if form != "%s" else "")
        case [text] if not {"%", "\\"} & set(text):
            return text
        case _:
            return UNKNOWN


class Output(NamedTuple):
    """Where redirections lead what a command prints."""

    writes: tuple[str, ...]
    """Files."""
    kept: bool
    """Whether it is still printed."""
    mixed: bool
    """Whether something else may be."""


def output_of(redirections: Sequence[Redirection]) -> Output:
    """What redirections do, their targets expanded."""
    writes: list[str] = []
    kept, mixed = True, False
    for descriptor, operator, name in redirections:
        copies = operator in (">&", "<&") and (name == "-" or name.isdigit())
        writes += [name] if ">" in operator and not copies else []
        kept = kept and not (descriptor in ("", "1") and ">" in operator and name != "1")
        mixed = mixed or (copies and name not in ("0", "2", "-")) or name.startswith(_OUTPUTS)
    return Output(tuple(writes), kept, mixed)
