"""ReproBridge: `reprobridge build`, the image in the store or also written as an OCI layout.

The lock is made before, as the others' requirements are; only an edited source is locked again within the
timed command (`--relock`), since the lock holds the source's digest.
A reset gives the store back as it was after downloading, with or without the base's layers.
"""

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.builders.manifests import layers_of
from benchmarks.builders.model import Built
from benchmarks.measure import Invocation, measure, run
from benchmarks.papers import Paper


@dataclass(frozen=True, kw_only=True, slots=True)
class Ours:
    """One store, one folder for output."""

    title: str
    """Of its column."""
    folder: Path
    """Holds store and layout."""
    start: Path
    """The store to begin with: everything is downloaded, nothing built but perhaps the base."""
    environment: Mapping[str, str]
    """Of the command."""
    writes_layout: bool
    """Whether the image is also written as an OCI layout."""

    @property
    def columns(self) -> tuple[str, ...]:
        """One column."""
        return (self.title,)

    def begin(self, papers: list[Paper]) -> None:  # noqa: ARG002 - the store that it starts from has them
        """Nothing more than a reset."""
        self.reset()

    def reset(self) -> None:
        """Start from the first store again, by hard links: a store never writes into a file that it has."""
        shutil.rmtree(self._store, ignore_errors=True)
        shutil.rmtree(self._layout, ignore_errors=True)
        copying = ["cp", "-a", "--link", str(self.start), str(self._store)]
        run(Invocation(argv=copying, environment=self.environment))

    def build(self, paper: Paper, *, edited: bool) -> Built:
        """`reprobridge build`, offline."""
        argv = [sys.executable, "-m", "reprobridge", "build", str(paper.folder), "--offline"]
        argv += ["--store", str(self._store)]
        argv += ["--relock"] if edited else []
        argv += ["--output", f"oci:{self._layout}"] if self.writes_layout else []
        cost, output = measure(Invocation(argv=argv, environment=self.environment))
        digest = output.strip().partition("@")[2]
        digits = digest.removeprefix("sha256:")
        layers = layers_of((self._store / "blobs" / digits[:2] / digits).read_bytes())
        return Built(costs=(cost,), digest=digest, layers=layers.number, size=layers.size)

    @property
    def _store(self) -> Path:
        return self.folder / "store"

    @property
    def _layout(self) -> Path:
        return self.folder / "layout"
