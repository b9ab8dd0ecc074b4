"""From the bytes of a YAML file to a tree of nodes, safely.

The tree is built from the parser's events, not by its constructors: scalars stay text, and what the format has no
use for is refused with its line (a key twice, anchors and aliases, tags, several documents, deep nesting).
So a small hostile file can neither grow large nor recurse.
"""

import re
from collections.abc import Iterator

import yaml

from reprobridge.errors import Problem
from reprobridge.spec.letters import code_point
from reprobridge.spec.merge import RESOLVE, UNMERGED, both_sides, merge_mark
from reprobridge.spec.named import told_size
from reprobridge.spec.nodes import Entries, Node, Scalar, Sequence, below, shown
from reprobridge.spec.tree import LARGEST, BrokenYamlError

DEEPEST = 10
"""Nesting that is read; the format itself needs 6, and places in messages grow with it."""

_NO_YAML = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""Characters that YAML 1.1 does not allow (§5.1)."""

_QUOTE = "quote a value that holds `: ` or ` #`, or starts with one of `[{&*!|>%@`"
_HINTS = {
    "quoted scalar": r"in double quotes \ begins an escape: write \\ for one, or use single quotes",
    "parsing a flow": "close each bracket, set commas between values, and quote one that holds `: `, a comma or a bracket",
    "expected key": "begin the keys of a mapping in one column, and end a quoted value with its quote: '' is one within '",
    "expected '-'": "begin all items of a list in one column, each with `- `",
    "directive": "take the line with % out",
    "incompatible YAML": "take the line with %YAML out",
    "<document start>": "one file is one document: take the line with ... out",
}
"""What to do, by what the parser says."""

_NO_BLANK = r"[\x85\u2028\u2029]|(?m:^ *)[\xa0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff]"
"""What looks like a blank and ends a line or is part of a word (YAML 1.1, §5.4)."""

# libyaml where PyYAML was built with it: ten times faster.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def read_tree(data: bytes, name: str, *, place: str = "") -> Node:
    """Parse a YAML file. `name` stands before the line in a problem, `place` before the places of all nodes.

    Raises BrokenYamlError.
    """
    if len(data) > LARGEST:
        raise BrokenYamlError(Problem(name, f"at most {LARGEST >> 20} MiB", told_size(data)))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"the byte 0x{data[error.start]:02x} in line {line}"
        raise BrokenYamlError(Problem(name, "text in UTF-8", found, "save the file as UTF-8")) from error
    if mark := merge_mark(data):  # brackets and quotes may span it, so that it would be part of a value
        raise BrokenYamlError(Problem(f"{name}, line {mark}", UNMERGED, both_sides(f"line {mark}"), RESOLVE))
    try:
        return _Builder(text, name).document(place)
    except yaml.MarkedYAMLError as error:
        raise BrokenYamlError(_syntax_problem(error, name, text)) from error
    except yaml.YAMLError as error:  # a character that YAML does not allow: the reader knows no line
        found = " ".join(str(error).split("\n")[0].split())
        odd = re.search(_NO_YAML, text)
        where = f"{name}, line {text.count(chr(10), 0, odd.start()) + 1}" if odd else name
        hint = "take the character out, or write it as an escape in double quotes"
        raise BrokenYamlError(Problem(where, "a YAML document", found, hint)) from error


def _syntax_problem(error: yaml.MarkedYAMLError, name: str, text: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    where = f"{name}, line {mark.line + 1}, column {mark.column + 1}" if mark else name
    said = ", ".join(part for part in (error.context, error.problem) if part).removeprefix("found ")
    return Problem(where, "YAML", said or "something else", _advice(error, said, text))


def _advice(error: yaml.MarkedYAMLError, said: str, text: str) -> str:
    opened = error.context_mark
    mark = error.problem_mark or opened
    if mark and _is_tab(text, mark.line, mark.column):
        return "indent with blanks, not with tabs"
    if mark and (found := _no_blank(text, mark.line)):
        return found
    if opened and "quoted scalar, found unexpected end" in said:
        return f"close the quote that opens in line {opened.line + 1}"
    return next((hint for sign, hint in _HINTS.items() if sign in said), _QUOTE)


def _no_blank(text: str, number: int) -> str | None:
    """What is advised where shortly before this line, counted from 0 as YAML does, something looks like a blank."""
    lines, start = text.splitlines(keepends=True), max(number - 2, 0)
    before, near = "".join(lines[:start]), "".join(lines[start : number + 1])
    if (odd := re.search(_NO_BLANK, near)) is None:
        return None
    line = f"{before}{near[: odd.end() - 1]}".count("\n") + 1
    return f"put a blank in place of {code_point(odd[0][-1])} in line {line}"


def _is_tab(text: str, line: int, column: int) -> bool:
    """Whether a tab stands at this place; both numbers from 0."""
    return "".join(text.split("\n")[line : line + 1])[column : column + 1] == "\t"


class _Builder:
    """Builds the tree of one document from its events."""

    def __init__(self, text: str, name: str) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=_LOADER)
        self._name = name

    def document(self, place: str) -> Node:
        """The one document's root, which stands at `place`."""
        next(self._events)  # the stream's start
        if not isinstance(event := next(self._events), yaml.DocumentStartEvent):
            raise self._refused(event, "a mapping", "an empty file")
        root = self._node(next(self._events), place, 0)
        next(self._events)  # the document's end
        if not isinstance(event := next(self._events), yaml.StreamEndEvent):
            raise self._refused(event, "one document", "a second one")
        return root

    def _node(self, event: yaml.Event, place: str, depth: int) -> Node:
        if isinstance(event, yaml.AliasEvent):
            raise self._refused(event, "the value written out", f"the YAML reference *{event.anchor}")
        if isinstance(event, yaml.NodeEvent) and event.anchor:
            raise self._refused(event, "the value written out", f"the YAML anchor &{event.anchor}")
        if tag := getattr(event, "tag", None):
            raise self._refused(event, "a value without a YAML tag", f"the tag {shown(tag)}")
        if depth > DEEPEST:
            raise self._refused(event, f"at most {DEEPEST} levels of nesting", "more")
        line = _line_and_column(event)[0]
        if isinstance(event, yaml.ScalarEvent):
            return Scalar(place, line, event.value, plain=event.implicit[0])
        if isinstance(event, yaml.SequenceStartEvent):
            return Sequence(place, line, tuple(self._items(place, depth + 1)))
        return Entries(place, line, dict(self._pairs(place, depth + 1)))

    def _items(self, place: str, depth: int) -> Iterator[Node]:
        for number, event in enumerate(self._events):
            if isinstance(event, yaml.SequenceEndEvent):
                return
            yield self._node(event, f"{place}[{number}]", depth)

    def _pairs(self, place: str, depth: int) -> Iterator[tuple[str, Node]]:
        seen: dict[str, int] = {}
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                return
            key = self._node(event, place, depth)
            if not isinstance(key, Scalar):
                raise self._refused(event, "a word as key", "a list or mapping as key")
            if key.text in seen:
                found = f"{shown(key.text)} again (first in line {seen[key.text]})"
                raise self._refused(event, "each key once", found)
            seen[key.text] = key.line
            yield key.text, self._node(next(self._events), below(place, key.text), depth)

    def _refused(self, event: yaml.Event, expected: str, found: str) -> BrokenYamlError:
        line, column = _line_and_column(event)
        return BrokenYamlError(Problem(f"{self._name}, line {line}, column {column}", expected, found))


def _line_and_column(event: yaml.Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)
