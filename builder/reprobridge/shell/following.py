"""Following a script as far as text goes: which commands it would call, with which words.

No program is run and no file is looked at. Variables, arguments, loops, functions, `case`, tests of texts and
`exit`, `return` and `break` are followed. Whatever only a machine knows is `UNKNOWN` in the words; of a test
that cannot be judged both branches are followed, and what they leave different is unknown from there on: the
value of a variable, the arguments, a printed text; of a function each body is followed. A loop whose rounds
only a machine knows is followed until nothing in it changes any more, and `trap` as if anything could be set
and all functions were there.

Not followed, besides what `words.py` names: what `eval`, `.`, `alias` and programs like `env` and
`xargs` run, which are reported themselves, so that who asks can take them for anything. `set -e` is not heeded:
what comes behind a command is followed as if that had not failed. A file that is read in leaves every variable
and argument unknown, but functions are taken to stay as they are.
"""

import itertools
import re
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from reprobridge.shell import own
from reprobridge.shell.conditions import EARLIER, Status, matched, negated, tested
from reprobridge.shell.state import LONGEST, STEP, UNKNOWN, Budget, State, distinct, joined
from reprobridge.shell.syntax import (
    Block,
    Case,
    Choice,
    Command,
    Function,
    Group,
    Loop,
    Negated,
    Node,
    Redirection,
    Repetition,
    Sequel,
    parse_script,
)
from reprobridge.shell.words import Fields, Words

CONFMODULE = "/usr/share/debconf/confmodule"
"""What scripts read in to ask questions: it sets `RET`."""
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


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

    Raises ValueError or RecursionError for what cannot be followed, or only with more work than it is worth.
    """
    if len(script) > LONGEST:
        raise ValueError(f"a script of {len(script)} characters")
    shell = _Shell(State(variables, arguments), files)
    shell.script(script)
    return shell.calls


class _Shell:
    """Follows nodes: `_state` is what holds behind those that were followed."""

    def __init__(self, state: State, files: Container[str]) -> None:
        self.calls: list[Call] = []
        self._state, self._files, self._budget = state, files, Budget()
        self._words = Words(state, self._output, self._budget)
        self._parsed: dict[str, Block] = {}
        self._traps: list[str] = []
        self._defined: dict[str, tuple[Block | None, ...]] = {}
        self._exits: list[State] = []
        self._returns = self._exits
        self._breaks: list[State] | None = None
        self._continues: list[State] = []

    def script(self, text: str) -> None:
        """Follow a script, then what it left to be done at its end."""
        self._block(self._parse(text))
        for trap in self._traps:  # which may add others
            self._state.become(State({}, None))
            self._state.functions = dict(self._defined)
            self._block(self._parse(trap))

    def _parse(self, text: str) -> Block:
        if text not in self._parsed:
            self._budget.spend(STEP + len(text))
            self._parsed[text] = parse_script(text)
        return self._parsed[text]

    def _block(self, nodes: Block) -> Status:
        """Follow nodes; the status is the last one's."""
        status: Status = True
        for node in nodes:
            if not self._state.live:
                return None
            status = self._node(node)
        return status

    def _node(self, node: Node) -> Status:
        self._budget.spend(STEP)
        match node:
            case Command():
                return self._command(node)
            case Sequel(left, "|", right):
                self._captured(lambda: self._apart((left,)))
                self._apart((right,))
                return None
            case Sequel(left, operator, right):
                return self._sequel(self._node(left), operator, right)
            case Negated(inner):
                return negated(self._node(inner))
            case Group(body, redirections, apart):
                finish = self._redirected(redirections)
                status = self._apart(body) if apart else self._block(body)
                finish(block=True)
                return status
            case Function(name, body):
                self._state.functions[name] = (body,)
                self._defined[name] = distinct((*self._defined.get(name, ()), body))
                return True
            case _:
                self._compound(node)
                return None

    def _compound(self, node: Choice | Case | Repetition | Loop) -> None:
        match node:
            case Choice(condition, then, otherwise):
                status = self._block(condition)
                if not self._state.live:
                    return
                if status is None:
                    self._either([then, otherwise])
                else:
                    self._block(then if status else otherwise)
            case Case(word, branches):
                self._case(self._words.text(word), branches)
            case Repetition():
                self._loop(lambda: self._repetition(node))
            case Loop():
                self._loop(lambda: self._rounds(node))

    def _either(self, ways: Sequence[Block]) -> None:
        self._any_of([partial(self._block, way) for way in ways])

    def _any_of(self, ways: Sequence[Callable[[], object]]) -> None:
        """Follow each, as if the others were not."""
        if len(ways) == 1:
            ways[0]()
            return
        before, outcomes = self._state.copy(self._budget), []
        for way in ways:
            self._state.become(before.copy(self._budget))
            way()
            outcomes.append(self._state.copy(self._budget))
        self._state.become(joined(outcomes, self._budget))

    def _apart(self, body: Block) -> Status:
        """Follow a shell of its own, of which only what it prints is left."""
        before, jumps = self._state.copy(self._budget), self._jumps()
        self._exits = self._returns = []
        self._breaks = None
        status = self._block(body)
        before.printed = joined([self._state, *self._exits], self._budget).printed
        status = None if self._exits else status
        self._exits, self._returns, self._breaks, self._continues = jumps
        self._state.become(before)
        return status

    def _jumps(self) -> tuple[list[State], list[State], list[State] | None, list[State]]:
        return self._exits, self._returns, self._breaks, self._continues

    def _captured(self, way: Callable[[], object]) -> str:
        """What is printed on the way."""
        before, self._state.printed = self._state.printed, ""
        way()
        printed, self._state.printed = self._state.printed, before
        return printed

    def _sequel(self, status: Status, operator: str, right: Node) -> Status:
        if not self._state.live:
            return None
        if status is None:
            self._either([(right,), ()])
            return None
        return status if status == (operator == "||") else self._node(right)

    def _case(self, text: str, branches: Sequence[tuple[tuple[str, ...], Block]]) -> None:
        possible: list[Block] = []
        for patterns, body in branches:
            matches = [matched(text, self._words.pattern(one), self._budget) for one in patterns]
            if any(matches):
                possible.append(body)
                break
            if None in matches:
                possible.append(body)
        else:
            possible.append(())
        self._either(possible)

    # loops

    def _loop(self, rounds: Callable[[], None]) -> None:
        jumps = self._jumps()
        self._breaks, self._continues = breaks, _ = list[State](), list[State]()
        rounds()
        self._exits, self._returns, self._breaks, self._continues = jumps
        self._state.become(joined([self._state, *breaks], self._budget))

    def _round(self, body: Block) -> None:
        self._block(body)
        self._state.become(joined([self._state, *self._continues], self._budget))
        self._continues.clear()

    def _repetition(self, node: Repetition) -> None:
        """Rounds one after the other while their number is certain; the rest at once."""
        while self._state.live:
            before = self._state.copy(self._budget)
            status = self._block(node.condition)
            status = negated(status) if node.until else status
            if status is None:
                self._state.become(before)
                self._repeat(lambda: self._block(node.condition), lambda: self._round(node.body))
                return
            if not status or not self._state.live:
                return
            self._round(node.body)
            if self._state.same(before):
                self._state.live = False  # only `break` and the like leave it

    def _repeat(self, condition: Callable[[], object], body: Callable[[], object]) -> None:
        """Follow rounds whose number is unknown: whatever they change is unknown at the start of each."""
        start = self._state.copy(self._budget)
        while True:
            condition()
            left = self._state.copy(self._budget)
            if self._state.live:
                body()
            again = joined([start, self._state], self._budget)
            if again.same(start):
                self._state.become(left)
                return
            start = again
            self._state.become(start.copy(self._budget))

    def _rounds(self, node: Loop) -> None:
        fields = self._words.fields(node.words)

        def turn(value: str) -> None:
            self._state.variables[node.name] = value
            self._round(node.body)

        for value in fields.texts:
            if not self._state.live:
                return
            if UNKNOWN in value and not fields.certain:
                self._repeat(lambda: None, lambda: turn(UNKNOWN))
            else:
                turn(value)

    # commands

    def _redirected(self, redirections: Sequence[Redirection]) -> Callable[..., None]:
        """Note files that are written; what is returned takes from the printed text what went elsewhere."""
        for document in redirections:
            if document.operator.startswith("<<"):
                self._words.document(document.target)
        named = [one for one in redirections if not one.operator.startswith("<<")]
        output = own.output_of([one._replace(target=self._words.text(one.target)) for one in named])
        if output.writes:
            self.calls.append(Call((), output.writes))
        before = self._state.printed

        def finish(*, block: bool) -> None:
            self._state.printed = self._state.printed if output.kept else before
            if output.mixed and (block or not output.kept):
                self._print(UNKNOWN)

        return finish

    def _command(self, node: Command) -> Status:
        matches = map(_ASSIGNMENT.fullmatch, node.words)
        assigned = [match for match in itertools.takewhile(bool, matches) if match]
        fields = self._words.fields(node.words[len(assigned) :])
        finish = self._redirected(node.redirections)
        before = {match[1]: self._state.variables.get(match[1], UNKNOWN) for match in assigned}
        for match in assigned:
            self._state.variables[match[1]] = self._words.text(match[2])
        if not fields.texts:
            return None
        name = fields.texts[0]
        stays = name in own.LASTING or name in self._state.functions
        status = self._called(fields)
        finish(block=name in self._state.functions)
        for key, value in before.items():
            self._state.variables[key] = UNKNOWN if stays else value
        return status

    def _called(self, fields: Fields) -> Status:
        bodies = self._state.functions.get(fields.texts[0])
        if bodies is None:
            return self._program(fields)
        self._any_of([partial(self._function, body, fields) for body in bodies])
        return None

    def _program(self, fields: Fields) -> Status:
        match fields.texts:
            case ["command", "-p", *rest] | ["command", *rest] if rest and not rest[0].startswith("-"):
                return self._program(fields._replace(texts=rest))
            case [name, *given] if name in own.OWN:
                return self._own(name, fields._replace(texts=given))
            case ["dpkg", "--compare-versions", "", operator, _]:
                return operator in EARLIER
            case _:
                self._foreign(fields.texts)
                return None

    def _function(self, body: Block | None, fields: Fields) -> None:
        if body is None:
            self._program(fields)
            return
        state, jumps = self._state, self._jumps()
        before, outer = state.arguments, state.outer
        state.arguments, state.outer = tuple(fields.texts[1:]) if fields.certain else None, {}
        self._returns, self._breaks = [], None
        self._block(body)
        state.become(joined([state, *self._returns], self._budget))
        self._exits, self._returns, self._breaks, self._continues = jumps
        state.variables.update(state.outer)
        state.arguments, state.outer = before, outer

    def _own(self, name: str, fields: Fields) -> Status:
        """A command of the shell itself."""
        given = fields.texts
        match name:
            case "[" | "test":
                return tested([word for word in given if word != "]"], self._files)
            case "echo" | "printf":
                if name == "printf" and given[:1] == ["-v"]:
                    own.forget(self._state, "read", given)
                self._print(own.echoed(given) if name == "echo" else own.formatted(given))
            case "set" | "shift":
                own.set_arguments(self._state, name, fields)
                return None
            case "local" | "export" | "readonly":
                own.declare(self._state, name, given)
            case "unset" | "read" | "getopts":
                own.forget(self._state, name, given)
                return None
            case "trap":
                self._budget.spend(len(self._traps))
                self._traps += [text for text in own.trapped(given) if text not in self._traps]
            case "return" | "exit" | "break" | "continue":
                self._jump(name, given)
                return None
            case _:
                return name != "false"
        return True

    def _jump(self, name: str, given: Sequence[str]) -> None:
        targets = {"return": self._returns, "exit": self._exits}.get(name)
        if targets is None:
            if self._breaks is None or given not in ([], ["1"]):
                raise ValueError(f"{name} out of more than a loop")
            targets = self._breaks if name == "break" else self._continues
        targets.append(self._state.copy(self._budget))
        self._state.live = False

    def _foreign(self, fields: Sequence[str]) -> None:
        """A program, or a file that is read in; both may print, the latter may change any variable."""
        self.calls.append(Call(tuple(fields), ()))
        self._print(UNKNOWN)
        if fields[0] in (".", "source", "eval") and CONFMODULE not in fields:
            self._state.variables.clear()
            self._state.arguments = None
        elif fields[0].startswith("db_"):
            self._state.variables["RET"] = UNKNOWN

    def _print(self, text: str) -> None:
        if text != UNKNOWN or not self._state.printed.endswith(UNKNOWN):
            self._state.printed += text
        if len(self._state.printed) > LONGEST:
            self._state.printed = UNKNOWN

    def _output(self, script: str) -> str:
        """What a command prints, where it is only texts."""
        if script.split() == ["dpkg", "--print-architecture"]:
            return self._state.variables.get("DPKG_MAINTSCRIPT_ARCH", UNKNOWN)
        block = self._parse(script)
        return self._captured(lambda: self._apart(block)).rstrip("\n")
