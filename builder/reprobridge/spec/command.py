"""What a command needs before it can start, as far as its words say it for certain: a program, a script, a module.

Nothing is opened here: whoever has the code or the image looks there (`lock/commands.py`, `validate/checks/commands.py`).
Words come apart, as the specification's list has them: splitting a shell's text into words is `shell/`'s part.
An interpreter's options are followed as far as they are known; from the first unknown one on nothing is said.
A word may be None, where nobody knows what a shell will make of it.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import takewhile

from reprobridge.frozen import frozen

WRITABLE = ("/tmp/", "/var/tmp/", "/out/", "/data/", "/dev/", "/proc/", "/sys/", "/run/")  # noqa: S108 - compared only
"""Places whose files no image holds: what is there is known when a task runs."""
SHELLS = frozenset({"sh", "bash", "dash"})
"""Shells whose `-c` is followed."""

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=.*", re.DOTALL)
_PYTHON = re.compile(r"python(3(\.\d+)?)?")
_PYTHON_FLAGS = re.compile(r"-[bBdEiIOPqsSuvx]+")
_SHELL_FLAGS = re.compile(r"-[aefhmnuvxBCEHPT]+")
_SHELL_OPTIONS = re.compile(r"-[abcefhlmouvxBCEHPT]+|--login")
_LOGIN = re.compile(r"-[a-zA-Z]*l[a-zA-Z]*")
_R_FLAGS = re.compile(r"--(vanilla|verbose|no-[a-z-]+)")
_OTHERS = frozenset({"perl", "ruby", "julia"})


class Kind(StrEnum):
    """What kind of thing is needed."""

    PROGRAM = "program"
    """Something to execute: a name on PATH, or a path."""
    SCRIPT = "script"
    """A file that an interpreter reads."""
    SHELL_SCRIPT = "shell script"
    """The same for a shell, which looks on PATH too."""
    MODULE = "module"
    """What `python -m` runs."""


@frozen
class Need:
    """One thing that must be there before a command starts."""

    kind: Kind
    """What it is."""
    name: str
    """As the command names it."""
    reader: str = ""
    """The interpreter that reads it, as the command names it; of a program what starts it, empty for the kernel: a
    shell and `env` read themselves what has no #! line."""


Words = Sequence[str | None]
"""A command; None stands for a word that nobody knows yet."""


def needs(words: Words, starter: str = "") -> Iterator[Need]:
    """What the command needs for certain, which `starter` starts."""
    if not words or not words[0]:
        return
    program, rest = words[0], words[1:]
    if is_fixed(program):
        yield Need(Kind.PROGRAM, program, starter)
    name = program.rpartition("/")[2]
    if name == "env":
        yield from _behind_env(rest)
    elif _PYTHON.fullmatch(name):
        yield from _of_python(program, rest)
    elif name in SHELLS:
        yield from _script(Kind.SHELL_SCRIPT, program, _after_flags(rest, _SHELL_FLAGS))
    elif name == "Rscript":
        yield from _script(Kind.SCRIPT, program, _after_flags(rest, _R_FLAGS))
    elif name in _OTHERS:
        yield from _script(Kind.SCRIPT, program, rest)


def is_shell(words: Words) -> bool:
    """Whether the command starts a shell."""
    return bool(words) and (words[0] or "").rpartition("/")[2] in SHELLS


def is_login_shell(words: Words) -> bool:
    """Whether the command starts a shell that reads /etc/profile first, and what the home says."""
    options = takewhile(lambda word: word and word[0] == "-" and word != "--", words[1:])
    return is_shell(words) and any(word == "--login" or _LOGIN.fullmatch(word or "") for word in options)


def shell_script(words: Words) -> tuple[str, bool] | None:
    """The text behind a shell's `-c`, and whether the shell ends at the first failure (`-e`); None: no such text."""
    if not is_shell(words):
        return None
    rest, letters, names = list(words[1:]), "", list[str | None]()
    while rest and _SHELL_OPTIONS.fullmatch(rest[0] or ""):
        flags = (rest.pop(0) or "").replace("--login", "-l")
        letters += flags
        if "o" in flags:
            names += rest[:1]
            del rest[:1]
    if rest and rest[0] in ("--", "-"):
        del rest[0]
    elif rest and (rest[0] or "").startswith(("-", "+")):  # an option that is not known here
        return None
    silent = {"noexec", "onecmd", None} & set(names)
    if "c" not in letters or silent or not rest or rest[0] is None:
        return None
    return rest[0], "e" in letters or "errexit" in names


def without_assignments(words: Words) -> tuple[Words, frozenset[str]]:
    """The command behind the assignments that stand before it, and the names of their variables."""
    names: set[str] = set()
    for number, word in enumerate(words):
        if word is None or not (match := _ASSIGNMENT.fullmatch(word)):
            return words[number:], frozenset(names)
        names.add(match[1])
    return (), frozenset(names)


def moves_search(names: frozenset[str]) -> bool:
    """Whether one of these variables changes where things are looked for, or what a shell runs first."""
    return any(
        name in ("PATH", "ENV", "SHELLOPTS") or name.startswith(("PYTHON", "LD_", "BASH")) for name in names
    )


def _behind_env(rest: Words) -> Iterator[Need]:
    words, names = without_assignments(rest)
    if words and words[0] and not words[0].startswith("-") and not moves_search(names):
        yield from needs(words, "env")


def _of_python(program: str, rest: Words) -> Iterator[Need]:
    words = list(_after_flags(rest, _PYTHON_FLAGS))
    while words and words[0] in ("-W", "-X"):
        words = list(_after_flags(words[2:], _PYTHON_FLAGS))
    match words:
        case ["-m", str(module), *_]:
            yield Need(Kind.MODULE, module, program)
        case _:
            yield from _script(Kind.SCRIPT, program, words)


def _after_flags(words: Words, flags: re.Pattern[str]) -> Words:
    """What follows the options that take no value of their own."""
    number = 0
    while number < len(words) and flags.fullmatch(words[number] or ""):
        number += 1
    return words[number:]


def _script(kind: Kind, reader: str, words: Words) -> Iterator[Need]:
    if words and words[0] and not words[0].startswith(("-", "+")) and is_fixed(words[0]):
        yield Need(kind, words[0], reader)


def is_fixed(path: str) -> bool:
    """Whether it can be known before a run what stands at this path of the image."""
    return ".." not in path.split("/") and not path.startswith(WRITABLE)
