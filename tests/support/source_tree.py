"""The repository's own files and modules, for the tests that hold the house's rules."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The repository's root."""


@dataclass(frozen=True)
class Module:
    """One Python file, parsed."""

    path: Path
    tree: ast.Module

    @property
    def place(self) -> str:
        """Path below the repository's root, with slashes."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def lines(self) -> int:
        """How long the file is."""
        return len(self.path.read_text().splitlines())


@cache
def modules(*folders: str) -> tuple[Module, ...]:
    """Every Python file below these folders of the repository, by path."""
    paths = sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))
    return tuple(Module(path, ast.parse(path.read_bytes(), str(path))) for path in paths)


@cache
def own_files() -> tuple[Path, ...]:
    """Every file that is or would be committed."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    names = sorted(name for name in output.decode().split("\0") if name)
    return tuple(path for name in names if (path := ROOT / name).is_file())


def own_texts() -> Iterator[tuple[str, str]]:
    """(place, text) of every own file that is UTF-8 text."""
    for path in own_files():
        try:
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
