"""What two compilations of the same sources left: compared, and kept where they agree.

The same interpreter gives the same bytes whatever its hash seed and whatever it compiled before: that was measured,
and is no promise of its makers. So a file that comes out differently is left out, by name, rather than to give
another image on another machine.
"""

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self

from reprobridge.assemble.bytecode import RESULT as COMPILED
from reprobridge.assemble.bytecode import UNSTABLE, Compiled, compiled_key
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
    def of(cls, work: Path) -> Iterator[Self]:
        """What the frontend left in its folder."""
        with contextlib.ExitStack() as stack:
            yield cls(*(_read(work / name, stack) for name in PASSES))

    def keep(self, recipe: BytecodeRecipe, numbers: Mapping[str, int], store: Store) -> None:
        """Keep what is compiled for a recipe; `numbers`: image path and number of each of its sources."""
        if {self.first.tag, self.second.tag} != {bytecode_tag(recipe.python)}:
            raise AssembleError(
                "the image's interpreter is another one than the lock says",
                where=recipe.interpreter,
                expected=bytecode_tag(recipe.python),
                found=self.first.tag,
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


def _read(folder: Path, stack: contextlib.ExitStack) -> Pass:
    answer = json.loads(files.read_regular(folder / RESULT, _LONGEST_ANSWER))
    bytecode = stack.enter_context((folder / BYTECODE).open("rb"))
    return Pass(str(answer["tag"]), answer["made"], bytecode)
