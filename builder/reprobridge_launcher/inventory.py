r"""The list of files that an image holds below /rra/code and /opt/env, and the digest of a tree.

Text form, made to be read without a JSON parser for tens of thousands of files (one line each, in any
order; a path may stand more than once):

    reprobridge.inventory/1
    0644 <SHA-256, hex> <path>
    0755 <SHA-256, hex> <path>
    link <SHA-256 of the target's text, hex> <path>

Paths are absolute in the image (`/rra/code/run.py`).  Backslash, newline, carriage return and bytes that are
no UTF-8 are written as `\xNN`.  Directories aren't listed.  This module reads and writes no files.
"""

from reprobridge_launcher import cparts
from reprobridge_launcher.fields import FormatError, shown
from reprobridge_launcher.record import Record

HEADER = "reprobridge.inventory/1"
"""First line of the text form."""
LINK = "link"
"""What stands in place of a mode for a symbolic link."""


class Entry(Record):
    """One file or symbolic link."""

    path: "str"
    """Absolute path in the image; undecodable bytes as surrogate escapes."""
    mode: "str"
    """Four octal digits (permission bits), or `link`."""
    sha256: "str"
    """Digest of the content, or of a link's target (UTF-8 with surrogate escapes), 64 hex digits."""


def link_entry(path: str, target: str) -> Entry:
    """Make the entry of a symbolic link."""
    return Entry(path=path, mode=LINK, sha256=link_digest(target))


def file_entry(path: str, mode: int, sha256: str) -> Entry:
    """Make the entry of a file with the permission bits of `mode`."""
    return Entry(path=path, mode=shown_mode(mode), sha256=sha256)


def shown_mode(mode: int) -> str:
    """Permission bits as four octal digits."""
    return "{:04o}".format(mode & 0o7777)


def write(entries: "list[Entry]") -> str:
    """Text form of the entries, sorted by path bytes."""
    return HEADER + "\n" + lines(entries)


def read(text: str) -> "list[Entry]":
    """Parse the text form; FormatError names the line."""
    found = text.split("\n")
    if found[0] != HEADER:
        raise FormatError("inventory line 1", HEADER, shown(found[0]))
    if found[-1] != "":
        raise FormatError("inventory's end", "a newline", shown(found[-1]))
    return [_parse_line(line, number) for number, line in enumerate(found[1:-1], 2)]


def tree_digest(entries: "list[Entry]", root: str) -> str:
    """SHA-256 (hex) of a tree: its entries' lines, with paths relative to `root`, sorted.

    Independent of where the tree lies, of times and of owners.  Of the mode only the owner's executable bit
    counts (0755 or 0644), so that a copy made under another umask has the same digest.
    """
    prefix = root.rstrip("/") + "/"
    relative = []
    for entry in entries:
        if not entry.path.startswith(prefix):
            raise ValueError("{} isn't below {}".format(entry.path, root))
        relative.append(Entry(path=entry.path[len(prefix) :], mode=_plain(entry.mode), sha256=entry.sha256))
    digest = cparts.sha256()
    digest.update(lines(relative).encode("ascii", "backslashreplace"))
    return digest.hexdigest()


def _plain(mode: str) -> str:
    if mode == LINK:
        return mode
    return "0755" if int(mode, 8) & 0o100 else "0644"


def lines(entries: "list[Entry]") -> str:
    """The lines of the text form, sorted by path bytes."""
    ordered = sorted(entries, key=lambda entry: entry.path.encode("utf-8", "surrogateescape"))
    return "".join(line(entry.path, entry.mode, entry.sha256) for entry in ordered)


def line(path: str, mode: str, sha256: str) -> str:
    """One line of the text form, by the fields of an `Entry`."""
    return "{} {} {}\n".format(mode, sha256, _escape(path))


def link_digest(target: str) -> str:
    """Digest that stands for a symbolic link: SHA-256 (hex) of its target, surrogate escapes allowed."""
    digest = cparts.sha256()
    digest.update(target.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _parse_line(line: str, number: int) -> Entry:
    parts = line.split(" ", 2)
    if len(parts) != 3 or len(parts[1]) != 64 or not (parts[0] == LINK or _is_mode(parts[0])):
        raise FormatError("inventory line {}".format(number), "mode, SHA-256 and path", shown(line))
    try:
        path = _unescape(parts[2])
    except ValueError:
        raise FormatError("inventory line {}".format(number), "\\x and two digits", shown(line)) from None
    return Entry(path=path, mode=parts[0], sha256=parts[1])


def _is_mode(word: str) -> bool:
    return len(word) == 4 and all(digit in "01234567" for digit in word)


def _escape(path: str) -> str:
    if path.isprintable() and "\\" not in path:
        return path
    raw = path.replace("\\", "\\x5c").replace("\n", "\\x0a").replace("\r", "\\x0d")
    return "".join("\\x%02x" % (ord(c) - 0xDC00) if "\udc80" <= c <= "\udcff" else c for c in raw)


def _unescape(path: str) -> str:
    head, *rest = path.split("\\x")
    if not rest:
        return path
    raw = bytearray(head.encode("utf-8", "surrogateescape"))
    for piece in rest:
        raw.append(int(piece[:2], 16))
        raw += piece[2:].encode("utf-8", "surrogateescape")
    return raw.decode("utf-8", "surrogateescape")
