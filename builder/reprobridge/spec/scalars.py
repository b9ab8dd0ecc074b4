"""Shapes of single values: texts, words, choices, numbers, durations, sizes, dates.

The text of a scalar is typed here and nowhere else. JSON Schema sees what an editor's YAML 1.2 parser makes of the
same text, so numbers and booleans are allowed there wherever their text is a right value.
"""

import re
from typing import Literal

from reprobridge.spec.decimals import canonical
from reprobridge.spec.letters import odd_character, with_odd_character
from reprobridge.spec.nodes import Node, Scalar, is_null
from reprobridge.spec.reading import Reading
from reprobridge.spec.shapes import Invalid, Schema, Shape
from reprobridge.wording import has_login

_ANY_SCALAR = ["string", "number", "boolean"]
_MEANT = {
    **dict.fromkeys(("true", "yes", "on", "y", "1"), "true"),
    **dict.fromkeys(("false", "no", "off", "n", "0"), "false"),
}
_LONGEST = 18
"""Digits of a whole number: all of them fit into 64 bits."""


class Text(Shape[str]):
    """Prose: not empty, without control characters, blanks at its ends removed."""

    wanted = "text"

    def read(self, node: Node, reading: Reading) -> str | Literal[Invalid.INVALID]:
        """The text."""
        if not isinstance(node, Scalar):
            return self.refuse(node, reading, "put the text in quotes if it starts with [ or {")
        if is_null(node):
            hint = f'write "{node.text}" if you mean the word' if node.text else None
            return self.refuse(node, reading, hint)
        text = node.text.strip()
        if not text or _has_control(text):
            return self.refuse(node, reading, found="a control character" if text else "an empty text")
        return text

    def schema(self) -> Schema:
        """Any scalar but null."""
        return {"type": _ANY_SCALAR, "minLength": 1}


class Verbatim(Shape[str]):
    """A text that is kept to the last blank (arguments, variables, patterns); may be empty when quoted."""

    def __init__(self, *, most: int = 100_000) -> None:
        self._most = most
        self.wanted = "text"

    def read(self, node: Node, reading: Reading) -> str | Literal[Invalid.INVALID]:
        """The text as it is."""
        if not isinstance(node, Scalar):
            return self.refuse(node, reading, "put the text in quotes if it starts with [ or {")
        if is_null(node):
            return self.refuse(node, reading, f'write "{node.text}", in quotes, if you mean it as text')
        if "\0" in node.text or (not node.text.isascii() and _has_surrogate(node.text)):
            return self.refuse(node, reading, found="a character that no program can be given")
        if len(node.text) > self._most:
            return self.refuse(node, reading, found=f"{len(node.text)} characters, {self._most} are allowed")
        return node.text

    def schema(self) -> Schema:
        """Any scalar but null."""
        return {"type": _ANY_SCALAR, "maxLength": self._most}


class Word(Shape[str]):
    """A text of a fixed form."""

    def __init__(self, pattern: str, wanted: str, *, hint: str | None = None) -> None:
        self._pattern = pattern
        self.hint = hint
        """What to do about another form."""
        self.wanted = wanted

    def matches(self, text: str) -> bool:
        """Whether a text has the form."""
        return re.fullmatch(self._pattern, text, re.ASCII) is not None

    def read(self, node: Node, reading: Reading) -> str | Literal[Invalid.INVALID]:
        """The text, if all of it matches."""
        if isinstance(node, Scalar) and not is_null(node) and self.matches(node.text):
            return node.text
        text = node.text if isinstance(node, Scalar) else ""
        return self.refuse(node, reading, with_odd_character(self.hint, text))

    def schema(self) -> Schema:
        """A string with a pattern, or what an editor takes for a number: its text may match (a commit)."""
        return {"type": _ANY_SCALAR, "pattern": f"^(?:{self._pattern})$"}


class Address(Word):
    """An address that is published with the image; what is wrong with another one is its login, or its form."""

    def read(self, node: Node, reading: Reading) -> str | Literal[Invalid.INVALID]:
        """The address, or a report with the hint that fits."""
        if isinstance(node, Scalar) and has_login(node.text):
            return self.refuse(node, reading, LOGIN_HINT)
        address = super().read(node, reading)
        if address is Invalid.INVALID or _splits(address):
            return address
        return self.refuse(node, reading, self.hint)


def _splits(address: str) -> bool:
    """Whether host and port of the address can be ones."""
    from urllib.parse import urlsplit

    try:
        return urlsplit(address).port != 0
    except ValueError:  # brackets without an address in them, a port that is no number
        return False


LOGIN_HINT = (
    "an address is published with the image: leave login, token or signature out, they come from git's "
    "credential helper, ssh or ~/.netrc (guides/how-to/private-sources.md)"
)
"""What to do about a password or token in an address."""


class Choice(Shape[str]):
    """One of a few words."""

    def __init__(self, *words: str) -> None:
        self._words = words
        self.wanted = f"one of {', '.join(words)}" if len(words) > 1 else words[0]

    def read(self, node: Node, reading: Reading) -> str | Literal[Invalid.INVALID]:
        """The word."""
        if isinstance(node, Scalar) and node.text in self._words:
            return node.text
        guess = reading.guess(node.text, self._words) if isinstance(node, Scalar) else None
        return self.refuse(node, reading, f"did you mean {guess}?" if guess else None)

    def schema(self) -> Schema:
        """An enumeration."""
        return {"enum": list(self._words)}


class Flag(Shape[bool]):
    """`true` or `false`, and nothing else."""

    wanted = "true or false"

    def read(self, node: Node, reading: Reading) -> bool | Literal[Invalid.INVALID]:
        """The truth value."""
        if isinstance(node, Scalar) and node.text in ("true", "false"):
            return node.text == "true"
        meant = _MEANT.get(node.text.lower()) if isinstance(node, Scalar) else None
        return self.refuse(node, reading, f"did you mean {meant}?" if meant else "write one of the two words")

    def schema(self) -> Schema:
        """A boolean, quoted or not."""
        return {"enum": [True, False, "true", "false"]}


class Whole(Shape[int]):
    """A whole number in decimal digits."""

    def __init__(self, least: int, most: int | None = None) -> None:
        self._least, self._most = least, most
        self.wanted = f"a whole number from {least} " + (f"to {most}" if most is not None else "on")

    def read(self, node: Node, reading: Reading) -> int | Literal[Invalid.INVALID]:
        """The number."""
        if isinstance(node, Scalar) and re.fullmatch(
            rf"-?(0|[1-9]\d{{0,{_LONGEST - 1}}})", node.text, re.ASCII
        ):
            number = int(node.text)
            if self._least <= number and (self._most is None or number <= self._most):
                return number
        return self.refuse(node, reading, odd_character(node.text) if isinstance(node, Scalar) else None)

    def schema(self) -> Schema:
        """An integer or its text."""
        schema: Schema = {"type": ["integer", "string"], "minimum": self._least}
        schema |= {"maximum": self._most} if self._most is not None else {}
        return schema | {"pattern": rf"^-?(0|[1-9][0-9]{{0,{_LONGEST - 1}}})$"}


class Number(Shape[str]):
    """A finite decimal number, kept as canonical text (`decimals.py`)."""

    wanted = "a decimal number"

    def read(self, node: Node, reading: Reading) -> str | Literal[Invalid.INVALID]:
        """The number's canonical text."""
        number = canonical(node.text) if isinstance(node, Scalar) else None
        if number is None:
            percent = isinstance(node, Scalar) and node.text.endswith("%")
            return self.refuse(
                node, reading, "leave out the %: the unit stands in `unit`" if percent else None
            )
        return number

    def schema(self) -> Schema:
        """A number or its text."""
        pattern = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
        return {"type": ["number", "string"], "pattern": pattern}


class Quantity(Shape[int]):
    """A whole number with a unit, as its smallest unit: `90s`, `2h`; `500MB`, `1GiB`."""

    def __init__(self, wanted: str, units: dict[str, int]) -> None:
        self._units = units
        self.wanted = wanted

    def read(self, node: Node, reading: Reading) -> int | Literal[Invalid.INVALID]:
        """The quantity in seconds or bytes; zero is none."""
        pattern = rf"([1-9]\d{{0,11}}) ?({'|'.join(self._units)})"
        match = re.fullmatch(pattern, node.text, re.ASCII) if isinstance(node, Scalar) else None
        if match is None:
            bare = isinstance(node, Scalar) and node.text.isdecimal()
            hint = f"write the unit: one of {', '.join(self._units)}" if bare else None
            return self.refuse(node, reading, hint)
        return int(match[1]) * self._units[match[2]]

    def schema(self) -> Schema:
        """A string with a unit."""
        return {"type": "string", "pattern": rf"^[1-9][0-9]{{0,11}} ?({'|'.join(self._units)})$"}


class Date(Shape[str]):
    """A day, or where `moment` allows it a moment (RFC 3339), kept as written."""

    def __init__(self, *, moment: bool = False) -> None:
        self._time = r"(T\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d))?" if moment else ""
        self.wanted = "a date such as 2026-01-31" + (" or a moment such as 2026-01-31T12:00:00Z" * moment)

    def read(self, node: Node, reading: Reading) -> str | Literal[Invalid.INVALID]:
        """The date as written, if there is such a day."""
        from datetime import datetime

        if not isinstance(node, Scalar) or not re.fullmatch(self._pattern, node.text, re.ASCII):
            return self.refuse(node, reading)
        try:
            datetime.fromisoformat(node.text)
        except ValueError:
            return self.refuse(node, reading, "there is no such day or time")
        return node.text

    @property
    def _pattern(self) -> str:
        return r"\d{4}-\d\d-\d\d" + self._time

    def schema(self) -> Schema:
        """A string with a pattern."""
        return {"type": "string", "pattern": "^" + self._pattern.replace(r"\d", "[0-9]") + "$"}


def _has_control(text: str) -> bool:
    """Whether a character of the text is a surrogate, or a control character but for tab and newline."""
    if text.isprintable():  # as nearly every text is; making the pattern takes 1 ms
        return False
    return re.search(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", text) is not None


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


SECONDS = Quantity("a duration such as 60s, 5m, 2h or 1d", {"s": 1, "m": 60, "h": 3600, "d": 86400})
"""A duration in seconds."""
BYTES = Quantity(
    "a size such as 500MB or 1GiB",
    {
        "B": 1,
        "kB": 10**3,
        "MB": 10**6,
        "GB": 10**9,
        "TB": 10**12,
        "KiB": 1 << 10,
        "MiB": 1 << 20,
        "GiB": 1 << 30,
        "TiB": 1 << 40,
    },
)
"""A size in bytes."""
TEXT = Text()
"""Prose."""
VERBATIM = Verbatim()
"""An argument, a variable's value."""
NUMBER = Number()
"""A decimal number."""
FLAG = Flag()
"""A truth value."""
IDENTIFIER = Word(
    r"(?!.{65})[A-Za-z0-9]+([._-][A-Za-z0-9]+)*",
    "an id of at most 64 letters and digits, joined by single . _ or -",
)
"""What tasks, changes and decisions are called; also a folder's name in the results."""
WEB_ADDRESS = Address(
    r"https?://[^\s/@?#]+([/?#]\S*)?",
    "an http or https address without user name, password or token",
)
"""An address for readers and downloads; credentials would be published with the image."""
