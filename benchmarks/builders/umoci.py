"""umoci and uv: packages installed into a folder, which becomes a layer of an OCI layout (`data/umoci-build`).

uv's cache holds every wheel unpacked, and lies on the same file system, so that installing is hard-linking.
A reset gives the layout back as it was with only the base in it.
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.builders.manifests import find_in_layout
from benchmarks.builders.model import Built
from benchmarks.cases import GLIBC, PYTHON
from benchmarks.measure import Invocation, measure, run
from benchmarks.papers import VERSION, Paper

SCRIPT = Path(__file__).parent.parent / "data" / "umoci-build"
"""What builds."""
PLATFORM = f"x86_64-manylinux_2_{GLIBC[1]}"
"""The base system as uv calls it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Umoci:
    """One layout and one cache of uv."""

    folder: Path
    """Holds the layout and uv's cache."""
    base: Path
    """An OCI layout with the base."""
    wheels: Path
    """The folder of wheels."""
    environment: Mapping[str, str]
    """With uv on PATH."""

    @property
    def columns(self) -> tuple[str, ...]:
        """One column."""
        return ("umoci + uv",)

    def begin(self, papers: list[Paper]) -> None:
        """Warm uv's cache: everything is installed once, and built once."""
        self.reset()
        for paper in papers[1:]:
            run(self._invocation(paper))

    def reset(self) -> None:
        """Start from the base's layout; blobs are hard links, as they never change."""
        for name in ("layout", "layout.made", "layout.root"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        run(
            Invocation(
                argv=["cp", "-a", "--link", str(self.base), str(self.folder / "layout")],
                environment=self.environment,
            )
        )
        index = self.folder / "layout" / "index.json"
        data = index.read_bytes()
        index.unlink()  # umoci may write into it
        index.write_bytes(data)

    def build(self, paper: Paper, *, edited: bool) -> Built:  # noqa: ARG002 - the script sees edits itself
        """Run the script."""
        cost, _ = measure(self._invocation(paper))
        digest, layers = find_in_layout(self.folder / "layout", paper.name)
        return Built(costs=(cost,), digest=digest, layers=layers.number, size=layers.size)

    def _invocation(self, paper: Paper) -> Invocation:
        return Invocation(
            argv=[
                *(str(SCRIPT), str(self.folder / "layout"), VERSION, paper.name, str(paper.requirements)),
                *(str(paper.source), str(self.wheels), PYTHON, PLATFORM),
            ],
            environment={**self.environment, "UV_CACHE_DIR": str(self.folder / "uv-cache")},
        )
