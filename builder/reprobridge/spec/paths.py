"""Shapes of paths: below the code, and of files and folders beside reprobridge.yaml.

A path is written with slashes, relative, without `..`; a leading `./` and a trailing slash mean nothing.
"""

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Literal

from reprobridge.spec.nodes import Node, Scalar, is_null, shown
from reprobridge.spec.reading import Reading
from reprobridge.spec.shapes import Invalid, Schema, Shape

LONGEST = 4096
"""Characters of a path or glob: no system opens a longer one."""

_SCHEMA: Schema = {"type": ["string", "number", "boolean"], "pattern": r"^[^/~\\][^\\]*$"}

_GLOB = "*?["
"""Characters that make a path a pattern."""


def relative_path(node: Node) -> PurePosixPath | None:
    """The path that a node spells, in its shortest form; None where it is none that stays below its folder."""
    if not isinstance(node, Scalar) or is_null(node) or _is_forbidden(node.text):
        return None
    path = PurePosixPath(node.text)
    escapes = path.is_absolute() or ".." in path.parts or node.text.startswith("~")
    return path if path.parts and not escapes else None


def _is_forbidden(text: str) -> bool:
    """Whether the text is too long, or a character of it a backslash, a control character or a surrogate."""
    if len(text) > LONGEST:
        return True
    if text.isprintable():  # as nearly every path is; making the pattern takes 1 ms
        return "\\" in text
    return re.search(r"[\x00-\x1f\x7f\ud800-\udfff\\]", text) is not None


def _too_long(node: Node) -> str | None:
    """What is said of a path that is too long; None for any other."""
    length = len(node.text) if isinstance(node, Scalar) else 0
    return f"{length} characters, {LONGEST} are allowed" if length > LONGEST else None


def _slashes(node: Node) -> str | None:
    """What is advised for a path of Windows; None for any other."""
    windows = isinstance(node, Scalar) and "\\" in node.text
    return "separate folders by /, on every system" if windows else None


class RelativePath(Shape[PurePosixPath]):
    """A path below some folder; nothing is opened."""

    wanted = "a relative path without .."

    def read(self, node: Node, reading: Reading) -> PurePosixPath | Literal[Invalid.INVALID]:
        """The path in its shortest form."""
        return relative_path(node) or self.refuse(node, reading, _slashes(node), _too_long(node))

    def schema(self) -> Schema:
        """A string that does not start with a slash."""
        return dict(_SCHEMA)


class NamedFile(RelativePath):
    """A file of the artifact's own, below its folder; its bytes become part of the spec."""

    wanted = "the path of a file below the artifact's folder"

    def __init__(self, check: Callable[[Node, bytes, Reading], object]) -> None:
        self._check = check

    def read(self, node: Node, reading: Reading) -> PurePosixPath | Literal[Invalid.INVALID]:
        """The path, once its file was read and checked."""
        path = super().read(node, reading)
        if isinstance(path, Invalid) or (data := reading.load(node, path)) is None:
            return Invalid.INVALID
        before = reading.count
        self._check(node, data, reading)
        return path if reading.count == before else Invalid.INVALID


class NamedFolder(RelativePath):
    """A folder below the artifact's folder."""

    wanted = "the path of a folder below the artifact's folder, not that folder itself"

    def read(self, node: Node, reading: Reading) -> PurePosixPath | Literal[Invalid.INVALID]:
        """The path, if there is such a folder."""
        path = super().read(node, reading)
        if isinstance(path, Invalid) or (real := reading.existing(node, path)) is None:
            return Invalid.INVALID
        if not real.is_dir() or real == reading.folder.resolve():
            return self.refuse(node, reading, found=f"{shown(path)}, which is none")
        return path


class PathText(Shape[str]):
    """A relative path or glob that stays a text."""

    wanted = "a relative path or pattern without .."

    def __init__(self, hint: str | None = None) -> None:
        self._hint = hint

    def read(self, node: Node, reading: Reading) -> str | Literal[Invalid.INVALID]:
        """The path in its shortest form, as text."""
        path = relative_path(node)
        return (
            path.as_posix()
            if path
            else self.refuse(node, reading, _slashes(node) or self._hint, _too_long(node))
        )

    def schema(self) -> Schema:
        """A string that does not start with a slash."""
        return dict(_SCHEMA)


class PlainPath(PathText):
    """A relative path that is taken as it stands and stays a text: a glob, which would match nothing, is refused."""

    wanted = "a relative path without .."

    def read(self, node: Node, reading: Reading) -> str | Literal[Invalid.INVALID]:
        """The path in its shortest form, as text."""
        if isinstance(node, Scalar) and any(sign in node.text for sign in _GLOB):
            return self.refuse(node, reading, "patterns are not followed here: write a line for each file")
        return super().read(node, reading)

    def schema(self) -> Schema:
        """A string that does not start with a slash and has none of a glob's characters."""
        return _SCHEMA | {"pattern": r"^[^/~\\*?\[][^\\*?\[]*$"}


PATH_TEXT = PathText()
"""A path or glob below the code."""
