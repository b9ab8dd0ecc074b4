"""The pushes that are compared: what stands ready before them, and one round of all of them.

Everything starts from an empty registry and a store that has never pushed. Papers are built and validated, and a
key is made, before anything is timed.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.builders.manifests import find_in_layout
from benchmarks.cases import PackageSet
from benchmarks.measure import Cost, Invocation, measure, run
from benchmarks.papers import VERSION, Paper
from benchmarks.registry import Registry, own_registry
from benchmarks.rig import Prepared, Settings, prepare

SKOPEO, OURS = "push, skopeo", "push, reprobridge"
"""Rows that are compared with each other."""


@dataclass(frozen=True, slots=True)
class Push:
    """One command of one round."""

    title: str
    """Its row."""
    cost: Cost
    """What it cost; the registry's own work is not counted."""
    moved: int | None
    """Bytes of layers and attachments that went to the registry; None where nobody says."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """Two papers that may be published, and a registry."""

    prepared: Prepared
    """Papers and environment."""
    registry: Registry
    """Empty at the beginning of each round."""
    ready: Path
    """A store with both images and their reports."""
    layout: Path
    """The first image for skopeo."""
    key: Path
    """Signs."""
    size: int
    """Bytes of the first image's layers."""

    def round(self) -> Iterator[Push]:
        """Each command once."""
        self._begin()
        yield self._skopeo()
        self._begin()
        first, second = self.prepared.papers.first, self.prepared.papers.second
        yield self._publish(OURS, first, "one")
        yield self._publish("the same again", first, "one")
        yield self._publish("a second paper", second, "two")
        shutil.rmtree(self._store)
        known = ["--known", self._at("one"), "--known-key", str(self.key.with_suffix(".pub"))]
        cost, _ = measure(self._command("build", first, *known))
        yield Push("an empty store, all layers known: build", cost, None)
        yield self._publish(
            "an empty store, all layers known: publish", first, "three", "--proof-from", self._at("one")
        )

    @property
    def _store(self) -> Path:
        return self.prepared.folder / "publishing"

    def _at(self, repository: str) -> str:
        return f"{self.registry.address}/{repository}"

    def _begin(self) -> None:
        self.registry.reset()
        shutil.rmtree(self._store, ignore_errors=True)
        run(self._invocation(["cp", "-a", "--link", str(self.ready), str(self._store)]))

    def _skopeo(self) -> Push:
        words = ["copy", "--quiet", "--preserve-digests", "--dest-tls-verify=false"]
        places = [f"oci:{self.layout}:{VERSION}", f"docker://{self._at('one')}:{VERSION}"]
        cost, _ = measure(self._invocation(["skopeo", *words, *places]))
        return Push(SKOPEO, cost, self.size)

    def _publish(self, title: str, paper: Paper, repository: str, *options: str) -> Push:
        words = [self._at(repository), "--key", str(self.key), "--accept-unmeasured", "--json", *options]
        cost, output = measure(self._command("publish", paper, *words))
        return Push(title, cost, json.loads(output)["bytes"])

    def _command(self, verb: str, paper: Paper, *words: str) -> Invocation:
        return self._invocation(_reprobridge(verb, paper, self._store, *words))

    def _invocation(self, argv: list[str]) -> Invocation:
        return Invocation(argv=argv, environment=self.prepared.environment)


@contextmanager
def open_room(package_set: PackageSet, settings: Settings) -> Iterator[Room]:
    """Everything that the pushes need, below the settings' folder; nothing of it is timed."""
    prepared = prepare(package_set, settings)
    environment, papers = prepared.environment, prepared.papers
    layout, key = prepared.folder / "layout", prepared.folder / "signing.key"

    def ours(verb: str, paper: Paper, *words: str) -> None:
        settings.say(f"{package_set.name}: {verb} {paper.name}")
        argv = _reprobridge(verb, paper, prepared.based, *words)
        run(Invocation(argv=argv, environment=environment))

    ours("build", papers.first, "--output", f"oci:{layout}")
    for paper in (papers.first, papers.second):
        ours("validate", paper)
    words = [sys.executable, "-m", "reprobridge", "keygen", "--output", str(key.with_suffix(""))]
    run(Invocation(argv=words, environment=environment))
    _, layers = find_in_layout(layout, VERSION)
    with own_registry(prepared.folder / "registry") as registry:
        registry.keep()
        yield Room(
            prepared=prepared,
            registry=registry,
            ready=prepared.based,
            layout=layout,
            key=key,
            size=layers.size,
        )


def _reprobridge(verb: str, paper: Paper, store: Path, *words: str) -> list[str]:
    command = [sys.executable, "-m", "reprobridge", verb, str(paper.folder), *words]
    return [*command, "--store", str(store)]
