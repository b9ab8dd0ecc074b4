"""An image that says of itself what the smallest artifact's does, its big layers replaced by tiny ones.

Every layer may be changed before `build`, so that a test can break exactly one thing.
"""

import functools
from dataclasses import dataclass, field

from reprobridge.assemble.artifact import plan_artifact
from reprobridge.digest import Digest
from reprobridge.lock.file import read_lock
from reprobridge.oci.layout import ImageParts
from reprobridge.oci.model import Descriptor, ImageConfig, Manifest, MediaType, Platform
from reprobridge.plan.model import BuildPlan, FilesRecipe, SbomRecipe
from reprobridge.spec.parse import read_spec
from reprobridge.store.store import Store
from reprobridge_launcher import inventory
from support.artifacts import MINIMAL
from support.layers import Entry, Link, make_layer

Content = bytes | str | Link | Entry
Tree = dict[str, Content]
CODE = (MINIMAL / "src" / "run.py").read_bytes()
"""The artifact's only file of code."""


@functools.cache
def _plan() -> BuildPlan:
    return plan_artifact(read_spec(MINIMAL), read_lock(MINIMAL / "reprobridge.lock"), "linux/amd64")


@dataclass
class ReviewedImage:
    """What the image is made of."""

    layers: dict[str, Tree]
    """Titles and files, lowest first."""
    name: str = "reprobridge/probable-error"
    """Its name."""
    labels: dict[str, str] = field(default_factory=lambda: dict(_plan().config.annotations))
    """Labels and annotations."""
    environment: dict[str, str] = field(default_factory=lambda: {"LANG": "C.UTF-8"})
    """Variables of the configuration."""

    def build(self, store: Store) -> ImageParts:
        """Put the image into the store."""
        made = [make_layer(tree) for tree in self.layers.values()]
        config = ImageConfig(
            platform=Platform("linux", "amd64"),
            created="1980-01-02T00:00:00Z",
            entrypoint=("/rra/bin/rra",),
            environment=self.environment,
            working_directory="/",
            labels=self.labels,
            diff_ids=tuple(layer.diff_id for layer in made),
            history=tuple(self.layers),
        ).to_bytes()
        held = Descriptor(MediaType.CONFIG, store.add(config), len(config))
        layers = tuple(
            Descriptor(MediaType.LAYER, store.add(layer.compressed), len(layer.compressed)) for layer in made
        )
        manifest = Manifest(config=held, layers=layers, annotations=self.labels).to_bytes()
        return ImageParts(
            name=self.name,
            version="1.0.0",
            manifest=Descriptor(MediaType.MANIFEST, store.add(manifest), len(manifest)),
            config=held,
            layers=layers,
            path=store.path,
        )


def reviewed_image() -> ReviewedImage:
    """The image as it should be."""
    listed = inventory.write([inventory.file_entry("/rra/code/run.py", 0o644, Digest.of(CODE).hex)])
    return ReviewedImage(
        layers={
            "base system": {"etc/os-release": "a system\n", "bin/sh": b"a shell"},
            "code": {"rra/code/run.py": CODE},
            "artifact": {**_documents(), "rra/inventory": listed},
            "references": {"rra/references.json": "{}"},
        }
    )


def edited_image(path: str, old: str, new: str) -> ReviewedImage:
    """The image with other words in one of the files in which it describes itself."""
    image = reviewed_image()
    data = image.layers["artifact"][path]
    assert isinstance(data, bytes)
    assert old.encode() in data
    image.layers["artifact"][path] = data.replace(old.encode(), new.encode())
    return image


def _documents() -> Tree:
    """What the image says about itself, byte for byte."""
    layer = next(layer for layer in _plan().layers if layer.title == "artifact")
    planned = [file for part in layer.parts if isinstance(part, FilesRecipe) for file in part.files]
    bills = [part for part in layer.parts if isinstance(part, SbomRecipe)]
    return {
        **{file.path: file.data for file in planned},
        **{part.path: part.document for part in bills},
    }
