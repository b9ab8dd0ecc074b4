"""Words of a script as a command gets them: variables put in, quotes taken away, split at blanks (POSIX §2.6).

File names are not matched, and `${name…}` with more than a name is `UNKNOWN`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from reprobridge.assemble.deb_shell_syntax import closing

UNKNOWN = "\0"
"""Stands in a word for what its text does not tell."""
LONGEST = 1 << 16
"""Most characters of a script, and of a value in it; the longest script that we met has 15 thousand."""

_PLAIN = re.compile(r"\$(?:([A-Za-z_]\w*|[0-9@*#])|\{([A-Za-z_]\w*|[0-9@*#])\})")


class Words:
    """Expands words."""

    def __init__(self, variables: Mapping[str, str], printed: Callable[[str, Sequence[str]], str]) -> None:
        """`variables` may grow; `printed` gives what a command prints for `$(…)`."""
        self._variables, self._printed = variables, printed

    def text(self, word: str, arguments: Sequence[str]) -> str:
        """A word where the shell does not split it."""
        return "".join(text for text, _ in self._expanded(word, arguments))

    def fields(self, words: Sequence[str], arguments: Sequence[str]) -> list[str]:
        """Words expanded and split, as a command gets them."""
        fields: list[str] = []
        for word in words:
            if word == '"$@"':
                fields += arguments
            else:
                fields += self._split(list(self._expanded(word, arguments)))
        return fields

    def _split(self, pieces: list[tuple[str, bool]]) -> Iterator[str]:
        """Fields of a word: blanks split only what was expanded outside of quotes."""
        field: str | None = None
        for text, whole in pieces:
            if whole:
                field = (field or "") + text
                continue
            parts = re.split(r"\s+", text)
            for number, part in enumerate(parts):
                if number and field is not None:
                    yield field
                    field = None
                if part:
                    field = (field or "") + part
        if field is not None:
            yield field

    def _expanded(self, word: str, arguments: Sequence[str]) -> Iterator[tuple[str, bool]]:
        """Pieces of a word, and whether each is kept whole."""
        at = 0
        while at < len(word):
            start = at
            match word[at]:
                case "\\":
                    at += 2
                    yield word[start + 1 : at], True
                case "'":
                    at = closing(word, start)
                    yield word[start + 1 : at - 1], True
                case '"':
                    at = closing(word, start)
                    yield "".join(self._quoted(word[start + 1 : at - 1], arguments)), True
                case "$" | "`":
                    text, at = self._expansion(word, start, arguments)
                    yield text, False
                case char:
                    at += 1
                    yield char, True

    def _quoted(self, text: str, arguments: Sequence[str]) -> Iterator[str]:
        """Pieces of what stood between double quotes: only expansions, and few characters are escaped."""
        at = 0
        while at < len(text):
            if text[at] in "$`":
                expanded, at = self._expansion(text, at, arguments)
                yield expanded
            else:
                at += text[at] == "\\" and text[at + 1 : at + 2] in ("$", "`", '"', "\\")
                yield text[at : at + 1]
                at += 1

    def _expansion(self, word: str, at: int, arguments: Sequence[str]) -> tuple[str, int]:
        """The text of what begins with `$` or a back quote, and where it ends."""
        if word[at] == "`" or word.startswith("$(", at):
            end = closing(word, at)
            if word.startswith("$((", at):
                return UNKNOWN, end
            return self._printed(word[at:end].removeprefix("$(").strip("`").removesuffix(")"), arguments), end
        if match := _PLAIN.match(word, at):
            return self._value(match[1] or match[2], arguments)[:LONGEST], match.end()
        return UNKNOWN, closing(word, at) if word.startswith("${", at) else at + 1

    def _value(self, name: str, arguments: Sequence[str]) -> str:
        if name in "@*":
            return " ".join(arguments)
        if name == "#":
            return str(len(arguments))
        if name.isdigit():
            return arguments[int(name) - 1] if 0 < int(name) <= len(arguments) else ""
        return self._variables.get(name, UNKNOWN)
