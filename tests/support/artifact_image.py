"""A whole artifact's image made by hand in a moment: this machine's shell and Python, the real launcher, one task.

Every field may be changed before `build`, so that a test can break exactly one thing.
"""

import functools
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from reprobridge.lock.tools import launcher_files
from reprobridge.oci.layout import ImageParts
from reprobridge.oci.model import Descriptor, ImageConfig, Manifest, MediaType, Platform
from reprobridge.store.store import Store
from reprobridge_launcher import inventory
from support.layers import (
    MINOR,
    PYTHON,
    Entry,
    Link,
    MadeLayer,
    make_layer,
    program_tree,
    python_tree,
    shell_tree,
)

SITE = f"opt/env/lib/python{MINOR}/site-packages"
"""Site-packages of the environment."""
GUIDE = """\
# A guide

```console
$ rra list
...
accuracy...
$ cd /rra/code && python run.py
accuracy: 98.88±0.05
$ python run.py --fail
[exit 3]
```
"""
"""A guide that holds."""
RUN = """\
import sys
if "--fail" in sys.argv:
    sys.exit(3)
print("accuracy: 98.8764")
"""
"""The code of the only task."""
SPEC = "source:\n  path: ./src\n  exclude: [results/**]\n"
"""As much of a specification as the image's own checks read."""

Content = bytes | str | Link | Entry


def task(name: str = "accuracy") -> dict[str, Any]:
    """A task in the form of the launcher's manifest."""
    return {
        "id": name,
        "title": "Accuracy",
        "experiment": None,
        "published": {
            "location": "Table 1",
            "raw": "98.9%",
            "value": 98.9,
            "decimals": 1,
            "range": None,
            "spread": None,
        },
        "measurement": {
            "name": "accuracy",
            "unit": "percent",
            "direction": "higher",
            "statistic": "value",
            "over": "runs",
            "repeats": 1,
        },
        "scope": "full_pipeline",
        "checkpoints": [],
        "command": ["python", "run.py"],
        "smoke": {"command": ["python", "run.py"], "timeout": 60},
        "seeds": None,
        "extract": {"kind": "regex", "file": "stdout", "regex": "accuracy: (?P<value>[0-9.]+)"},
        "resources": {"gpus": 0, "gpu_memory": None, "cpus": 1, "memory": 1, "disk": 1, "time": 60},
        "digest": "0" * 64,
    }


def package(
    name: str, version: str, metadata: str = "", modules: dict[str, str] | None = None
) -> dict[str, Content]:
    """A distribution as it lies in site-packages, with a RECORD of everything."""
    info = f"{name}-{version}.dist-info"
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{metadata}"
    files = {f"{info}/METADATA": head, **(modules if modules is not None else {f"{name}.py": "x = 1\n"})}
    record = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    return {f"{SITE}/{path}": text for path, text in {**files, f"{info}/RECORD": record}.items()}


@dataclass
class ArtifactImage:
    """What the image is made of."""

    code: dict[str, Content] = field(default_factory=lambda: {"run.py": RUN})
    """Files below /rra/code."""
    environment: dict[str, Content] = field(default_factory=lambda: {**package("alpha", "1.0")})
    """Files of the environment, by their paths in the image."""
    distributions: dict[str, str] = field(default_factory=lambda: {"alpha": "1.0"})
    """What the manifest says is installed."""
    tasks: list[dict[str, Any]] = field(default_factory=lambda: [task()])
    """The manifest's tasks."""
    variables: dict[str, str] = field(default_factory=dict)
    """Variables of every task."""
    guide: str = GUIDE
    """The guide."""
    spec: str = SPEC
    """The specification."""
    extra: dict[str, Content] = field(default_factory=dict)
    """Other paths, in a last layer of their own."""
    more_layers: list[MadeLayer] = field(default_factory=list)
    """Layers on top."""
    entrypoint: tuple[str, ...] = ("/rra/bin/rra",)
    """The configuration's entrypoint."""
    labels: dict[str, str] = field(default_factory=dict)
    """Labels that differ from the right ones."""

    def build(self, store: Store) -> ImageParts:
        """Put the image into the store."""
        environment = {**environment_skeleton(), **self.environment}
        code = {f"rra/code/{path}": content for path, content in self.code.items()}
        made = [base_layer(), make_layer(environment), make_layer(code), launcher_layer()]
        made.append(make_layer(self._artifact(environment, code)))
        made += [make_layer(self.extra)] if self.extra else []
        return self._image(store, [*made, *self.more_layers])

    def _artifact(self, environment: dict[str, Content], code: dict[str, Content]) -> dict[str, Content]:
        listed = [_listed(path, content) for path, content in {**environment, **code}.items()]
        tree = inventory.tree_digest(
            [entry for entry in listed if entry.path.startswith("/rra/code/")], "/rra/code"
        )
        return {
            "rra/manifest.json": json.dumps(self._manifest(tree)),
            "rra/inventory": inventory.write(listed),
            "rra/GUIDE.md": self.guide,
            "rra/CHANGES.md": "# Changes\n\nNone.\n",
            "rra/spec/reprobridge.yaml": self.spec,
        }

    def _manifest(self, tree: str) -> dict[str, Any]:
        paper = {"id": "tiny", "title": "A tiny paper", "authors": ["A. Author"], "year": 2020}
        distributions = [{"name": name, "version": version} for name, version in self.distributions.items()]
        return {
            "schema": "reprobridge.manifest/1",
            "paper": {**paper, "venue": None, "doi": None, "url": None},
            "artifact": {"id": "a" * 64, "version": "1.0.0", "license": "MIT", "repository": None},
            "source": {"kind": "path", "origin": "./src", "commit": None, "tree": tree, "date": None},
            "changes": [],
            "decisions": {"ambiguities": [], "pitfalls": [], "open_choices": []},
            "environment": {
                "python": "/opt/env/bin/python",
                "variables": self.variables,
                "locks": {},
                "distributions": distributions,
                "gpu": None,
            },
            "data": [],
            "tasks": self.tasks,
            "integrity": "/rra/inventory",
        }

    def _image(self, store: Store, layers: list[MadeLayer]) -> ImageParts:
        labels = {
            "org.opencontainers.image.title": "A tiny paper",
            "org.opencontainers.image.version": "1.0.0",
            "org.opencontainers.image.licenses": "MIT",
            "org.opencontainers.image.created": "1980-01-02T00:00:00Z",
            "io.reprobridge.paper": "tiny",
            "io.reprobridge.artifact": "a" * 64,
            "io.reprobridge.tasks": ",".join(item["id"] for item in self.tasks),
            **self.labels,
        }
        config = ImageConfig(
            platform=Platform("linux", "amd64"),
            created="1980-01-02T00:00:00Z",
            entrypoint=self.entrypoint,
            environment={"PATH": "/opt/env/bin:/rra/bin:/usr/local/bin:/usr/bin:/bin"},
            working_directory="/",
            labels=labels,
            diff_ids=tuple(layer.diff_id for layer in layers),
            history=tuple(f"layer {number}" for number in range(len(layers))),
        )
        described = tuple(
            Descriptor(MediaType.LAYER, store.add(layer.compressed), len(layer.compressed))
            for layer in layers
        )
        held = _held(store, MediaType.CONFIG, config.to_bytes())
        manifest = Manifest(config=held, layers=described, annotations=labels).to_bytes()
        return ImageParts(
            name="reprobridge/tiny",
            version="1.0.0",
            manifest=_held(store, MediaType.MANIFEST, manifest),
            config=held,
            layers=described,
            path=store.path,
        )


def _held(store: Store, kind: MediaType, data: bytes) -> Descriptor:
    return Descriptor(kind, store.add(data), len(data))


def _listed(path: str, content: Content) -> inventory.Entry:
    if isinstance(content, Link):
        return inventory.link_entry(f"/{path}", content.target)
    if not isinstance(content, Entry):
        data = content.encode() if isinstance(content, str) else content
        content = Entry(data, 0o755 if "/bin/" in f"/{path}" else 0o644)
    return inventory.file_entry(f"/{path}", content.mode, hashlib.sha256(content.data or b"").hexdigest())


@functools.cache
def base_layer() -> MadeLayer:
    """This machine's shell and Python."""
    return make_layer({**shell_tree(), **python_tree(), **program_tree("tail"), **program_tree("wc")})


@functools.cache
def launcher_layer() -> MadeLayer:
    """The launcher of this release."""
    files = launcher_files()
    tree: dict[str, Content] = {
        f"rra/lib/reprobridge_launcher/{name}": Entry(data, 0o644) for name, data in files.items()
    }
    tree["rra/bin/rra"] = f"#!{PYTHON} -ISB\n".encode() + files["entry.py"]
    return make_layer(tree)


def environment_skeleton() -> dict[str, Content]:
    """The empty virtual environment."""
    home = PYTHON.rpartition("/")[0]
    settings = f"home = {home}\ninclude-system-site-packages = false\nversion = {MINOR}\n"
    links = {"bin/python": PYTHON, "bin/python3": "python", f"bin/python{MINOR}": "python", "lib64": "lib"}
    return {
        "opt/env/pyvenv.cfg": settings,
        **{f"opt/env/{path}": Link(target) for path, target in links.items()},
    }
