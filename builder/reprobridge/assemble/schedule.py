"""In which order things are made, and by how many processes.

Bytecode is compiled before everything else, all at once (`bytecode/room.py`).
Then work comes in three waves. First whatever depends on locked files only: each fragment of a layer of several,
and each layer of one. Then what needs facts or indexes of the first wave (system state, inventory).
Last the layers of several, which only chain fragments. Files arrive while the first wave is on.
One process is enough for little work; more are forked, before anything here starts a thread.
"""

import contextlib
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.assemble.model import Arrivals, Progress
from reprobridge.assemble.workshop import Workshop, bulk, is_derived
from reprobridge.digest import Digest
from reprobridge.frozen import frozen
from reprobridge.plan.model import (
    BuildPlan,
    BytecodeRecipe,
    DebRecipe,
    FragmentRecipe,
    LayerPlan,
    WheelRecipe,
)
from reprobridge.store.store import Store

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

COMPILING = "compiling bytecode"
"""The wave of compiling packages, for `Progress`: the only one in which nothing is done for a minute and more."""
SMALL = 4 << 20
"""Bytes of input below which a wave is done in this process: forking would take longer."""


@frozen
class Job:
    """One thing to make: a whole layer, or a fragment that layers will be chained of."""

    title: str
    """For people."""
    layer: LayerPlan | None
    """A layer, or None."""
    fragment: FragmentRecipe | None
    """A fragment, or None."""

    def inputs(self) -> tuple[Digest, ...]:
        """Locked files that must be in the store before."""
        recipes = (self.fragment,) if self.fragment else self.layer.parts if self.layer else ()
        return tuple(digest for recipe in recipes for digest in _locked(recipe))

    def bulk(self) -> int:
        """Bytes of its locked files: how long it may take."""
        recipe = self.fragment or (self.layer.parts[0] if self.layer else None)
        return bulk(recipe) if recipe else 0


def missing_jobs(
    plan: BuildPlan, workshop: Workshop, *, thorough: bool
) -> tuple[list[Job], list[Job], list[Job]]:
    """The three waves of what the store does not hold; empty where nothing is missing.

    `thorough`: what is known of each part of a finished layer is looked for too; it is seldom gone.
    """
    first: dict[Digest, Job] = {}
    second: dict[Digest, Job] = {}
    chained: list[Job] = []
    for layer in plan.layers:
        present = workshop.known_layer(layer) is not None
        if present and not (thorough and any(workshop.known_fragment(part) is None for part in layer.parts)):
            continue
        if len(layer.parts) == 1:
            wave = second if is_derived(layer.parts[0]) else first
            wave[layer.key()] = Job(layer.title, layer, None)
            continue
        for part in layer.parts:
            if not workshop.has_fragment_bytes(part):
                wave = second if is_derived(part) else first
                wave[part.key()] = Job(f"{layer.title}: {part.kind}", None, part)
        chained.append(Job(layer.title, layer, None))
    return list(first.values()), list(second.values()), chained


def uncompiled(plan: BuildPlan, workshop: Workshop, *, thorough: bool) -> list[BytecodeRecipe]:
    """The recipes of bytecode for which something has to be compiled before they can be converted."""
    found = []
    for layer in plan.layers:
        recipes = [part for part in layer.parts if isinstance(part, BytecodeRecipe)]
        present = bool(recipes) and workshop.known_layer(layer) is not None
        for part in recipes:
            if present:
                wanted = thorough and workshop.known_fragment(part) is None
            else:
                wanted = len(layer.parts) == 1 or not workshop.has_fragment_bytes(part)
            if wanted and not workshop.has_compiled(part):
                found.append(part)
    return found


class Scheduler:
    """Does jobs, here or in worker processes."""

    def __init__(self, workshop: Workshop, arrivals: Arrivals, progress: Progress, workers: int) -> None:
        """`workshop`: does what is little, and says what is lacking; worker processes have one each."""
        self._workshop = workshop
        self._store = workshop.store
        self._arrivals = arrivals
        self._progress = progress
        self._workers = workers

    def run(self, plan: BuildPlan, *, thorough: bool = False) -> list[Job]:
        """Make everything that the plan needs and the store lacks; gives what was made."""
        self._compile(uncompiled(plan, self._workshop, thorough=thorough))
        waves = missing_jobs(plan, self._workshop, thorough=thorough)
        for title, jobs in zip(("converting", "deriving", "chaining"), waves, strict=True):
            if jobs:
                self._progress.begin(title, len(jobs))
                self._do(jobs)
        return [job for jobs in waves for job in jobs]

    def _compile(self, recipes: list[BytecodeRecipe]) -> None:
        if recipes:
            packages = sum(len(recipe.of) for recipe in recipes)
            self._progress.begin(COMPILING, packages)
            self._arrivals.compile(recipes, self._store)
            for _ in range(packages):
                self._progress.step(COMPILING)

    def _do(self, jobs: list[Job]) -> None:
        heavy = sum(job.bulk() for job in jobs) > SMALL
        if self._workers > 1 and len(jobs) > 1 and heavy:
            from reprobridge.system.workers import can_have_workers

            if can_have_workers():
                self._do_side_by_side(jobs)
                return
        with contextlib.closing(self._ready(jobs)) as ready:
            for job in ready:
                _do(job, self._workshop)
                self._progress.step(job.title)

    def _do_side_by_side(self, jobs: list[Job]) -> None:
        from reprobridge.store.prune import sweep
        from reprobridge.system.workers import workers

        try:
            with workers(min(self._workers, len(jobs))) as pool:
                self._spread(jobs, pool)
        except BaseException:
            sweep(self._store)
            raise

    def _spread(self, jobs: list[Job], pool: "Executor") -> None:
        from concurrent.futures import as_completed

        waiting: dict[Future[None], Job] = {}
        with contextlib.closing(self._ready(jobs)) as ready:
            for job in ready:
                waiting[pool.submit(do, self._store.root, job, elsewhere=self._workshop.elsewhere)] = job
        for future in as_completed(waiting):
            future.result()
            self._progress.step(waiting[future].title)

    def _ready(self, jobs: list[Job]) -> Generator[Job]:
        """Each job as soon as its files are there; the biggest of those that are there first."""
        waiting: list[tuple[Job, set[Digest]]] = []
        for job in sorted(jobs, key=Job.bulk, reverse=True):
            lacking = {digest for digest in job.inputs() if not self._store.has(digest)}
            if lacking:
                waiting.append((job, lacking))
            else:
                yield job
        wanted = list(dict.fromkeys(digest for _, lacking in waiting for digest in sorted(lacking)))
        if not wanted:
            return
        with contextlib.closing(self._arrivals.bring(wanted)) as arrivals:
            for arrived in arrivals:
                for job, lacking in waiting:
                    if arrived in lacking:
                        lacking.discard(arrived)
                        if not lacking:
                            yield job


def do(root: Path, job: Job, *, elsewhere: bool) -> None:
    """Do one job in a worker process."""
    _do(job, Workshop(Store(root), elsewhere=elsewhere))


def _do(job: Job, workshop: Workshop) -> None:
    if job.layer is not None:
        workshop.make_layer(job.layer)
    if job.fragment is not None:
        workshop.make_fragment(job.fragment)


def _locked(recipe: FragmentRecipe) -> tuple[Digest, ...]:
    match recipe:
        case WheelRecipe():
            return (recipe.wheel.sha256,)
        case DebRecipe():
            return (recipe.deb.sha256,)
        case _:
            return ()
