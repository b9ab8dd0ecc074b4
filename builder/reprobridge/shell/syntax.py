"""The part of the shell's grammar that maintainer scripts use, as a tree (POSIX, Shell Command Language §2.9).

Words stay as they are written, quotes and expansions included: what they mean is `following.py`'s part.
"""

import re
from collections.abc import Collection
from typing import NamedTuple, Union

_REDIRECTION = re.compile(r"(\d*)(<<-?|<&|<>|<|>&|>>|>\||>)")
_NAME = re.compile(r"[\w.+:@/-]+")
_OPERATOR = re.compile(r"\n|;;|;|&&|\|\||\||\(|\)|&")


class Redirection(NamedTuple):
    """`2>file`."""

    descriptor: str
    """The file descriptor, as far as it is written."""
    operator: str
    target: str
    """As written; of a here-document the text, empty where nothing in it is expanded."""


class Command(NamedTuple):
    """A simple command."""

    words: tuple[str, ...]
    """As written, assignments included, redirections left out."""
    redirections: tuple[Redirection, ...] = ()


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
    until: bool


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
    """`{ …; }` and `( … )`, and any other block with redirections."""

    body: "Block"
    redirections: tuple[Redirection, ...] = ()
    apart: bool = False
    """Whether it is a shell of its own, whose variables are lost."""


Node = Union[Command, Sequel, Negated, Choice, Case, Repetition, Loop, Function, Group]  # noqa: UP007 - names quoted above
Block = tuple[Node, ...]
"""Nodes, one after the other."""


def parse_script(script: str) -> Block:
    """The tree of a script. Raises ValueError for what is not understood, RecursionError for deep nesting."""
    parser = _Parser(_Lexer(script).tokens())
    block = parser.block(())
    if parser.next is not None:
        raise ValueError(f"unexpected {parser.next}")
    return block


def closing(text: str, start: int) -> int:
    """Where the quotation or expansion that begins at `start` ends. Raises ValueError when it does not."""
    opening = text[start]
    if opening == "'":
        return text.index(opening, start + 1) + 1
    if opening in {'"', "`"}:
        return _until(text, start + 1, opening)
    return _until(text, start + 2, ")" if text[start + 1] == "(" else "}")


def _until(text: str, at: int, end: str) -> int:
    depth = 0
    while text[at : at + 1]:
        char = text[at]
        if char == end and not depth:
            return at + 1
        if char == "\\":
            at += 2
        elif end == "`":
            at += 1
        elif char == "`" or text.startswith(("$(", "${"), at) or (end != '"' and char in "'\""):
            at = closing(text, at)
        elif end == ")" and char == "#" and text[at - 1] in " \t\n;(":
            at = _line_end(text, at)
        else:
            depth += (end == ")" and char == "(") - (end == ")" and char == ")")
            at += 1
    raise ValueError("an unclosed quotation")


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return end if end >= 0 else len(text)


class _Lexer:
    """Words, operators and redirections; an operator's own text is never a word, since words quote it."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._tokens: list[str] = []
        self._awaited: list[int] = []
        """Places of tokens that are the ends of here-documents whose lines have not come yet."""

    def tokens(self) -> list[str]:
        """All of them. The target of `<<` is the document: what the shell expands in it, or nothing."""
        text = self._text
        while self._at < len(text):
            if text[self._at] in " \t":
                self._at += 1
            elif text.startswith("\\\n", self._at):
                self._at += 2
            elif text[self._at] == "#":
                self._at = _line_end(text, self._at)
            elif match := _REDIRECTION.match(text, self._at) or _OPERATOR.match(text, self._at):
                self._operator(match[0])
            else:
                start, self._at = self._at, _word_end(text, self._at)
                self._tokens.append(text[start : self._at])
        if self._awaited:
            raise ValueError("a here-document without lines")
        return self._tokens

    def _operator(self, operator: str) -> None:
        if len(self._tokens) in self._awaited:
            raise ValueError("a here-document without an end")
        self._tokens.append(operator)
        self._at += len(operator)
        if "<<" in operator:
            self._awaited.append(len(self._tokens))
        elif operator == "\n":
            for place in self._awaited:
                self._tokens[place] = self._document(self._tokens[place], self._tokens[place - 1])
            self._awaited = []

    def _document(self, end: str, operator: str) -> str:
        """Read lines up to the one that ends a here-document."""
        bare, lines = re.sub(r"['\"\\]", "", end), list[str]()
        while self._at < len(self._text):
            start, stop = self._at, _line_end(self._text, self._at)
            self._at = stop + 1
            line = self._text[start:stop]
            if (line.lstrip("\t") if operator.endswith("-") else line) == bare:
                return "\n".join(lines) if bare == end else ""
            lines.append(line)
        raise ValueError("a here-document without its end")


def _word_end(text: str, at: int) -> int:
    while at < len(text) and text[at] not in " \t\n;|()&<>":
        if text[at] == "\\":
            at += 2
        elif text[at] in "'\"`" or text.startswith(("$(", "${"), at):
            at = closing(text, at)
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
            node = self._list()
            nodes.append(Group((node,), apart=True) if self.next == "&" else node)
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
        node = self._pipeline()
        while self.next in ("&&", "||"):
            operator = self._take()
            self._past(("\n",))
            node = Sequel(node, operator, self._pipeline())
        return node

    def _pipeline(self) -> Node:
        if self.next == "!":
            self._take()
            return Negated(self._pipeline())
        node = self._node()
        while self.next == "|":
            self._take()
            self._past(("\n",))
            node = Sequel(node, "|", self._node())
        return node

    def _node(self) -> Node:
        match self.next:
            case "if":
                return Group((self._choice(),), self._redirections())
            case "while" | "until":
                return Group((self._repetition(),), self._redirections())
            case "case":
                return Group((self._case(),), self._redirections())
            case "for":
                return Group((self._loop(),), self._redirections())
            case "{" | "(":
                end = "}" if self._take() == "{" else ")"
                body = self.block((end,))
                self._take(end)
                return Group(body, self._redirections(), end == ")")
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
        until = self._take("while", "until") == "until"
        condition = self.block(("do",))
        return Repetition(condition, self._do(), until)

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
        words, redirections = self._words()
        if len(words) == 1 and self.next == "(":
            return self._function(words[0])
        if self._at == start:
            raise ValueError(f"expected a command, found {self.next}")
        return Command(tuple(words), redirections)

    def _function(self, name: str) -> Function:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name} is no name of a function")
        if self.next == "(":
            self._take()
            self._take(")")
        self._past(("\n",))
        return Function(name, (self._node(),))

    def _redirections(self) -> tuple[Redirection, ...]:
        """The redirections behind a block."""
        words, redirections = self._words()
        if words:
            raise ValueError(f"unexpected {words[0]}")
        return redirections

    def _words(self) -> tuple[list[str], tuple[Redirection, ...]]:
        """Words up to the next operator, and the redirections among them."""
        words: list[str] = []
        redirections: list[Redirection] = []
        while self.next is not None and not _OPERATOR.fullmatch(self.next):
            word = self._take()
            if not (match := _REDIRECTION.fullmatch(word)):
                words.append(word)
                continue
            target = self._take()
            if "<<" not in word and (_OPERATOR.fullmatch(target) or _REDIRECTION.fullmatch(target)):
                raise ValueError(f"expected a file, found {target}")
            redirections.append(Redirection(match[1], match[2], target))
        return words, tuple(redirections)
