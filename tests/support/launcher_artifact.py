"""A folder that looks like an image's /rra, with the launcher inside, and a way to start it."""

import copy
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import reprobridge_launcher
from reprobridge_launcher import cparts, inventory

PACKAGE = Path(reprobridge_launcher.__file__).parent

RUN_PY = """\
import os, sys
print("fitting on", os.environ["RRA_DATA"].rsplit("/", 1)[-1])
print("accuracy: 98.5")
"""

TASK: dict[str, Any] = {
    "id": "lda",
    "title": "Linear discriminant analysis, leave-one-out",
    "experiment": {"id": "loo", "dataset": "wine", "split": "leave-one-out", "variant": "LDA"},
    "published": {"location": "Table 1, row LDA", "raw": "98.9%", "value": 98.9, "decimals": 1},
    "measurement": {
        "name": "accuracy",
        "unit": "percent",
        "direction": "higher",
        "statistic": "value",
        "over": None,
        "repeats": 1,
    },
    "scope": "full_pipeline",
    "command": ["python", "run.py"],
    "smoke": {"command": ["python", "run.py", "--short"], "timeout": 60},
    "extract": {"kind": "regex", "file": "stdout", "regex": "accuracy: (?P<value>[0-9.]+)"},
    "resources": {"gpus": 0, "cpus": 1, "memory": 1 << 20, "disk": 1 << 20, "time": 60},
    "digest": "d" * 64,
}

REFERENCES: dict[str, Any] = {
    "schema": "reprobridge.references/1",
    "tasks": {
        "lda": {"observations": [98.4, 98.6, 98.5, 98.5, 98.5], "where": "five machines", "interval": {}}
    },
}


def task(**changes: object) -> dict[str, Any]:
    """The usual task, with some keys changed."""
    return copy.deepcopy(TASK) | changes


def manifest(*tasks: dict[str, Any], **changes: object) -> dict[str, Any]:
    """A whole manifest in its JSON form; the tree's digest is filled in by `Artifact`."""
    made: dict[str, Any] = {
        "schema": "reprobridge.manifest/1",
        "paper": {"id": "wine", "title": "Wine", "authors": ["A. Author"], "year": 1992},
        "artifact": {"id": "a" * 64, "version": "1.0.0", "license": "BSD-3-Clause"},
        "source": {"kind": "path", "origin": "./src", "commit": None, "tree": "0" * 64},
        "changes": [
            {
                "id": "C1",
                "class": "execution_repair",
                "why": "It did not run.",
                "affects_numbers": "no",
                "tasks": [],
            }
        ],
        "decisions": {
            "ambiguities": [
                {
                    "id": "A1",
                    "paper": "§3",
                    "gap": "What is standardised?",
                    "options": ["all", "inside the fold"],
                    "chosen": "inside the fold",
                    "basis": "convention",
                    "sensitivity": {"level": "low", "evidence": None},
                    "tasks": ["lda"],
                }
            ],
            "pitfalls": [{"id": "P1", "symptom": "Slow.", "cause": "Many folds.", "avoid": "Wait."}],
            "open_choices": [{"id": "O1", "question": "Which solver?", "options": ["svd"], "default": "svd"}],
        },
        "environment": {"python": sys.executable, "variables": {"OMP_NUM_THREADS": "1"}, "locks": {}},
        "data": [],
        "tasks": list(tasks) or [task()],
        "integrity": "/rra/inventory.txt",
    }
    return made | changes


@dataclass
class Artifact:
    """An artifact's folder and the interpreter that starts its launcher."""

    folder: Path
    """Stands for the image's `/`."""
    python: Path = field(default_factory=lambda: Path(sys.executable))
    """Interpreter of the launcher and of the tasks."""

    @property
    def root(self) -> Path:
        """Stands for `/rra`."""
        return self.folder / "rra"

    @property
    def out(self) -> Path:
        """Stands for `/out`."""
        return self.folder / "out"

    @property
    def scratch(self) -> Path:
        """Stands for `/tmp`: a launcher that is killed leaves there what else goes with its container."""
        return self.folder / "tmp"

    def write(
        self, document: dict[str, Any] | None = None, files: dict[str, str] | None = None
    ) -> "Artifact":
        """Write code, launcher, manifest, inventory and documents."""
        document = manifest() if document is None else document
        self._install_launcher()
        for name, text in (files or {"run.py": RUN_PY}).items():
            path = self.root / "code" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for folder, mode in ((self.out, 0o777), (self.scratch, 0o777), (self.folder / "data", 0o755)):
            folder.mkdir(exist_ok=True)
            folder.chmod(mode)
        document["source"]["tree"] = inventory.tree_digest(self.entries(), "/rra/code")
        document["environment"].setdefault("python", str(self.python))
        if document["environment"]["python"] == sys.executable:
            document["environment"]["python"] = str(self.python)
        (self.root / "manifest.json").write_text(json.dumps(document))
        (self.root / "inventory.txt").write_text(inventory.write(self.entries()))
        (self.root / "references.json").write_text(json.dumps(REFERENCES))
        (self.root / "GUIDE.md").write_text("# Guide\n")
        (self.root / "CHANGES.md").write_text("# Changes\n")
        return self

    def entries(self) -> list[inventory.Entry]:
        """Inventory of the code as it lies there."""
        found = []
        for path in sorted((self.root / "code").rglob("*")):
            if path.is_file():
                digest = cparts.file_digest(str(path))[0]
                name = "/" + path.relative_to(self.folder).as_posix()
                found.append(inventory.file_entry(name, path.stat().st_mode, digest))
        return found

    def _install_launcher(self) -> None:
        (self.root / "bin").mkdir(parents=True, exist_ok=True)
        script = self.root / "bin" / "rra"
        script.write_text(f"#!{self.python} -ISB\n" + (PACKAGE / "entry.py").read_text())
        script.chmod(0o755)
        library = self.root / "lib" / "reprobridge_launcher"
        if not library.exists():
            shutil.copytree(PACKAGE, library, ignore=shutil.ignore_patterns("__pycache__"))

    def start(
        self, *words: str, stdin: int = subprocess.DEVNULL, **variables: str
    ) -> subprocess.Popen[bytes]:
        """Start the launcher."""
        return subprocess.Popen(
            [str(self.python), "-I", "-S", "-B", str(self.root / "bin" / "rra"), *words],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"PATH": "/usr/bin:/bin", "TMPDIR": str(self.scratch)} | variables,
        )

    def call(self, *words: str, stdin: bytes = b"", **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the launcher to its end; `stdin` is what is piped to it."""
        process = self.start(*words, stdin=subprocess.PIPE, **variables)
        out, err = process.communicate(stdin, timeout=120)
        text = (out.decode(errors="backslashreplace"), err.decode(errors="backslashreplace"))
        return subprocess.CompletedProcess(process.args, process.returncode, *text)

    def evidence(self, name: str = "lda") -> dict[str, Any]:
        """The record of the task's only run."""
        (path,) = (self.out / name).glob("*/evidence.json")
        loaded: dict[str, Any] = json.loads(path.read_text())
        return loaded


def artifact(folder: Path, code: str | None = None, **changes: Any) -> Artifact:
    """An artifact with the usual task, with some keys changed, and its run.py."""
    return Artifact(folder).write(manifest(task(**changes)), None if code is None else {"run.py": code})
