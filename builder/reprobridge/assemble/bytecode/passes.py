"""What two compilations of the same sources left: compared, and kept where they agree.

The same interpreter gives the same bytes whatever its hash seed and whatever it compiled before: that was measured,
and is no promise of its makers. So a file that comes out differently is left out, by name, rather than to give
another image on another machine.
"""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self

from reprobridge.assemble.bytecode.convert import RESULT as COMPILED
from reprobridge.assemble.bytecode.convert import UNSTABLE, Compiled, compiled_key
from reprobridge.errors import AssembleError
from reprobridge.frozen import frozen
from reprobridge.plan.bytecode import bytecode_path, bytecode_tag
from reprobridge.plan.model import BytecodeRecipe
from reprobridge.store.store import Store
from reprobridge.system import files
from reprobridge.system.bytecode_frontend import BYTECODE, PASSES, RESULT

_LONGEST_ANSWER = 256 << 20


@frozen
class Pass:
    """One compilation."""

    tag: str
    """What the interpreter calls its bytecode."""
    made: list[Any]
    """For each source the place and length of its bytecode, or why there is none."""
    bytecode: BinaryIO
    """All bytecode."""

    def piece(self, number: int) -> bytes:
        """The bytecode of a source."""
        start, length = self.made[number]
        self.bytecode.seek(start)
        return self.bytecode.read(length)


@frozen
class Passes:
    """Both of them."""

    first: Pass
    """Forwards."""
    second: Pass
    """Backwards, with another hash seed."""

    @classmethod
    @contextlib.contextmanager
    def of(cls, work: Path, sources: int) -> Iterator[Self]:
        """What the frontend left in its folder, for so many sources. Raises AssembleError for anything else there."""
        with contextlib.ExitStack() as stack:
            yield cls(*(_read(work / name, sources, stack) for name in PASSES))

    def keep(self, recipe: BytecodeRecipe, numbers: Mapping[str, int], store: Store) -> None:
        """Keep what is compiled for a recipe; `numbers`: image path and number of each of its sources."""
        tags = list(dict.fromkeys([self.first.tag, self.second.tag]))
        if tags != [bytecode_tag(recipe.python)]:
            raise AssembleError(
                "the image's interpreter is another one than the lock says",
                where=recipe.interpreter,
                expected=bytecode_tag(recipe.python),
                found=" and ".join(tags),
            )
        problems = {path: self._problem(number) for path, number in numbers.items()}
        placed = {
            bytecode_path(path, recipe.python): number
            for path, number in numbers.items()
            if problems[path] is None
        }
        order = sorted(placed, key=str.encode)
        compiled = Compiled(
            files=tuple((path, self.first.made[placed[path]][1]) for path in order),
            left_out={f"/{path}": problem for path, problem in problems.items() if problem is not None},
        )
        with store.writer() as blob:
            blob.write(compiled.to_line())
            for path in order:
                blob.write(self.first.piece(placed[path]))
            store.remember(COMPILED, compiled_key(recipe), {"blob": str(blob.commit())})

    def _problem(self, number: int) -> str | None:
        """Why a source gets no bytecode; None where it does."""
        first, second = self.first.made[number], self.second.made[number]
        if isinstance(first, str) and first == second:
            return first
        if isinstance(first, str) or isinstance(second, str):
            return UNSTABLE
        return None if self.first.piece(number) == self.second.piece(number) else UNSTABLE


def _read(folder: Path, sources: int, stack: contextlib.ExitStack) -> Pass:
    """One pass, of which every piece is there in full: a short one would push all behind it out of place."""
    try:
        answer = json.loads(files.read_regular(folder / RESULT, _LONGEST_ANSWER))
        bytecode = stack.enter_context((folder / BYTECODE).open("rb"))
        tag, made = str(answer["tag"]), answer["made"]
        whole = len(made) == sources and all(isinstance(one, str) or _is_there(one, bytecode) for one in made)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise _unusable(folder, repr(error)) from error
    if not whole:
        raise _unusable(folder, "another number of them, or files that end too early")
    return Pass(tag, made, bytecode)


def _is_there(piece: tuple[int, int], bytecode: BinaryIO) -> bool:
    """Whether the file reaches to the end of this piece."""
    start, length = piece
    return 0 <= start <= start + length <= os.fstat(bytecode.fileno()).st_size


def _unusable(folder: Path, found: str) -> AssembleError:
    return AssembleError(
        "the image's interpreter left something else than it should",
        where=f"compiling {folder.name}",
        expected="the bytecode of each source, or why there is none",
        found=found,
        hint="see whether there is room on the disk, and build again",
    )
