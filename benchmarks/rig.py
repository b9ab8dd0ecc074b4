"""Setting everything up for one set, and running its rounds."""

import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.builders.docker import Docker
from benchmarks.builders.model import Builder
from benchmarks.builders.ours import Ours
from benchmarks.builders.umoci import Umoci
from benchmarks.cases import Case, PackageSet, orders, until
from benchmarks.engine import Engine
from benchmarks.figures import Run, Series
from benchmarks.measure import Cost, Invocation, measure, run
from benchmarks.papers import Paper, Papers, write_papers
from benchmarks.registry import own_registry
from benchmarks.wheels import collect

BUILDERS = ("reprobridge", "umoci", "docker")
"""Who can take part."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What the user chose."""

    work: Path
    """Everything that is made lies below; on a disk, and with hard links."""
    cache: Path
    """Wheels that are kept for the next time."""
    given: Path | None
    """A folder of wheels to use instead of the user's index."""
    rounds: int | None
    """How often each series is run; None: what the set says."""
    builders: Sequence[str]
    """Of `BUILDERS`."""
    uv: Path
    """The program."""
    say: Callable[[str], None]
    """Talk."""
    last: Case = Case.SECOND
    """The case after which a round ends."""


@dataclass(frozen=True, slots=True)
class _Entrant:
    """A builder, the papers that are its own to edit, and what it takes part in."""

    builder: Builder
    pristine: Papers
    papers: Papers
    cases: tuple[Case, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """What every builder starts from."""

    folder: Path
    """Of this set."""
    wheels: Path
    """The wheels of all of its papers."""
    papers: Papers
    """Locked."""
    layout: Path
    """The base as an OCI layout."""
    archive: Path
    """The base as a docker archive."""
    downloaded: Path
    """A store of ours that holds what the papers' locks name, and nothing that was made of it."""
    based: Path
    """The same with the base built."""
    environment: Mapping[str, str]
    """For every program: the wheels' folder is the only index."""


def prepare(package_set: PackageSet, settings: Settings) -> Prepared:
    """Collect wheels, write and lock papers, build the base. Nothing of it is timed."""
    folder = settings.work / package_set.name
    folder.mkdir()
    settings.say(f"{package_set.name}: collecting wheels")
    wheels = collect(package_set, settings.cache, settings.given, os.environ)
    environment = _environment(settings, wheels)
    papers = write_papers(folder / "papers", package_set)
    settings.say(f"{package_set.name}: locking, building the base")
    reprobridge = _Reprobridge(folder / "based", environment)
    for paper in papers:
        reprobridge.run("lock", paper)
        reprobridge.run("vendor", paper, "--to", str(folder / "vendored"))
        exported = reprobridge.run("lock", paper, "--export", "requirements.txt")
        paper.requirements.write_text(exported)
    downloaded = folder / "downloaded"
    shutil.copytree(reprobridge.store, downloaded, copy_function=os.link)
    layout, archive = folder / "base", folder / "base.tar"
    reprobridge.run("build", papers.base, "--output", f"oci:{layout}")
    reprobridge.run("build", papers.base, "--output", f"docker-archive:{archive}")
    return Prepared(
        folder=folder,
        wheels=wheels,
        papers=papers,
        layout=layout,
        archive=archive,
        downloaded=downloaded,
        based=reprobridge.store,
        environment=environment,
    )


@dataclass(frozen=True, slots=True)
class _Reprobridge:
    """Our command with a store."""

    store: Path
    environment: Mapping[str, str]

    def run(self, verb: str, paper: Paper, *options: str) -> str:
        argv = [sys.executable, "-m", "reprobridge", verb, str(paper.folder), "--store", str(self.store)]
        return run(Invocation(argv=[*argv, *options], environment=self.environment))


def run_set(package_set: PackageSet, prepared: Prepared, settings: Settings, engine: Engine | None) -> Series:
    """All rounds of a set, builders taking turns within each case."""
    rounds = settings.rounds or package_set.rounds
    with _entrants(prepared, settings, engine) as entrants:
        for name, entrant in entrants.items():
            settings.say(f"{package_set.name}: warming {name}")
            entrant.builder.begin(list(entrant.papers))
        runs: list[Run] = []
        floors: list[Cost] = []
        for number, order in enumerate(orders(list(entrants), rounds)):
            for case in until(settings.last):
                for name in order:
                    if case in entrants[name].cases:
                        runs.append(_turn(entrants[name], case, number))
                        _tell(settings, package_set, name, runs[-1])
            floors.append(_floor(prepared))
    wheels = _wheels_of(prepared)
    return Series(
        title=f"{package_set.name}: {package_set.title}",
        wheels=len(wheels),
        wheel_bytes=sum(wheel.stat().st_size for wheel in wheels),
        runs=tuple(runs),
        floors=tuple(floors),
    )


def _turn(entrant: _Entrant, case: Case, number: int) -> Run:
    papers, paper = entrant.papers, entrant.papers.first
    match case:
        case Case.COLD:
            shutil.copytree(entrant.pristine.first.folder, paper.folder, dirs_exist_ok=True)
            entrant.builder.reset()
        case Case.EDIT:
            paper.edit(f"edited in round {number}")
        case Case.ADD:
            paper = papers.added
        case Case.SECOND:
            paper = papers.second
        case Case.NOTHING:
            pass
    built = entrant.builder.build(paper, edited=case is Case.EDIT)
    return Run(case=case, columns=entrant.builder.columns, built=built)


def _tell(settings: Settings, package_set: PackageSet, name: str, done: Run) -> None:
    costs = ", ".join(f"{cost.wall:.2f} s ({cost.cpu:.2f} CPU)" for cost in done.built.costs)
    settings.say(f"{package_set.name}: {done.case.value}: {name}: {costs}")


def _floor(prepared: Prepared) -> Cost:
    argv = [sys.executable, "-m", "benchmarks.floor", str(prepared.wheels)]
    names = [wheel.name for wheel in _wheels_of(prepared)]
    return measure(Invocation(argv=[*argv, *names], environment=prepared.environment))[0]


def _wheels_of(prepared: Prepared) -> list[Path]:
    """The wheels of the first paper, by the names and versions that its requirements pin."""
    lines = prepared.papers.first.requirements.read_text().splitlines()
    pins = {tuple(line.split()[0].split("==")) for line in lines if "==" in line}
    return sorted(wheel for wheel in prepared.wheels.glob("*.whl") if _pin(wheel) in pins)


def _pin(wheel: Path) -> tuple[str, ...]:
    name, version = wheel.name.split("-")[:2]
    return name.lower().replace("_", "-").replace(".", "-"), version


# who takes part


@contextlib.contextmanager
def _entrants(prepared: Prepared, settings: Settings, engine: Engine | None) -> Iterator[dict[str, _Entrant]]:
    every = tuple(Case)
    with contextlib.ExitStack() as stack:
        found: dict[str, _Entrant] = {}
        if "reprobridge" in settings.builders:
            ours = {
                kind: Ours(
                    title=f"reprobridge, {kind}",
                    folder=_room(prepared, kind),
                    start=prepared.downloaded if kind == "cold base" else prepared.based,
                    environment=prepared.environment,
                    writes_layout=kind == "layout",
                )
                for kind in ("store", "layout", "cold base")
            }
            for kind, builder in ours.items():
                cases = (Case.COLD,) if kind == "cold base" else every
                found[kind] = _entrant(prepared, kind, builder, cases)
        if "umoci" in settings.builders:
            umoci = Umoci(
                folder=_room(prepared, "umoci"),
                base=prepared.layout,
                wheels=prepared.wheels,
                environment=prepared.environment,
            )
            found["umoci"] = _entrant(prepared, "umoci", umoci, every)
        if engine is not None:
            docker = Docker(
                folder=_room(prepared, "docker"),
                engine=engine,
                registry=stack.enter_context(own_registry(prepared.folder / "registry")),
                base=prepared.archive,
                wheels=prepared.wheels,
                uv=settings.uv,
                environment=prepared.environment,
            )
            found["docker"] = _entrant(prepared, "docker", docker, every)
        yield found


def _room(prepared: Prepared, name: str) -> Path:
    folder = prepared.folder / name
    folder.mkdir()
    return folder


def _entrant(prepared: Prepared, name: str, builder: Builder, cases: tuple[Case, ...]) -> _Entrant:
    """A builder with papers that it may edit."""
    own = prepared.folder / f"papers of {name}"
    shutil.copytree(prepared.folder / "papers", own)
    papers = (Paper(name=paper.name, folder=own / paper.folder.name) for paper in prepared.papers)
    return _Entrant(builder, prepared.papers, Papers(*papers), cases)


def _environment(settings: Settings, wheels: Path) -> dict[str, str]:
    """The user's, with the wheels' folder as the only index, and uv found first.

    Bytecode is kept, as for every installed program: without it each start compiles every module anew.
    """
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {
        **own,
        "PATH": f"{settings.uv.parent}:{os.environ['PATH']}",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(wheels),
    }
