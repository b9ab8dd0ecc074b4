"""What a scored command needs before it can start, that of the script behind a shell's `-c` included.

Of a script count the commands that run whatever the others do; and of what these name the files of the code and the
modules only before anything has run that could make them. Where a shell may do something else, nothing is said.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from reprobridge.shell.syntax import Block, Command, Node, Redirection, Sequel, parse_script
from reprobridge.spec.command import (
    Kind,
    Need,
    Words,
    is_login_shell,
    is_shell,
    moves_search,
    needs,
    shell_script,
    without_assignments,
)

_BUILTINS = """
. : [ alias bg bind break builtin caller cd command compgen complete compopt continue coproc declare dirs disown echo
enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd
pwd read readarray readonly return select set shift shopt source suspend test time times trap true type typeset ulimit
umask unalias unset wait
"""
BUILTINS = frozenset(_BUILTINS.split())
"""What shells have in themselves."""

_HARMLESS = frozenset({":", "export", "set", "true", "ulimit", "umask", "unset"})
"""Builtins after which every file is where it was."""
_GRAMMAR = frozenset({"coproc", "do", "done", "elif", "else", "esac", "fi", "in", "select", "then"})
"""Words of bash's grammar that the parser takes for commands."""
_STARTUP = re.compile(r"BASH.*|ENV|SHELLOPTS|LD_(PRELOAD|AUDIT)", re.DOTALL)
"""Variables by which a shell runs other commands first, knows functions and options, or is another program."""
_TURNING = "alias|builtin|enable|eval|exit|function|hash|kill|logout|return|shopt|source|suspend|trap"
_UNCERTAIN = re.compile(
    # Within a longer name it is no command (`python eval.py`, `./kill`), unless an expansion takes the rest away.
    rf"(?<![\w./-])({_TURNING})(?![\w./-])|\$\{{[^}}]*\b({_TURNING})\b|\bPATH\b"
    r"|\bcommand\s+exec\b|\(\s*\)|(^|[\s;&|])\.\s"
)
"""What may end a script early, or give a name another meaning than the image does."""
_PLAIN = re.compile(r"[\w./:@%+,=^-]+")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"$`\\]*)\"")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)(\[[^]]*\])?\+?=")
_BEFORE_ASSIGNMENTS = ("export", "env", "/usr/bin/env")
"""Commands whose next words may be assignments too."""
_DEFAULT = re.compile(r"\$\{(\w+):?=")
"""An expansion that assigns."""
_ARITHMETIC = re.compile(r"\$\(\([^()`]*\)\)")
_SUBSTITUTION = re.compile(r"\$\(|`|[<>]\(|\$\{[\s|]|@P\}")
"""What runs commands within a word."""


def demanded(
    command: Words, variables: Collection[str] = (), *, plain_profile: bool = False
) -> Iterator[Need]:
    """What a command needs where the environment has these variables.

    `plain_profile`: whether the image's profile does nothing to a login shell but to give it the image's PATH.
    """
    disturbed = is_shell(command) and (
        any(_STARTUP.fullmatch(name) for name in variables)
        or (is_login_shell(command) and ("HOME" in variables or not plain_profile))
    )
    for need in needs(command):
        if not (disturbed and need.kind is Kind.SHELL_SCRIPT):
            yield need
    script = None if disturbed else shell_script(command)
    if script and not _UNCERTAIN.search(script[0]):
        try:
            block = parse_script(script[0])
        except (ValueError, RecursionError, IndexError):
            return
        yield from _Script(stops=script[1]).demanded(block)


class _Script:
    """Follows a script command by command."""

    def __init__(self, *, stops: bool) -> None:
        self._stops = stops
        """Whether a command that fails ends the script."""
        self._fresh = True
        """Whether nothing has run that makes or moves files, and the folder is still that of the code."""
        self._moved = False
        """Whether a variable changes where modules are looked for, or what shells run first."""
        self._over = False
        """Whether nothing is known of what comes."""

    def demanded(self, block: Block) -> Iterator[Need]:
        """What the script needs whatever its commands do."""
        for node in block:
            chain = _chain(node)
            for command in chain or ():
                yield from self._of(
                    command, certain=node is block[-1] or (self._stops and len(chain or ()) == 1)
                )
                if self._over:
                    return
            if chain is None:
                return

    def _of(self, command: Command, *, certain: bool) -> Iterator[Need]:
        self._fresh = self._fresh and not _runs_more(command)
        words, names = without_assignments(_literals(command.words))
        names |= {name for word in command.words for name in _DEFAULT.findall(word)}
        moved = self._moved or moves_search(names)
        if words[:1] == ["exec"]:
            self._over = True
            words = words[1:]
            certain = certain and bool(words) and not (words[0] or "-").startswith("-")
        if not words:
            self._moved = moved
        elif words[0] is None or words[0] in _GRAMMAR:
            self._over = True
        elif words[0] in BUILTINS:
            self._moved = moved
            self._builtin(words)
        else:
            yield from self._needed(words, moved=moved) if certain else ()
            self._fresh = False
        self._fresh = self._fresh and not any(map(_writes, command.redirections))

    def _needed(self, words: Words, *, moved: bool) -> Iterator[Need]:
        for need in needs(words, "sh"):
            named = need.kind is Kind.PROGRAM and "/" not in need.name and need.name not in BUILTINS
            elsewhere = moved and need.kind in (Kind.MODULE, Kind.SHELL_SCRIPT)
            if named or (self._fresh and not elsewhere):
                yield need

    def _builtin(self, words: Words) -> None:
        if words[0] == "set":
            self._set([word or "?" for word in words[1:]])
        elif words[0] == "export":
            names = {(word or "PATH=").partition("=")[0] for word in words[1:]}
            self._moved = self._moved or moves_search(frozenset(names))
        self._fresh = self._fresh and words[0] in _HARMLESS

    def _set(self, flags: list[str]) -> None:
        short = {letter for flag in flags if flag[0] == "-" for letter in flag}
        self._over = bool({"n", "t"} & short or {"noexec", "onecmd"} & set(flags))
        self._stops = not any(flag[0] in "+?" for flag in flags) and (
            self._stops or "errexit" in flags or "e" in short
        )


def _chain(node: Node) -> list[Command] | None:
    """The commands of `a && b && c`; None for everything else."""
    match node:
        case Command():
            return [node]
        case Sequel(left, "&&", right):
            first, then = _chain(left), _chain(right)
            return None if first is None or then is None else [*first, *then]
    return None


def _runs_more(command: Command) -> bool:
    """Whether other commands run before it, within its words, redirections and here-documents."""
    words = [word for word in command.words if not (word.startswith("'") and _QUOTED.fullmatch(word))]
    texts = [*words, *(redirection.target for redirection in command.redirections)]
    return any(_SUBSTITUTION.search(_ARITHMETIC.sub("", text)) for text in texts)


def _writes(redirection: Redirection) -> bool:
    target = redirection.target
    copies = redirection.operator == ">&" and (target.isdigit() or target == "-")
    return ">" in redirection.operator and not copies and target != "/dev/null"


def _literals(words: Sequence[str]) -> list[str | None]:
    """What the shell makes of a command's words; of an assignment only the name counts. None: that is not known here."""
    found = list[str | None]()
    assigning = True
    for word in words:
        assigned = _ASSIGNED.match(word) if assigning else None
        found.append(f"{assigned[1]}=" if assigned else _literal(word))
        assigning = assigning and (assigned is not None or found[-1] in _BEFORE_ASSIGNMENTS)
    return found


def _literal(word: str) -> str | None:
    """A word that is the same in any environment.

    `shell/words.py` says what a word becomes in a state that is followed from the script's start; here none is known, and
    what only it could tell apart would be taken for certain.
    """
    if _PLAIN.fullmatch(word):
        return word
    if quoted := _QUOTED.fullmatch(word):
        return quoted[1] if quoted[1] is not None else quoted[2]
    return None
