"""The artifacts that are built, and what other builders need of them: hash-locked requirements, sources."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from benchmarks.cases import TEMPLATE, PackageSet

VERSION = "1.0.0"
"""Of every artifact: the tag of its image."""
_SOURCE = "# A benchmark's program: it measures nothing.\nprint('value: 1.0')\n"
_GUIDE = "# A benchmark's artifact\n\n```console\n$ python /rra/code/run.py\nvalue: 1.0\n```\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper:
    """An artifact on disk."""

    name: str
    """Its image's name."""
    folder: Path
    """Where reprobridge.yaml, requirements.in and src lie."""

    @property
    def source(self) -> Path:
        """Its source folder."""
        return self.folder / "src"

    @property
    def requirements(self) -> Path:
        """Its Python packages with versions and SHA-256, for installers."""
        return self.folder / "requirements.txt"

    def edit(self, text: str) -> None:
        """Change one line of the source."""
        self.source.joinpath("run.py").write_text(f"{_SOURCE}# {text}\n")


def write_paper(folder: Path, name: str, requirements: Sequence[str]) -> Paper:
    """An artifact with one source file, one task and these packages."""
    paper = Paper(name=name, folder=folder)
    paper.source.mkdir(parents=True)
    paper.edit("as published")
    (folder / "requirements.in").write_text("".join(f"{line}\n" for line in requirements))
    (folder / "GUIDE.md").write_text(_GUIDE)
    # JSON is YAML: no library is needed to write it.
    (folder / "reprobridge.yaml").write_text(json.dumps(_spec(name), indent=1))
    return paper


def _spec(name: str) -> dict[str, object]:
    return {
        "schema": "reprobridge.artifact/1",
        "paper": {"id": name, "title": f"Benchmark {name}", "authors": ["Nobody"], "year": 2026},
        "version": VERSION,
        "license": "Apache-2.0",
        "source": {"path": "./src"},
        "environment": {
            "template": TEMPLATE,
            "python": {"requirements": "requirements.in"},
            "platforms": ["linux/amd64"],
        },
        "tasks": [_task()],
        "guide": "GUIDE.md",
    }


def _task() -> dict[str, object]:
    return {
        "id": "one",
        "title": "Print one",
        "experiment": {"id": "one", "dataset": "none", "split": "none", "variant": "none"},
        "published": {"location": "nowhere", "raw": "1.0", "value": 1.0, "decimals": 1},
        "measurement": {
            "name": "value",
            "unit": "none",
            "direction": "higher",
            "statistic": "value",
            "repeats": 1,
        },
        "scope": "full_pipeline",
        "command": ["python", "run.py"],
        "smoke": {"command": ["python", "run.py"], "timeout": "1m"},
        "extract": {"file": "stdout", "regex": "value: (?P<value>[0-9.]+)", "occurrence": "only"},
        "resources": {"gpus": 0, "cpus": 1, "memory": "64MiB", "disk": "16MiB", "time": "1m"},
        "references": {"where": "nowhere", "observations": [1.0, 1.0]},
    }


class Papers(NamedTuple):
    """The artifacts of a set."""

    base: Paper
    """No packages: what every builder has already."""
    first: Paper
    """The set's packages."""
    added: Paper
    """The same paper with one package more."""
    second: Paper
    """Another paper."""


def write_papers(folder: Path, package_set: PackageSet) -> Papers:
    """Write a set's artifacts below a folder."""
    return Papers(
        base=write_paper(folder / "base", "benchmark-base", ()),
        first=write_paper(folder / "first", "benchmark-first", package_set.first),
        added=write_paper(folder / "added", "benchmark-first", (*package_set.first, package_set.added)),
        second=write_paper(folder / "second", "benchmark-second", package_set.second),
    )
