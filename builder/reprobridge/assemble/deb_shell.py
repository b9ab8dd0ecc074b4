"""Following a maintainer script as far as text goes: which commands it would call, with which words.

No program is run and no file is looked at. Variables, loops, functions, `case` and tests of texts are
followed. Whatever only a machine knows is `UNKNOWN` in the words; of a test that cannot be judged both branches
are followed, and a variable that they leave with different values is `UNKNOWN` from there on. So the commands
that are reported are at least those that could run, with words that are certain or say that they are not.
"""

import fnmatch
import re
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from reprobridge.assemble.deb_shell_syntax import (
    Block,
    Case,
    Choice,
    Command,
    Function,
    Group,
    Loop,
    Negated,
    Node,
    Repetition,
    Sequel,
    parse_script,
)
from reprobridge.assemble.deb_shell_words import LONGEST, UNKNOWN, Words

_MOST_STEPS = 20_000
"""Commands followed in one script; the longest of Debian's need some hundreds."""
CONFMODULE = "/usr/share/debconf/confmodule"
"""What scripts read in to ask questions: it sets `RET`."""
_OWN = frozenset(
    (
        *("[", "test", ":", "true", "false", "echo", "printf", "read", "getopts"),
        *("local", "export", "readonly", "unset", "return", "exit", "trap", "break", "continue"),
    )
)
_EARLIER = frozenset(("lt", "le", "ne", "<", "<<", "<=", "gt-nl", "ge-nl"))
"""How dpkg compares no version with any: earlier, except that `-nl` takes none for later."""
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)

Status = bool | None
"""Whether a command succeeds; None when only a machine knows."""


class Call(NamedTuple):
    """A command that a script would run, the shell's own apart."""

    words: tuple[str, ...]
    """Its name and what it gets; empty where there is only a redirection."""
    writes: tuple[str, ...]
    """Files that its output goes to."""


def follow(
    script: str, arguments: Sequence[str], variables: Mapping[str, str], files: Container[str] = ()
) -> list[Call]:
    """The commands of a script; `files` are absolute paths that certainly exist.

    Raises ValueError or RecursionError for what cannot be followed.
    """
    if len(script) > LONGEST:
        raise ValueError(f"a script of {len(script)} characters")
    shell = _Shell(variables, files)
    shell.block(parse_script(script), list(arguments))
    return shell.calls


class _Shell:
    """The state of a script."""

    def __init__(self, variables: Mapping[str, str], files: Container[str]) -> None:
        self.calls: list[Call] = []
        self._variables, self._files = dict(variables), files
        self._words = Words(self._variables, self._output)
        self._functions: dict[str, Block] = {}
        self._printed: list[str] = []
        self._steps = 0

    def block(self, nodes: Block, arguments: list[str]) -> Status:
        """Follow nodes; the status is the last one's."""
        status: Status = True
        for node in nodes:
            status = self._node(node, arguments)
        return status

    def _node(self, node: Node, arguments: list[str]) -> Status:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise ValueError("a script without end")
        match node:
            case Command(words, writes):
                return self._command(words, writes, arguments)
            case Sequel(left, operator, right):
                return self._sequel(self._node(left, arguments), operator, right, arguments)
            case Negated(inner):
                return _negated(self._node(inner, arguments))
            case Group(body, writes, apart):
                self._note_writes(writes, arguments)
                return self._apart(body, arguments) if apart else self.block(body, arguments)
            case Function(name, body):
                self._functions[name] = body
                return True
            case _:
                self._compound(node, arguments)
                return None

    def _compound(self, node: Choice | Case | Repetition | Loop, arguments: list[str]) -> None:
        match node:
            case Choice(condition, then, otherwise):
                status = self.block(condition, arguments)
                if status is None:
                    self._either([then, otherwise], arguments)
                else:
                    self.block(then if status else otherwise, arguments)
            case Case(word, branches):
                self._case(self._words.text(word, arguments), branches, arguments)
            case Repetition(condition, body):
                self.block(condition, arguments)
                self._either([body, ()], arguments)
            case Loop(name, words, body):
                for value in self._words.fields(words, arguments):
                    self._variables[name] = value
                    self._either([body, ()] if UNKNOWN in value else [body], arguments)

    def _either(self, ways: Sequence[Block], arguments: list[str]) -> None:
        """Follow each, as if the others were not: what they do not agree on is unknown."""
        before, outcomes = dict(self._variables), []
        for way in ways:
            self._set(before)
            self.block(way, arguments)
            outcomes.append(dict(self._variables))
        names = {name for outcome in outcomes for name in outcome}
        values = {name: {outcome.get(name, UNKNOWN) for outcome in outcomes} for name in names}
        self._set({name: found.pop() if len(found) == 1 else UNKNOWN for name, found in values.items()})

    def _apart(self, body: Block, arguments: list[str]) -> Status:
        """Follow a shell of its own."""
        before = dict(self._variables)
        status = self.block(body, list(arguments))
        self._set(before)
        return status

    def _set(self, variables: Mapping[str, str]) -> None:
        self._variables.clear()
        self._variables.update(variables)

    def _sequel(self, status: Status, operator: str, right: Node, arguments: list[str]) -> Status:
        if operator == "|":
            self._apart((right,), arguments)
            return None
        if status is None:
            self._either([(right,), ()], arguments)
            return None
        return status if status == (operator == "||") else self._node(right, arguments)

    def _case(
        self, text: str, branches: Sequence[tuple[tuple[str, ...], Block]], arguments: list[str]
    ) -> None:
        possible: list[Block] = []
        for patterns, body in branches:
            wanted = [self._words.text(pattern, arguments) for pattern in patterns]
            if UNKNOWN in "".join([text, *wanted]):
                possible.append(body)
            elif any(fnmatch.fnmatchcase(text, pattern) for pattern in wanted):
                possible.append(body)
                break
        else:
            possible.append(())
        self._either(possible, arguments)

    # commands

    def _note_writes(self, writes: Sequence[str], arguments: list[str]) -> None:
        if writes:
            self.calls.append(Call((), tuple(self._words.text(target, arguments) for target in writes)))

    def _command(self, words: Sequence[str], writes: Sequence[str], arguments: list[str]) -> Status:
        self._note_writes(writes, arguments)
        rest = list(words)
        while rest and (match := _ASSIGNMENT.fullmatch(rest[0])):
            self._variables[match[1]] = self._words.text(match[2], arguments)
            rest.pop(0)
        match self._words.fields(rest, arguments):
            case []:
                return None
            case [name, *given] if name in self._functions:
                self.block(self._functions[name], given)
                return None
            case [("set" | "shift") as name, *given]:
                arguments[:] = given[1:] if name == "set" and given[:1] == ["--"] else arguments
                del arguments[: 1 if name == "shift" else 0]
                return None
            case [name, *given] if name in _OWN:
                return self._own(name, given)
            case ["dpkg", "--compare-versions", "", operator, _]:
                return operator in _EARLIER
            case fields:
                self._foreign(fields)
                return None

    def _own(self, name: str, given: Sequence[str]) -> Status:
        """A command of the shell itself."""
        match name:
            case "[" | "test":
                return _tested([word for word in given if word != "]"], self._files)
            case "echo" | "printf":
                self._printed += [text for text in given if text not in ("-n", "-e", "%s", "%s\\n")]
            case "local" | "export" | "readonly":
                for word in given:
                    key, _, value = word.partition("=")
                    self._variables[key] = value if "=" in word else self._variables.get(key, "")
            case "unset" | "read" | "getopts":
                self._variables.update(dict.fromkeys(given, "" if name == "unset" else UNKNOWN))
                return None
            case ":" | "true" | "false":
                return name != "false"
            case _:
                return None  # `exit` and the like end nothing here: what comes behind may be reached
        return True

    def _foreign(self, fields: Sequence[str]) -> None:
        """A program, or a file that is read in; both may print, the latter may change any variable."""
        self.calls.append(Call(tuple(fields), ()))
        self._printed.append(UNKNOWN)
        if fields[0] in (".", "source", "eval") and CONFMODULE not in fields:
            self._set(dict.fromkeys(self._variables, UNKNOWN))
        elif fields[0].startswith("db_"):
            self._variables["RET"] = UNKNOWN

    def _output(self, script: str, arguments: Sequence[str]) -> str:
        """What a command prints, where it is only texts."""
        if script.split() == ["dpkg", "--print-architecture"]:
            return self._variables.get("DPKG_MAINTSCRIPT_ARCH", UNKNOWN)
        before, self._printed = self._printed, []
        self._apart(parse_script(script), list(arguments))
        printed, self._printed = " ".join(self._printed), before
        return printed if len(printed) <= LONGEST else UNKNOWN


def _negated(status: Status) -> Status:
    return None if status is None else not status


def _tested(words: Sequence[str], files: Container[str]) -> Status:
    """test(1), as far as it compares texts or asks for files that are known."""
    if UNKNOWN in "".join(words):
        return None
    match words:
        case ["!", *rest]:
            return _negated(_tested(rest, files))
        case ["-n", text] | [text]:
            return text != ""
        case ["-z", text]:
            return text == ""
        case [("-e" | "-f"), path]:
            return True if path in files else None
        case [left, ("=" | "=="), right]:
            return left == right
        case [left, "!=", right]:
            return left != right
        case _:
            return None
