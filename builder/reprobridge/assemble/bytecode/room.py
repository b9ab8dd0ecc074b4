"""Compiling packages to bytecode by the image's own interpreter, on the image's own base system, without network.

Only the target's interpreter can write what it will read, so it runs in the sandbox, on the recipes' `ground`; the
packages themselves are not installed there, since compiling runs nothing of them. One file of ours does it
(`system/bytecode_frontend.py`), twice; what both gave (`passes.py`) is kept.
All recipes of an image are compiled at once, since starting the interpreter takes longer than compiling a small one.
"""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from reprobridge.assemble.build_room import leaving_ours, made_layers, plan_of
from reprobridge.assemble.bytecode.convert import undivided
from reprobridge.assemble.bytecode.passes import Passes
from reprobridge.assemble.bytecode.sources import library_sources, wheel_sources
from reprobridge.assemble.model import Arrivals
from reprobridge.assemble.workshop import Workshop
from reprobridge.digest import Digest
from reprobridge.errors import AssembleError, SandboxError
from reprobridge.frozen import frozen
from reprobridge.lock.doors import Doors
from reprobridge.plan.model import BytecodeRecipe, WheelRecipe
from reprobridge.sandbox.choose import choose, every_sandbox
from reprobridge.sandbox.model import Layer, Sandbox, Shell
from reprobridge.store.store import Store
from reprobridge.system import bytecode_frontend, files

TIMEOUT = 3 * 3600
"""Seconds after which compiling is given up."""

_PLACE = "/build"
_SOURCES = f"{_PLACE}/sources"


def compile_in_room(
    recipes: Sequence[BytecodeRecipe], store: Store, arrivals: Arrivals, doors: Doors
) -> None:
    """Have what is compiled for these recipes in `store`; rooms are made in the store of `doors`.

    Raises SandboxError where no sandbox works, AssembleError where compiling fails, and what making layers raises.
    """
    sandbox = _sandbox(doors)
    wheels = {part.wheel.sha256 for one in recipes for part in one.of if isinstance(part, WheelRecipe)}
    if lacking := [digest for digest in sorted(wheels) if not doors.store.has(digest)]:
        for _ in arrivals.bring(lacking):
            pass
    grounds: dict[tuple[Digest, ...], list[BytecodeRecipe]] = {}
    for recipe in recipes:
        grounds.setdefault(tuple(layer.key() for layer in recipe.ground), []).append(recipe)
    for alike in grounds.values():
        layers = made_layers(plan_of(alike[0].ground), arrivals, doors.store)
        CompilingRoom(sandbox=sandbox, layers=layers, doors=doors).compile(alike, store)


def _sandbox(doors: Doors) -> Sandbox:
    try:
        every = every_sandbox(doors.store, doors.processes, as_root=os.geteuid() == 0)
        return choose(every, doors.sandbox)
    except SandboxError as error:
        raise SandboxError(
            f"{error.message}, and bytecode is made in it by the image's own interpreter",
            where="environment.python.bytecode",
            expected=error.expected,
            found=error.found,
            hint=error.hint
            or "build where a sandbox works; or take `bytecode` out of reprobridge.yaml and lock again, for an image "
            "that starts more slowly",
        ) from error


@frozen(kw_only=True)
class CompilingRoom:
    """Where an interpreter runs."""

    sandbox: Sandbox
    """Runs it."""
    layers: list[Layer]
    """What it runs on."""
    doors: Doors
    """The store that holds the packages, and where scratch files go."""

    def compile(self, recipes: Sequence[BytecodeRecipe], store: Store) -> None:
        """Compile recipes of this ground."""
        scratch = self.doors.scratch
        with files.scratch_folder(scratch) as given, files.shared_folder(scratch) as work:
            sources = _Sources(recipes, Workshop(self.doors.store))
            files.write_stream(given / "sources", sources.gather())
            job = {"work": f"{_PLACE}/work", "sources": sources.rows}
            files.write_file(given / "job.json", json.dumps(job).encode())
            files.write_file(given / "frontend.py", Path(bytecode_frontend.__file__).read_bytes())
            self._run(recipes[0].interpreter, given, work)
            with Passes.of(work, len(sources.rows)) as passes:
                for recipe, numbers in zip(recipes, sources.numbers, strict=True):
                    passes.keep(recipe, numbers, store)

    def _run(self, interpreter: str, given: Path, work: Path) -> None:
        shell = Shell(
            argv=(interpreter, "-sSB", f"{_PLACE}/frontend.py", f"{_PLACE}/job.json"),
            environment={"LC_ALL": "C.UTF-8"},
            readonly={f"{_PLACE}/{name}": given / name for name in ("frontend.py", "job.json", "sources")},
            writable={f"{_PLACE}/work": work},
            timeout=TIMEOUT,
        )
        ended = self.sandbox.run(self.layers, leaving_ours(shell, self.sandbox))
        if ended.returncode != 0 or ended.timed_out:
            raise AssembleError(
                "the image's interpreter cannot compile its packages here",
                where=interpreter,
                expected=f"an end within {TIMEOUT} seconds" if ended.timed_out else "exit status 0",
                found=ended.failure,
                hint="build where there is more memory and time; where that fails too, take `bytecode` out of "
                "reprobridge.yaml and lock again",
            )


class _Sources:
    """All sources of one job: those of wheels one behind the other in a file, Debian's where they stand."""

    def __init__(self, recipes: Sequence[BytecodeRecipe], workshop: Workshop) -> None:
        self._recipes, self._workshop = recipes, workshop
        self.rows: list[tuple[str, int, int | None, str]] = []
        """What the frontend is told of each: file, place in it, length, and place in the image."""
        self.numbers: list[dict[str, int]] = []
        """Image path and number of each source, for each recipe; complete when all is gathered."""

    def gather(self) -> Iterator[bytes]:
        """The bytes of the wheels' sources."""
        place = 0
        for recipe in self._recipes:
            self.numbers.append({})
            for part in undivided(recipe).of:
                if not isinstance(part, WheelRecipe):
                    for path in library_sources(self._workshop.index(part)):
                        self._add(path, (f"/{path}", 0, None))
                    continue
                for path, data in wheel_sources(part, self._workshop.path(part.wheel.sha256)):
                    self._add(path, (_SOURCES, place, len(data)))
                    place += len(data)
                    yield data

    def _add(self, path: str, held: tuple[str, int, int | None]) -> None:
        self.numbers[-1][path] = len(self.rows)
        self.rows.append((*held, f"/{path}"))
