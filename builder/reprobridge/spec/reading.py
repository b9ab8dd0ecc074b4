"""What is gathered while one reprobridge.yaml is read: its problems and the bytes of the files that it names.

Shapes report here and go on, so that an author sees everything that is wrong at once.
Named files are opened through `named.py` only.
"""

from collections.abc import Callable, Collection, Sequence
from pathlib import Path, PurePosixPath

from reprobridge.errors import Problem
from reprobridge.spec.merge import RESOLVE, UNMERGED, both_sides, merge_mark
from reprobridge.spec.named import LARGEST_FILE, OutsideError, read_regular, real_path
from reprobridge.spec.nodes import Node, Scalar, printable, shown
from reprobridge.wording import nearest

_GUESSES = 100


class Reading:
    """One pass over one specification."""

    def __init__(self, folder: Path, templates: Collection[str]) -> None:
        self.folder = folder
        """The artifact's folder."""
        self.templates = tuple(sorted(templates))
        """Names of the base systems that this release knows."""
        self.files: dict[PurePosixPath, bytes] = {}
        """Files that the spec names, by their path below the folder."""
        self._problems: list[Problem] = []
        self._closer_looks: list[Callable[[], object]] = []

    def report(self, node: Node, expected: str, found: str, hint: str | None = None) -> None:
        """Note that something at this node is wrong."""
        self.add(Problem(node.place or "reprobridge.yaml", expected, found, hint, node.line))

    def add(self, problem: Problem) -> None:
        """Note a problem."""
        self._problems.append(problem)

    @property
    def count(self) -> int:
        """How many problems were found so far."""
        return len(self._problems)

    def guess(self, word: str, known: Sequence[str]) -> str | None:
        """The known word that was probably meant.

        A hostile file must not cost minutes: long words, and all words after so many problems that nobody reads the
        hints, get none.
        """
        return None if self.count >= _GUESSES else nearest(word, known[:_GUESSES])

    def look_closer(self, look: Callable[[], object]) -> None:
        """Have something looked at when the end is an error anyway: what takes time, and a later stage looks at."""
        self._closer_looks.append(look)

    def all_problems(self) -> list[Problem]:
        """Everything that is wrong, in the order of the file, after the closer looks."""
        while self._closer_looks:
            self._closer_looks.pop()()
        return sorted(self._problems, key=lambda problem: problem.line or 0)

    def existing(self, node: Node, path: PurePosixPath) -> Path | None:
        """The file or folder of that name, proven to lie below the artifact's folder; None after a report."""
        try:
            return Path(real_path(str(self.folder), str(path)))
        except OutsideError:
            self.report(
                node, "a path below the artifact's folder", f"{shown(path)}, a link that leads out of it"
            )
        except OSError:
            self.report(node, "a path that exists below the artifact's folder", f"no {shown(path)}")
        return None

    def load(self, node: Node, path: PurePosixPath) -> bytes | None:
        """Bytes of a named file, kept in `files`; None after a report."""
        if path in self.files:
            return self.files[path]
        if (real := self.existing(node, path)) is None:
            return None
        try:
            data = read_regular(str(real))
        except OSError as error:
            self.report(node, "a file that can be read", f"{shown(path)}: {error.strerror}")
            return None
        if data is None or len(data) > LARGEST_FILE:
            found = f"{shown(path)}, larger than that" if data else f"{shown(path)}, which is none"
            self.report(node, f"a regular file of at most {LARGEST_FILE >> 20} MiB", found)
            return None
        self.files[path] = data
        return data

    def text(self, node: Node, data: bytes) -> str | None:
        """A named file's bytes as UTF-8 text that no merge left open; None after a report."""
        if mark := merge_mark(data):
            self.report(node, UNMERGED, both_sides(_line(mark, node)), RESOLVE)
            return None
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            place = _line(data.count(b"\n", 0, error.start) + 1, node)
            self.report(node, "a file in UTF-8", f"the byte 0x{data[error.start]:02x} in {place}")
            return None


def _line(number: int, node: Node) -> str:
    """A line of the file that the node names, for a message that tells the node's own line too."""
    return f"line {number} of {printable(node.text)}" if isinstance(node, Scalar) else f"line {number}"
