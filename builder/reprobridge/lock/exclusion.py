"""Which files of a source never reach the tree: what the author excludes, and version control's own.

The last is dropped from what is published (archives, sdists). A folder is the author's: what stands in it is
part of the source unless excluded, and `validate` refuses an image with a history in it.

Globs are anchored at the tree's root and compared with whole paths: `*` and `?` stop at a slash, `**` as a
whole component stands for any number of folders, `[…]` is a set of characters, hidden files are like all
others. A glob that names a folder excludes everything below it: `results`, `results/` and `results/**` mean
the same for a folder `results`.
"""

import re
from collections.abc import Iterable

VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr", ".jj", "_darcs"})
"""Names, in any case, of what version control keeps, at any depth, be they folders, files or links."""


class Exclusion:
    """The globs of one reading of one source; remembers which of them matched something."""

    def __init__(self, globs: Iterable[str] = (), *, history: bool = False) -> None:
        """`history`: whether version control's own files are part of the tree."""
        self._history = history
        plain = [glob.removeprefix("./").strip("/") for glob in globs]
        self._any = _any_of(plain)
        self._any_folder = _any_of([glob.removesuffix("/**") for glob in plain])
        self._unused = {glob: _expression(glob) for glob in plain}

    def covers(self, path: str) -> bool:
        """Whether a file or link with this path is not part of the tree."""
        if not self._history and is_version_control(path):
            return True
        if self._any is None or not self._any.fullmatch(path):
            return False
        self._use(path)
        return True

    def covers_folder(self, path: str) -> bool:
        """Whether nothing below this folder is part of the tree, so that nobody needs to look into it."""
        if not self._history and is_version_control(path):
            return True
        if self._any_folder is None or not self._any_folder.fullmatch(path):
            return False
        self._use(f"{path}/x")
        return True

    @property
    def unused(self) -> tuple[str, ...]:
        """Globs that have matched nothing so far, in the author's order: most likely mistyped."""
        return tuple(self._unused)

    def _use(self, path: str) -> None:
        self._unused = {
            glob: expression
            for glob, expression in self._unused.items()
            if not re.fullmatch(expression, path)
        }


def is_version_control(path: str) -> bool:
    """Whether any component of a path is version control's own."""
    return not VERSION_CONTROL.isdisjoint(path.casefold().split("/"))


def _any_of(globs: list[str]) -> re.Pattern[str] | None:
    return re.compile("|".join(map(_expression, globs))) if globs else None


def _expression(glob: str) -> str:
    """The glob as a regular expression for whole paths, and for everything below them.

    What stands between two stars is taken where it first fits, for good (atomic groups): nothing is gained by a later
    place, and a hostile glob must not make trying all of them take for ever.
    """
    segments: list[list[str]] = [[]]
    for part in glob.split("/"):
        if part == "**":
            segments.append([])
        else:
            segments[-1].append(_component(part))
    first, *middle, last = [[], *segments] if len(segments) == 1 else segments
    text = "".join(f"{component}/" for component in first)
    text += "".join(f"(?>(?:[^/]+/)*?{'/'.join(segment)}/)" for segment in middle if segment)
    if len(segments) > 1:
        text += "(?:.+/)?" if last else ".+"
    return f"(?s:{text}{'/'.join(last)}(?:/.*)?)"


def _component(part: str) -> str:
    pieces, position = [""], 0
    while position < len(part):
        character = part[position]
        closing = part.find("]", position + 2)
        if character == "*":
            pieces.append("")
        elif character == "[" and closing > 0:
            pieces[-1] += _character_set(part[position + 1 : closing])
            position = closing
        else:
            pieces[-1] += "[^/]" if character == "?" else re.escape(character)
        position += 1
    first, *middle, last = ["", *pieces] if len(pieces) == 1 else pieces
    text = first + "".join(f"(?>[^/]*?{piece})" for piece in middle if piece)
    return f"{text}{'[^/]*' if len(pieces) > 1 else ''}{last}"


def _character_set(inner: str) -> str:
    negated = inner[0] in "!^"
    members = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner[1:] if negated else inner)
    # A range that runs backwards holds nothing, as in the shell; re would refuse it.
    members = re.sub(r"(?s)(.)-(.)", lambda pair: pair[0] if pair[1] <= pair[2] else "", members)
    if not members:
        return "[^/]" if negated else r"(?!)"
    return f"(?!/)[{'^' if negated else ''}{members}]"
