"""A whole artifact with every key of the format, to be changed in one place and read again."""

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reprobridge.errors import Problem, SpecError
from reprobridge.spec.model import Spec
from reprobridge.spec.parse import read_spec

TEMPLATES = ("debian12-py311", "debian13-py313")

PATCH = b"--- a/run.py\n+++ b/run.py\n@@ -1,2 +1,2 @@\n import sys\n-print 1\n+print(1)\n"

FILES = {
    "GUIDE.md": b"# Guide\n",
    "requirements.in": b"numpy\n",
    "constraints.txt": b"numpy<3\n",
    "patches/one.patch": PATCH,
    "references.yaml": b"where: five machines\nobservations: [1.0, 2]\n",
    "src/run.py": b"print(1)\n",
    "src/models/best.bin": b"\0",
}

FULL: dict[str, Any] = {
    "schema": "reprobridge.artifact/1",
    "paper": {
        "id": "a-paper",
        "title": "A paper",
        "authors": ["Ada", "Bob"],
        "year": "1992",
        "venue": "Journal",
        "doi": "10.5281/zenodo.1",
        "url": "https://example.org/paper",
    },
    "version": "1.0.0",
    "license": "MIT AND Apache-2.0",
    "repository": "https://example.org/artifact",
    "source": {"path": "./src", "exclude": ["results/**"]},
    "changes": [
        {
            "id": "C1",
            "patch": "patches/one.patch",
            "class": "correctness_repair",
            "why": "It did not run.",
            "affects_numbers": "no",
            "paper": "§3",
            "ambiguity": "A1",
            "tasks": ["lda"],
        }
    ],
    "environment": {
        "template": "debian12-py311",
        "python": {
            "requirements": "requirements.in",
            "constraints": "constraints.txt",
            "exclude_newer": "2026-01-01",
            "indexes": ["https://example.org/simple"],
            "owners": {"shared/__init__.py": "numpy"},
            "not_imported": {"torch_xla": "needs a TPU"},
            "bytecode": "true",
        },
        "apt": ["libgl1"],
        "variables": {"OMP_NUM_THREADS": "1"},
        "platforms": ["linux/amd64"],
    },
    "tasks": [
        {
            "id": "lda",
            "title": "Linear discriminant analysis",
            "experiment": {"id": "loo", "dataset": "wine", "split": "leave-one-out", "variant": "LDA"},
            "published": {
                "location": "Table 1",
                "raw": "98.8-99.0%",
                "value": "98.9",
                "decimals": "1",
                "range": ["98.8", "99.0"],
                "spread": {"value": "0.1", "kind": "std"},
            },
            "measurement": {
                "name": "accuracy",
                "unit": "percent",
                "direction": "higher",
                "statistic": "mean",
                "over": "seeds",
                "repeats": "1",
                "lower_bound": "0",
                "upper_bound": "100",
            },
            "scope": "evaluation_only",
            "checkpoints": ["models/best.bin"],
            "command": ["python", "run.py"],
            "smoke": {"command": ["python", "run.py", "--quick"], "timeout": "60s"},
            "seeds": {"option": "--seed", "values": ["0", "1"]},
            "extract": {
                "file": "stdout",
                "regex": "accuracy: (?P<value>[0-9.]+)",
                "occurrence": "all",
                "scale": "100",
                "reduce": "mean",
                "expect": "2",
            },
            "resources": {
                "gpus": "0",
                "gpu_memory": "1GiB",
                "cpus": "2",
                "memory": "500MB",
                "disk": "1GiB",
                "time": "2h",
            },
            "references": {"where": "five machines", "observations": ["98.88", "98.9"]},
        }
    ],
    "decisions": {
        "ambiguities": [
            {
                "id": "A1",
                "paper": "§3",
                "code": "run.py:main",
                "gap": "Not said.",
                "options": ["one", "two"],
                "chosen": "one",
                "basis": "convention",
                "sensitivity": {"level": "low", "evidence": "Both give 98.9."},
                "tasks": ["lda"],
                "decided": "2026-01-01",
            }
        ],
        "pitfalls": [{"id": "P1", "symptom": "s", "cause": "c", "avoid": "a", "tasks": ["lda"]}],
        "open_choices": [{"id": "O1", "question": "q", "options": ["x", "y"], "default": "x"}],
    },
    "guide": "GUIDE.md",
}
"""Every key of the format, all values as texts."""


@dataclass
class ArtifactOnDisk:
    """An artifact's folder whose specification can be changed in memory before it is read."""

    folder: Path
    spec: dict[str, Any] = field(default_factory=lambda: copy.deepcopy(FULL))

    @property
    def task(self) -> dict[str, Any]:
        """The one task, to be changed."""
        task: dict[str, Any] = self.spec["tasks"][0]
        return task

    def write(self, name: str, data: bytes) -> None:
        """Put a file into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def read(self, text: str | bytes | None = None) -> Spec:
        """Read the changed specification, or this text in its place. JSON is YAML."""
        if text is None:
            text = json.dumps(self.spec, ensure_ascii=False, indent=1)
        self.write("reprobridge.yaml", text.encode() if isinstance(text, str) else text)
        return read_spec(self.folder, templates=TEMPLATES)

    def problems(self, text: str | bytes | None = None) -> list[Problem]:
        """What is wrong with it; fails when nothing is."""
        with pytest.raises(SpecError) as caught:
            self.read(text)
        assert caught.value.problems
        return list(caught.value.problems)

    def problem(self, text: str | bytes | None = None) -> Problem:
        """The one thing that is wrong with it."""
        problems = self.problems(text)
        assert len(problems) == 1, problems
        return problems[0]


def put(spec: Any, path: str, value: object) -> None:
    """Set the value at a path such as `paper.year` of a specification."""
    *sections, key = path.split(".")
    for section in sections:
        spec = spec[section]
    spec[key] = value
