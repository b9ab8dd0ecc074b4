"""`docker build` with BuildKit and uv (`data/Dockerfile`), and `docker push` to a registry on this machine.

The engine keeps layers unpacked: what it compresses, it compresses when it pushes. So there are two columns.
A reset drops images and build cache, and keeps cache mounts; the registry keeps the base and forgets the rest
by starting anew. The daemon's work counts, the registry's doesn't: it stands for a machine elsewhere.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.builders.manifests import find_in_registry
from benchmarks.builders.model import Built
from benchmarks.engine import Engine
from benchmarks.measure import Invocation, measure, run
from benchmarks.papers import Paper
from benchmarks.registry import Registry

DATA = Path(__file__).parent.parent / "data"
"""Folder of the Dockerfiles."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Docker:
    """One engine, one registry."""

    folder: Path
    """For what is sent to the engine."""
    engine: Engine
    """Builds; nobody else uses it."""
    registry: Registry
    """Takes what is pushed."""
    base: Path
    """A docker archive of the base."""
    wheels: Path
    """The folder of wheels."""
    uv: Path
    """The program."""
    environment: Mapping[str, str]
    """Of the client."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Built, and pushed too."""
        return ("docker build", "docker build + push")

    def begin(self, papers: list[Paper]) -> None:
        """Load the base, fill the cache mount, and build everything once."""
        loaded = self._docker("load", "--quiet", "--input", str(self.base)).strip().rpartition(": ")[2]
        self._docker("tag", loaded, "benchmark-base")
        tools = self.folder / "uv-image"
        tools.mkdir()
        shutil.copy2(self.uv, tools / "uv")
        self._docker(*self._words("uv", "benchmark-uv", tools))
        self._docker(*self._words("warm", "benchmark-warm", self.wheels))
        for paper in papers[1:]:
            self._docker(*self._words("", paper.name, paper.folder))
        base = f"{self.registry.address}/{papers[1].name}"
        self._docker("tag", "benchmark-base", base)
        self._docker("push", "--quiet", base)
        self._docker("image", "rm", base)
        self.registry.keep()

    def reset(self) -> None:
        """Forget images and results; the base, uv and the cache mount stay."""
        kept = {"benchmark-base", "benchmark-uv"}
        names = self._docker("image", "ls", "--format", "{{.Repository}}").split()
        for name in names:
            if name not in kept and name != "<none>":
                self._docker("image", "rm", "--force", name)
        self._docker("image", "prune", "--force")
        for kind in ("regular", "source.local", "frontend"):
            self._docker("builder", "prune", "--force", "--all", f"--filter=type={kind}")
        self.registry.reset()

    def build(self, paper: Paper, *, edited: bool) -> Built:  # noqa: ARG002 - BuildKit sees edits itself
        """`docker build`, then `docker push`."""
        name = f"{self.registry.address}/{paper.name}"
        built, _ = measure(self._invocation(*self._words("", name, paper.folder)))
        pushed, _ = measure(self._invocation("push", "--quiet", name))
        digest = self._docker("image", "inspect", "--format", "{{.Id}}", name).strip()
        layers = find_in_registry(self.registry.address, paper.name)
        return Built(costs=(built, built + pushed), digest=digest, layers=layers.number, size=layers.size)

    def _words(self, kind: str, tag: str, context: Path) -> list[str]:
        file = DATA / ("Dockerfile" + (f".{kind}" if kind else ""))
        return ["build", "--quiet", "--network=none", f"--tag={tag}", f"--file={file}", str(context)]

    def _docker(self, *words: str) -> str:
        return run(self._invocation(*words))

    def _invocation(self, *words: str) -> Invocation:
        environment = {**self.environment, "DOCKER_HOST": self.engine.host, "DOCKER_BUILDKIT": "1"}
        return Invocation(
            argv=[self.engine.client, *words], environment=environment, daemons=(self.engine.pid,)
        )
