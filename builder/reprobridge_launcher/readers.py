"""Where values stand in a file: every match of an extractor's rule, with byte span and the file's digest.

Regular expressions run over the mapped file, so that a log of any size takes no memory of its own; JSON and CSV
files are read whole and limited to 64 MiB.
"""

import os

from reprobridge_launcher import cparts
from reprobridge_launcher.extraction import Extractor, Match, NothingExtractedError

LARGEST_DOCUMENT = 64 << 20
"""Greatest size in bytes of a JSON, JSON lines or CSV file."""
MANY = 100000
"""More matches than this in one file are an error, where they all count."""

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Iterator

    Span = tuple[int, int, str]
    """Start, end, text."""


def matches(extractor: Extractor, folder: str, path: str) -> "list[Match]":
    """Matches in the file at `path` below `folder` that may count, in the file's order."""
    full = os.path.join(folder, path)
    if not os.path.isfile(full):
        raise NothingExtractedError("{}: expected a file, found none".format(path))
    digest, size = cparts.file_digest(full)
    if extractor.kind == "regex":
        spans = _pattern_spans(extractor.rule, full, size)
    else:
        text = _document(full, path, size)
        spans = DOCUMENT_KINDS[extractor.kind](extractor, text, path)
    found = []  # type: list[Match]
    for start, end, raw in spans:
        if found and extractor.occurrence == "first":
            continue
        if extractor.occurrence == "last":
            found.clear()  # a log may have one for each of its lines
        found.append(Match(file=path, sha256=digest, start=start, end=end, raw=raw))
        if len(found) > MANY:
            raise NothingExtractedError("{}: expected at most {} matches, found more".format(path, MANY))
    return found


def _pattern_spans(rule: str, full: str, size: int) -> "Iterator[Span]":
    if size == 0:
        return
    import mmap

    try:
        pattern = cparts.compile_bytes_pattern(rule)
    except ValueError as error:
        raise NothingExtractedError(
            "expected a regular expression, found {} ({})".format(rule, error)
        ) from None
    with open(full, "rb") as stream:
        try:
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # empty by now: somebody truncated it since its size was read
            return
    for match in pattern.finditer(mapped):
        start, end = match.span("value")
        if start >= 0:
            yield start, end, mapped[start:end].decode("utf-8", "backslashreplace")


def _document(full: str, path: str, size: int) -> bytes:
    if size > LARGEST_DOCUMENT:
        raise NothingExtractedError(
            "{}: expected at most {} bytes, found {}".format(path, LARGEST_DOCUMENT, size)
        )
    with open(full, "rb") as stream:
        return stream.read()


def _json_spans(extractor: Extractor, document: bytes, path: str) -> "Iterator[Span]":
    """Give the one place that the pointer names, or nothing."""
    try:
        text = document.decode("utf-8-sig")
        skipped = len(document) - len(text.encode("utf-8"))
        cparts.read_json(text)
    except (ValueError, RecursionError) as error:
        raise NothingExtractedError("{}: expected JSON, found {}".format(path, error)) from None
    for start, end in _resolve(text, extractor.rule):
        before = len(text[:start].encode("utf-8")) + skipped
        raw = text[start:end]
        yield before, before + len(raw.encode("utf-8")), raw


def _jsonl_spans(extractor: Extractor, document: bytes, path: str) -> "Iterator[Span]":
    """Give every line's place; lines without the pointer's target give none."""
    offset = 0
    for number, line in enumerate(document.split(b"\n"), 1):
        if line.strip():
            for start, end, raw in _json_spans(extractor, line, "{} line {}".format(path, number)):
                yield offset + start, offset + end, raw
        offset += len(line) + 1


def _resolve(text: str, pointer: str) -> "Iterator[tuple[int, int]]":
    """Give start and end of the value that an RFC 6901 pointer names in valid JSON, if there is one."""
    scan = cparts.json_scanner()
    at = cparts.skip_space(text, 0)
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        for key, start in _children(text, at, scan):
            if key == name:
                at = start
                break
        else:
            return
    yield at, scan(text, at)[1]


def _children(text: str, at: int, scan: "cparts.Scanner") -> "Iterator[tuple[str, int]]":
    """Give key or index and start of each member of the object or array at `at`."""
    is_object = text[at] == "{"
    if text[at] not in "{[":
        return
    at = cparts.skip_space(text, at + 1)
    index = 0
    while text[at] not in "}]":
        key = str(index)
        if is_object:
            name, at = scan(text, at)
            key = str(name)
            at = cparts.skip_space(text, cparts.skip_space(text, at) + 1)
        yield key, at
        at = cparts.skip_space(text, scan(text, at)[1])
        if text[at] == ",":
            at = cparts.skip_space(text, at + 1)
        index += 1


def _csv_spans(extractor: Extractor, document: bytes, path: str) -> "Iterator[Span]":
    """Give the cell of every row whose columns have the wanted texts, with the row's span."""
    from _csv import Error, reader

    lines = _Lines(document)
    rows = reader(lines, delimiter=extractor.delimiter, strict=True)
    try:
        header = next(rows, [])
        wanted = [(_column(header, name, path), text) for name, text in extractor.where]
        column = _column(header, extractor.rule, path)
        start = lines.offset
        for row in rows:
            if row and len(row) != len(header):
                found = "{} in the row at byte {}".format(len(row), start)
                raise NothingExtractedError(
                    "{}: expected {} cells, found {}".format(path, len(header), found)
                )
            if row and all(row[i] == text for i, text in wanted):
                yield start, lines.offset, row[column]
            start = lines.offset
    except Error as error:
        raise NothingExtractedError("{}: expected CSV, found {}".format(path, error)) from None


def _column(header: "list[str]", name: str, path: str) -> int:
    if header.count(name) != 1:
        expected = "one column {} among {}".format(name, ", ".join(header) or "none")
        raise NothingExtractedError("{}: expected {}, found {}".format(path, expected, header.count(name)))
    return header.index(name)


class _Lines:
    """Lines of a document as text; `offset` is where the next one begins."""

    def __init__(self, document: bytes) -> None:
        self._lines = iter(document.split(b"\n"))
        self._left = len(document)
        self.offset = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        if self._left <= 0:
            raise StopIteration
        line = next(self._lines) + b"\n"
        text = line.decode("utf-8-sig" if self.offset == 0 else "utf-8", "surrogateescape")
        self.offset += min(len(line), self._left)
        self._left -= len(line)
        return text


DOCUMENT_KINDS = {"json": _json_spans, "jsonl": _jsonl_spans, "csv": _csv_spans}
"""Kind of extractor to the function that gives its places; `regex` reads the file itself."""
