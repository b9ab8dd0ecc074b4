"""The part of the shell's grammar that maintainer scripts use, as a tree (POSIX, Shell Command Language §2.9).

Words stay as they are written, quotes and expansions included: what they mean is `deb_shell.py`'s part.
"""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple, Union

_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1(.*?\n)(?:.*?\n)?[ \t]*\2(?=\n|\Z)", re.DOTALL)
_REDIRECTION = re.compile(r"\d*(>>|>\||>|<>|<)(.*)", re.DOTALL)
_OPERATOR = re.compile(r"\n|;;|;|&&|\|\||\||\(|\)|&")


class Command(NamedTuple):
    """A simple command."""

    words: tuple[str, ...]
    """As written, assignments included, redirections left out."""
    writes: tuple[str, ...] = ()
    """Files that its output goes to, as written; other file descriptors are none."""


class Sequel(NamedTuple):
    """`left && right`, `left || right`, `left | right`."""

    left: "Node"
    operator: str
    right: "Node"


class Negated(NamedTuple):
    """`! node`."""

    node: "Node"


class Choice(NamedTuple):
    """`if`."""

    condition: "Block"
    then: "Block"
    otherwise: "Block"


class Case(NamedTuple):
    """`case word in pattern) block ;; esac`."""

    word: str
    branches: tuple[tuple[tuple[str, ...], "Block"], ...]


class Repetition(NamedTuple):
    """`while` and `until`."""

    condition: "Block"
    body: "Block"


class Loop(NamedTuple):
    """`for name in words; do body; done`."""

    name: str
    words: tuple[str, ...]
    body: "Block"


class Function(NamedTuple):
    """`name() { body; }`, also with bash's `function` before it."""

    name: str
    body: "Block"


class Group(NamedTuple):
    """`{ …; }` and `( … )`, and any other block whose output goes to a file."""

    body: "Block"
    writes: tuple[str, ...] = ()
    """As a command's."""
    apart: bool = False
    """Whether it is a shell of its own, whose variables are lost."""


Node = Union[Command, Sequel, Negated, Choice, Case, Repetition, Loop, Function, Group]  # noqa: UP007 - names quoted above
Block = tuple[Node, ...]
"""Nodes, one after the other."""


def parse_script(script: str) -> Block:
    """The tree of a script. Raises ValueError for what is not understood, RecursionError for deep nesting."""
    parser = _Parser(list(_tokens(_HEREDOC.sub(r"\3", script.replace("\\\n", " ")))))
    block = parser.block(())
    if parser.next is not None:
        raise ValueError(f"unexpected {parser.next}")
    return block


def closing(text: str, start: int) -> int:
    """Where the quotation or expansion that begins at `start` ends. Raises ValueError when it does not."""
    opening = text[start]
    if opening in {"'", "`"}:
        return text.index(opening, start + 1) + 1
    if opening == '"':
        return _until(text, start + 1, '"')
    return _until(text, start + 2, ")" if text[start + 1] == "(" else "}")


def _until(text: str, at: int, end: str) -> int:
    depth = 0
    while text[at : at + 1]:
        char = text[at]
        if char == end and not depth:
            return at + 1
        if char == "\\":
            at += 2
        elif char == "`" or text.startswith(("$(", "${"), at) or (end != '"' and char in "'\""):
            at = closing(text, at)
        else:
            depth += (end == ")" and char == "(") - (end == ")" and char == ")")
            at += 1
    raise ValueError("an unclosed quotation")


def _tokens(text: str) -> Iterator[str]:
    """Words and operators; an operator's own text is never a word, since words quote it."""
    at = 0
    while at < len(text):
        if text[at] in " \t":
            at += 1
        elif text[at] == "#":
            end = text.find("\n", at)
            at = end if end >= 0 else len(text)
        elif match := _OPERATOR.match(text, at):
            yield match[0]
            at = match.end()
        else:
            end = _word_end(text, at)
            yield text[at:end]
            at = end


def _word_end(text: str, at: int) -> int:
    while at < len(text) and (text[at] not in " \t\n;|()" or text[at - 1 : at + 1] == ">|"):
        if text[at] == "\\":
            at += 2
        elif text[at] in "'\"`" or text.startswith(("$(", "${"), at):
            at = closing(text, at)
        elif text[at] == "&" and text[at - 1] not in "<>":
            break
        else:
            at += 1
    return min(at, len(text))


class _Parser:
    """Recursive descent over tokens."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._at = tokens, 0

    @property
    def next(self) -> str | None:
        """The token that comes, if there is one."""
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def block(self, ends: Collection[str]) -> Block:
        """Nodes up to one of the words that end it."""
        nodes: list[Node] = []
        while self._past(("\n", ";", "&")) not in ends and self.next is not None:
            nodes.append(self._list())
        return tuple(nodes)

    def _past(self, tokens: Collection[str]) -> str | None:
        while self.next in tokens:
            self._at += 1
        return self.next

    def _take(self, *wanted: str) -> str:
        token = self.next
        if token is None or (wanted and token not in wanted):
            raise ValueError(f"expected {wanted}, found {token}")
        self._at += 1
        return token

    def _list(self) -> Node:
        node = self._node()
        while self.next in ("&&", "||", "|"):
            operator = self._take()
            self._past(("\n",))
            node = Sequel(node, operator, self._node())
        return node

    def _node(self) -> Node:
        match self.next:
            case "!":
                self._take()
                return Negated(self._node())
            case "if":
                return Group((self._choice(),), self._writes())
            case "while" | "until":
                return Group((self._repetition(),), self._writes())
            case "case":
                return Group((self._case(),), self._writes())
            case "for":
                return Group((self._loop(),), self._writes())
            case "{" | "(":
                end = "}" if self._take() == "{" else ")"
                body = self.block((end,))
                self._take(end)
                return Group(body, self._writes(), end == ")")
            case "function":
                self._take()
                return self._function(self._take())
            case _:
                return self._command()

    def _choice(self) -> Choice:
        self._take("if", "elif")
        condition = self.block(("then",))
        self._take("then")
        then = self.block(("elif", "else", "fi"))
        if self.next == "elif":
            return Choice(condition, then, (self._choice(),))
        otherwise: Block = ()
        if self.next == "else":
            self._take()
            otherwise = self.block(("fi",))
        self._take("fi")
        return Choice(condition, then, otherwise)

    def _repetition(self) -> Repetition:
        self._take("while", "until")
        condition = self.block(("do",))
        return Repetition(condition, self._do())

    def _do(self) -> Block:
        self._take("do")
        body = self.block(("done",))
        self._take("done")
        return body

    def _case(self) -> Case:
        self._take("case")
        word = self._take()
        self._past(("\n",))
        self._take("in")
        branches = []
        while self._past(("\n", ";;")) != "esac":
            patterns = []
            self._past(("(",))
            while (token := self._take()) != ")":
                patterns += [] if token in ("|", "\n") else [token]
            branches.append((tuple(patterns), self.block((";;", "esac"))))
        self._take("esac")
        return Case(word, tuple(branches))

    def _loop(self) -> Loop:
        self._take("for")
        name, words = self._take(), ['"$@"']
        if self._past(("\n",)) == "in":
            self._take()
            words, _ = self._words()
        self._past(("\n", ";"))
        return Loop(name, tuple(words), self._do())

    def _command(self) -> Node:
        start = self._at
        words, writes = self._words()
        if len(words) == 1 and self.next == "(":
            return self._function(words[0])
        if self._at == start:
            raise ValueError(f"expected a command, found {self.next}")
        return Command(tuple(words), writes)

    def _function(self, name: str) -> Function:
        if self.next == "(":
            self._take()
            self._take(")")
        self._past(("\n",))
        return Function(name, (self._node(),))

    def _writes(self) -> tuple[str, ...]:
        """The redirections behind a block."""
        words, writes = self._words()
        if words:
            raise ValueError(f"unexpected {words[0]}")
        return writes

    def _words(self) -> tuple[list[str], tuple[str, ...]]:
        """Words up to the next operator, and the files among their redirections that are written."""
        words: list[str] = []
        writes: list[str] = []
        while self.next is not None and not _OPERATOR.fullmatch(self.next):
            word = self._take()
            if match := _REDIRECTION.fullmatch(word):
                target = match[2] or self._take()
                writes += [target] if ">" in match[1] and not target.startswith("&") else []
            else:
                words.append(word)
        return words, tuple(writes)
