r"""Extractors: how a task's value is read from what a run left behind.

JSON form, equal to the YAML form of reprobridge.yaml plus `kind`:

    {"kind": "regex", "file": "stdout", "regex": "accuracy: (?P<value>[0-9.]+)", "occurrence": "only"}
    {"kind": "json",  "file": "results.json", "json": "/test/accuracy"}
    {"kind": "jsonl", "file": "log.jsonl", "jsonl": "/accuracy", "occurrence": "last"}
    {"kind": "csv",   "file": "t.csv", "csv": {"where": {"method": "ours"}, "column": "acc", "delimiter": ","}}

and in each of them, optional:

    "occurrence": "only" | "first" | "last" | "all"   which of several matches in one file; default "only", or
                                                      "all" with `reduce`; "all" needs `reduce`
    "scale": 1          factor from the unit in the file to the task's unit
    "expect": 1         how many values must be found; needed with `reduce`, else 1
    "reduce": null | "mean" | "median" | "max" | "min"   over the values of all matches in all files

`file` is `stdout`, `stderr`, or a path or pattern below the run's outputs: `*` and `?` match inside one path
component, `**` any number of components.  Without `reduce` exactly one file must match.

A regular expression has exactly one group, named `value`.  It is matched against the file's bytes (logs may
hold anything, and may be larger than memory), so classes such as `\w` mean ASCII, and characters outside of
ASCII may stand only as plain text.  Flags are written inline: `(?m)^accuracy`.

Extraction is a pure function of the stored bytes: the same folder gives the same value, for whoever asks.
Zero or several matches are a value (`NotExtracted`), not an exception.
"""

import os

from reprobridge_launcher import cparts, fields
from reprobridge_launcher.fields import FormatError, shown
from reprobridge_launcher.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Literal

KINDS = ("regex", "json", "jsonl", "csv")
"""How a value is found in a file."""
STREAMS = {"stdout": "stdout.log", "stderr": "stderr.log"}
"""Names of the captured streams in extractors, and their files in a run's folder."""


class Extractor(Record):
    """How a value is found; made by `parse`."""

    kind: "Literal['regex', 'json', 'jsonl', 'csv']"
    """How it's found in a file."""
    file: "str"
    """`stdout`, `stderr`, or a path or pattern below the outputs."""
    rule: "str"
    """The regular expression, the JSON pointer, or the CSV column."""
    where: "tuple[tuple[str, str], ...]" = ()
    """CSV only: columns and the texts that they must have in a matching row."""
    delimiter: "str" = ","
    """CSV only: one character."""
    occurrence: "Literal['only', 'first', 'last', 'all']" = "only"
    """Which of several matches in one file counts."""
    scale: "float" = 1.0
    """Factor to the task's unit."""
    expect: "int" = 1
    """Number of values that must be found."""
    reduce: "Literal['mean', 'median', 'max', 'min'] | None" = None
    """How several values become one; None: there is a single value."""

    def form(self) -> "dict[str, object]":
        """JSON form, the inverse of `parse`, with every field written out."""
        rule = self.rule  # type: object
        if self.kind == "csv":
            rule = {"column": rule, "where": dict(self.where), "delimiter": self.delimiter}
        made = {"kind": self.kind, "file": self.file, self.kind: rule, "occurrence": self.occurrence}
        return dict(made, scale=self.scale, expect=self.expect, reduce=self.reduce)


class Match(Record):
    """One place where a value stands."""

    file: "str"
    """Path below the run's folder."""
    sha256: "str"
    """Digest of the whole file."""
    start: "int"
    """Offset of the first byte; for CSV that of the row."""
    end: "int"
    """Offset after the last byte; for CSV that of the row."""
    raw: "str"
    """The text that was read as a number."""


class Extracted(Record):
    """A value with where it stands."""

    value: "float"
    """In the task's unit, unrounded."""
    matches: "tuple[Match, ...]"
    """Every match that entered the value."""


class NotExtracted(Record):
    """Why there is no value."""

    reason: "str"
    """Where, what was expected, what was found."""


class NothingExtractedError(Exception):
    """Inside of this package: a file gives no value; becomes `NotExtracted`."""


class Cell(Record):
    """JSON form of a CSV rule."""

    column: "str"
    """Column of the value."""
    where: "tuple[tuple[str, str], ...]"
    """Columns and the texts that they must have."""
    delimiter: "str" = ","
    """Between the cells of a row."""


def parse(value: object, place: str) -> Extractor:
    """Read the JSON form; FormatError says what is wrong and where.  `check_pattern` completes it."""
    given = fields.mapping(value, place)
    kind = given.get("kind")
    if kind not in KINDS:
        raise FormatError(place + ".kind", "one of " + ", ".join(KINDS), shown(kind))
    at = "{}.{}".format(place, kind)
    rule = given.pop(kind, None)
    cell = Cell(column="", where=())
    if kind == "csv":
        cell = fields.read(Cell, rule, at, {})
        rule = cell.column
    if kind in ("json", "jsonl") and fields.text(rule, at) and not str(rule).startswith("/"):
        raise FormatError(at, "a JSON pointer such as /test/accuracy", shown(rule))
    if given.get("reduce") is not None:
        given.setdefault("occurrence", "all")
        given.setdefault("expect", 0)
    hidden = {"rule", "where", "delimiter"} & set(given)
    if hidden:
        raise FormatError("{}.{}".format(place, min(hidden)), "no such key", "it")
    given.update(rule=fields.text(rule, at), where=dict(cell.where), delimiter=cell.delimiter)
    extractor = fields.read(Extractor, given, place, {})
    _check(extractor, place)
    return extractor


def extract(extractor: Extractor, folder: str) -> "Extracted | NotExtracted":
    """Read the value from a run's folder (`stdout.log`, `stderr.log`, `outputs/`)."""
    from reprobridge_launcher import readers

    try:
        matches = []  # type: list[Match]
        for path in _files(extractor, folder):
            matches += _selected(extractor, readers.matches(extractor, folder, path), path)
        return Extracted(value=_reduced(extractor, matches), matches=tuple(matches))
    except NothingExtractedError as problem:
        return NotExtracted(reason=str(problem))


def matching_files(pattern: str, folder: str) -> "list[str]":
    """Paths of the regular files below `folder` that a path or pattern names, sorted by bytes.

    A symbolic link counts if it leads to a file inside of the folder.
    """
    found = []
    inside = os.path.realpath(folder) + "/"
    for parent, _folders, names in os.walk(folder):
        for name in names:
            full = os.path.join(parent, name)
            path = os.path.relpath(full, folder)
            real = os.path.realpath(full)
            if (
                _fits(path.split("/"), pattern.split("/"))
                and real.startswith(inside)
                and os.path.isfile(real)
            ):
                found.append(path)
    return sorted(found, key=os.fsencode)


def check_pattern(extractor: Extractor, place: str) -> None:
    """Refuse a regular expression that is broken or lacks its group.

    Apart from `parse`, since the engine takes 40 ms to load, and an image's own manifest has been checked.
    """
    if extractor.kind != "regex":
        return
    place += ".regex"
    try:
        pattern = cparts.compile_bytes_pattern(extractor.rule)
    except ValueError as error:
        found = "{} ({})".format(shown(extractor.rule), error)
        raise FormatError(place, "a regular expression", found) from None
    if pattern.groups != 1 or list(pattern.groupindex) != ["value"]:
        raise FormatError(place, "exactly one group, named value: (?P<value>...)", shown(extractor.rule))
    _refuse_wide_classes(extractor.rule, place)


def _refuse_wide_classes(rule: str, place: str) -> None:
    """Refuse characters outside of ASCII in a class or before a quantifier: as bytes they'd mean else."""
    in_class = False
    for i, character in enumerate(rule):
        escaped = (len(rule[:i]) - len(rule[:i].rstrip("\\"))) % 2 == 1
        if character in "[]" and not escaped:
            in_class = character == "["
        if ord(character) > 127 and (in_class or rule[i + 1 : i + 2] in ("*", "+", "?", "{")):
            expected = "ASCII in classes and before quantifiers (write (?:é|è)+ instead of [éè]+)"
            raise FormatError(place, expected, shown(rule))


def _check(extractor: Extractor, place: str) -> None:
    """Refuse what the types can't."""
    parts = extractor.file.split("/")
    if ".." in parts or "." in parts or "" in parts:
        expected = "stdout, stderr, or a plain relative path or pattern below the outputs"
        raise FormatError(place + ".file", expected, shown(extractor.file))
    if len(extractor.delimiter) != 1 or extractor.delimiter in '"\r\n\0':
        expected = "one character other than a quotation mark or the end of a line"
        raise FormatError(place + ".csv.delimiter", expected, shown(extractor.delimiter))
    if extractor.scale == 0.0:
        raise FormatError(place + ".scale", "a factor other than 0", "0")
    if extractor.reduce is None and extractor.expect != 1:
        raise FormatError(
            place + ".expect", "1, or reduce to make one value of several", str(extractor.expect)
        )
    if extractor.reduce is not None and extractor.expect < 1:
        raise FormatError(place + ".expect", "the number of values that are reduced", "none")
    if extractor.reduce is None and extractor.occurrence == "all":
        raise FormatError(place + ".occurrence", "only, first or last, or reduce", "all")


def _files(extractor: Extractor, folder: str) -> "list[str]":
    if extractor.file in STREAMS:
        return [STREAMS[extractor.file]]
    found = matching_files(extractor.file, os.path.join(folder, "outputs"))
    if not found or (len(found) > 1 and extractor.reduce is None):
        raise NothingExtractedError(
            "{}: expected {} in the outputs, found {}".format(
                extractor.file,
                "a file" if extractor.reduce is None else "files",
                ", ".join(found[:5] + ["..."] * (len(found) > 5)) or "none",
            )
        )
    return ["outputs/" + path for path in found]


def _selected(extractor: Extractor, found: "list[Match]", path: str) -> "list[Match]":
    if extractor.occurrence == "only" and len(found) != 1:
        texts = ", ".join([_cut(match.raw) for match in found[:5]] + ["..."] * (len(found) > 5))
        rule = "{} {}".format(extractor.kind, extractor.rule)
        raise NothingExtractedError(
            "{}: expected exactly one match of {}, found {}".format(path, rule, texts or "none")
        )
    if not found:
        raise NothingExtractedError(
            "{}: expected a match of {} {}, found none".format(path, extractor.kind, extractor.rule)
        )
    if extractor.occurrence == "first":
        return found[:1]
    return found[-1:] if extractor.occurrence == "last" else found


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _reduced(extractor: Extractor, matches: "list[Match]") -> float:
    if len(matches) != extractor.expect:
        raise NothingExtractedError(
            "{}: expected {} values, found {}".format(extractor.file, extractor.expect, len(matches))
        )
    values = [number(match) for match in matches]
    try:
        value = reduced(values, extractor.reduce or "mean") * extractor.scale
    except OverflowError:
        value = float("inf")
    if value - value != 0.0:
        raise NothingExtractedError("{}: expected a finite number, found {}".format(extractor.file, value))
    return value


def reduced(values: "list[float]", how: str) -> float:
    """Make one value of several by mean, median, max or min; a single value stays exactly what it is."""
    ordered = sorted(values)
    if how == "max":
        return ordered[-1]
    if how == "min":
        return ordered[0]
    if how == "median":
        half = len(ordered) // 2
        return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    from reprobridge_launcher import interval

    return interval.mean_of(ordered)


def number(match: Match) -> float:
    """Read a match as a finite decimal number."""
    text = match.raw.strip()
    value = nan = float("nan")
    if not text.lower().strip("+-0123456789.e") and "_" not in text:
        try:
            value = float(text)
        except ValueError:
            value = nan
    if value - value != 0.0:
        raise NothingExtractedError(
            "{}: expected a finite number, found {}".format(match.file, shown(match.raw))
        )
    return value


def _fits(parts: "list[str]", pattern: "list[str]") -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[i:], pattern[1:]) for i in range(len(parts) + 1))
    return bool(parts) and _fits_name(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def _fits_name(name: str, pattern: str) -> bool:
    """Match one path component; greedy with one way back, so linear in practice."""
    at = spot = mark = 0
    star = -1
    while at < len(name):
        if spot < len(pattern) and pattern[spot] == "*":
            star, mark, spot = spot, at, spot + 1
        elif spot < len(pattern) and pattern[spot] in ("?", name[at]):
            at, spot = at + 1, spot + 1
        elif star >= 0:
            mark, at, spot = mark + 1, mark + 1, star + 1
        else:
            return False
    return not pattern[spot:].strip("*")
