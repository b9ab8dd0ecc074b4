"""Words of a script as a command gets them: variables put in, quotes taken away, split at blanks (POSIX §2.6).

File names are not matched: what they would be, and what `${name…}` with more than a name gives, is `UNKNOWN`.
Not followed: `~` and bash's `{a,b}`, which stay as they are written, and a changed `IFS`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from reprobridge.shell.state import LONGEST, UNKNOWN, Budget, State
from reprobridge.shell.syntax import closing

_NAME = r"[A-Za-z_]\w*|[0-9@*#]"
_PLAIN = re.compile(rf"\$(?:({_NAME})|\{{({_NAME})\}})")
_DEFAULT = re.compile(rf"\$\{{({_NAME})(:?[-+=?]|%%?|##?)")
_CHANGES = re.compile(r"\+\+|--|(?<![=!<>])=(?!=)|<<=|>>=")
_MAGIC = re.compile(r"([*?[])")
_ORDINARY = re.compile(r"[^\\'\"$`]+")
_IN_QUOTES = re.compile(r"[^\\$`]+")


class Fields(NamedTuple):
    """What a command gets."""

    texts: list[str]
    certain: bool
    """Whether these are neither more nor fewer than the shell's."""


class _Piece(NamedTuple):
    """A part of a word."""

    text: str
    quoted: bool
    """Whether it neither splits nor matches files."""
    expanded: bool = False
    """Whether blanks in it split it, where it is not quoted."""


class Words:
    """Expands words."""

    def __init__(self, state: State, printed: Callable[[str], str], budget: Budget) -> None:
        """`state` changes; `printed` gives what a command prints for `$(…)`."""
        self._state, self._printed, self._budget = state, printed, budget

    def text(self, word: str) -> str:
        """A word where the shell does not split it. Raises ValueError for one that is too long."""
        return _limited("".join(piece.text for piece in self._expanded(word)))

    def pattern(self, word: str) -> str:
        """A word as a pattern: what is quoted stands for itself."""
        return _limited(
            "".join(_MAGIC.sub(r"[\1]", text) if quoted else text for text, quoted, _ in self._expanded(word))
        )

    def document(self, text: str) -> None:
        """Follow what is expanded in a here-document."""
        self._quoted(text)

    def fields(self, words: Sequence[str]) -> Fields:
        """Words expanded and split, as a command gets them. Raises ValueError for one that is too long."""
        fields: list[str] = []
        certain = True
        for word in words:
            if word == '"$@"' and self._state.arguments is not None:
                self._budget.spend(sum(map(len, self._state.arguments)) + len(self._state.arguments))
                fields += self._state.arguments
                continue
            pieces = [self._matched(piece, word) for piece in self._expanded(word)]
            if "$@" in word and word != "$@":
                pieces = [_Piece(UNKNOWN, False)]
            certain = certain and not any(UNKNOWN in piece.text and not piece.quoted for piece in pieces)
            fields += map(_limited, self._split(pieces))
        return Fields(fields, certain)

    def _matched(self, piece: _Piece, word: str) -> _Piece:
        """What stands for names of files is unknown."""
        if piece.quoted or word in ("[", "[["):
            return piece
        return piece._replace(text=_MAGIC.sub(UNKNOWN, piece.text))

    def _split(self, pieces: list[_Piece]) -> Iterator[str]:
        """Fields of a word: blanks split only what was expanded outside of quotes."""
        field: str | None = None
        for text, _, expanded in pieces:
            parts = re.split(r"\s+", text) if expanded else [text]
            for number, part in enumerate(parts):
                if number and field is not None:
                    yield field
                    field = None
                if part or not expanded:
                    field = (field or "") + part
        if field is not None:
            yield field

    def _expanded(self, word: str) -> Iterator[_Piece]:
        self._budget.spend(len(word))
        at = 0
        while at < len(word):
            start = at
            match word[at]:
                case "\\":
                    at += 2
                    yield _Piece(word[start + 1 : at].removesuffix("\n"), True)
                case "'":
                    at = closing(word, start)
                    yield _Piece(word[start + 1 : at - 1], True)
                case '"':
                    at = closing(word, start)
                    yield _Piece(self._quoted(word[start + 1 : at - 1]), True)
                case "$" | "`":
                    text, at = self._expansion(word, start)
                    yield _Piece(text, False, True)
                case _:
                    text, at = _run(_ORDINARY, word, at)
                    yield _Piece(text, False)

    def _quoted(self, text: str) -> str:
        """What stood between double quotes: only expansions, and few characters are escaped."""
        self._budget.spend(len(text))
        pieces: list[str] = []
        at = 0
        while at < len(text):
            if text[at] in "$`":
                expanded, at = self._expansion(text, at)
                pieces.append(expanded)
            elif text[at] == "\\":
                following = text[at + 1 : at + 2]
                pieces.append(
                    "" if following == "\n" else following if following in '$`"\\' else "\\" + following
                )
                at += 2
            else:
                run, at = _run(_IN_QUOTES, text, at)
                pieces.append(run)
        return "".join(pieces)

    def _expansion(self, word: str, at: int) -> tuple[str, int]:
        """The text of what begins with `$` or a back quote, and where it ends."""
        if match := _PLAIN.match(word, at):
            return self._value(match[1] or match[2]), match.end()
        if word[at] == "`":
            end = closing(word, at)
            return self._printed(re.sub(r"\\([$`\\])", r"\1", word[at + 1 : end - 1])), end
        if word.startswith("$(", at):
            end = closing(word, at)
            if word.startswith("$((", at) and word.endswith("))", at, end):
                return self._computed(word[at + 3 : end - 2]), end
            return self._printed(word[at + 2 : end - 1]), end
        if word.startswith("${", at):
            end = closing(word, at)
            return self._default(word[at:end]), end
        return UNKNOWN, at + 1

    def _computed(self, text: str) -> str:
        """`$((…))`: what is expanded in it is followed, and what it may set is unknown from here on."""
        self._quoted(text)
        if _CHANGES.search(text):
            self._state.variables.update(dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text), UNKNOWN))
        return UNKNOWN

    def _default(self, text: str) -> str:
        """`${name…}`: likewise."""
        match = _DEFAULT.match(text)
        self.text(text[match.end() : -1] if match else text[2:-1])
        if match and "=" in match[2]:
            self._state.variables[match[1]] = UNKNOWN
        return UNKNOWN

    def _value(self, name: str) -> str:
        arguments = self._state.arguments
        if name in "@*#" or name.isdigit():
            if arguments is None or name == "0":
                value = UNKNOWN
            elif name in "@*":
                value = " ".join(arguments)
            elif name == "#":
                value = str(len(arguments))
            else:
                value = arguments[int(name) - 1] if int(name) <= len(arguments) else ""
        else:
            value = self._state.variables.get(name, UNKNOWN)
        self._budget.spend(len(value))
        return value


def _run(pattern: re.Pattern[str], text: str, at: int) -> tuple[str, int]:
    match = pattern.match(text, at)
    return (match[0], match.end()) if match else (text[at], at + 1)


def _limited(text: str) -> str:
    if len(text) > LONGEST:
        raise ValueError(f"a value of {len(text)} characters")
    return text
