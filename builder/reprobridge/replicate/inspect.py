"""What an image is, from its manifest, its configuration and the small layer in which it describes itself.

Layers are compared with those of other images by digest: what is shared is fetched and kept once.
"""

from collections.abc import Iterable, Mapping, Sequence

from reprobridge.digest import Digest, Json
from reprobridge.errors import ArtifactError, LockError
from reprobridge.frozen import field, frozen
from reprobridge.lock.model import Lock
from reprobridge.replicate.contents import read_contents
from reprobridge.replicate.seen import SeenImage, SeenLayer
from reprobridge_launcher.manifest import Manifest

SCHEMA = "reprobridge.inspection/1"
"""Value of `schema` in the JSON form."""


@frozen
class SharedLayer:
    """A layer, and who else has it."""

    layer: SeenLayer
    """The layer."""
    others: tuple[str, ...]
    """Names of the other images that hold the same bytes, sorted."""


@frozen(kw_only=True)
class Inspection:
    """What is known of an image without its big layers."""

    image: SeenImage
    """Manifest and configuration."""
    name: str
    """How it was named."""
    artifact: Manifest | None
    """What it says about itself; None: it is no artifact of ours."""
    lock: Lock | None
    """Its lock; None where there is none that this release reads."""
    why: str
    """Why one of them is None."""
    layers: tuple[SharedLayer, ...]
    """Lowest first."""
    misfits: Mapping[Digest, str] = field(default_factory=dict)
    """Layers that do not lie where the image does with their size, and what lies there."""

    @property
    def size(self) -> int:
        """Compressed bytes of all layers."""
        return sum(one.layer.descriptor.size for one in self.layers)

    @property
    def shared(self) -> int:
        """Compressed bytes of the layers that others have too."""
        return sum(one.layer.descriptor.size for one in self.layers if one.others)

    def packages(self) -> dict[str, int]:
        """Number of packages by kind."""
        if self.lock is None or self.image.platform not in self.lock.platforms:
            return {}
        locked = self.lock.platforms[self.image.platform]
        return {
            "debian": len(locked.debian.base) + len(locked.debian.extra),
            "python": len(locked.python.wheels),
        }


def inspect(
    image: SeenImage,
    name: str,
    others: Mapping[str, Iterable[Digest]],
    misfits: Mapping[Digest, str] | None = None,
) -> Inspection:
    """Look at an image; `others`: the layers of other images by their names. Raises ArtifactError."""
    artifact, lock, why = _described(image)
    holders = {other: frozenset(layers) for other, layers in others.items()}
    return Inspection(
        image=image,
        name=name,
        artifact=artifact,
        lock=lock,
        why=why,
        layers=tuple(SharedLayer(layer, _holders(layer, holders)) for layer in image.layers),
        misfits=misfits or {},
    )


def _described(image: SeenImage) -> tuple[Manifest | None, Lock | None, str]:
    try:
        contents = read_contents(image)
        artifact = contents.read_manifest()
    except ArtifactError as error:
        return None, None, str(error)
    try:
        return artifact, contents.read_lock(), ""
    except LockError as error:
        return artifact, None, str(error)


def _holders(layer: SeenLayer, holders: Mapping[str, frozenset[Digest]]) -> tuple[str, ...]:
    return tuple(sorted(name for name, layers in holders.items() if layer.descriptor.digest in layers))


def inspection_json(inspection: Inspection) -> dict[str, Json]:
    """The JSON form."""
    image, artifact, lock = inspection.image, inspection.artifact, inspection.lock
    layers: list[Json] = [
        {
            "title": one.layer.title,
            "digest": str(one.layer.descriptor.digest),
            "diff_id": str(one.layer.diff_id),
            "size": one.layer.descriptor.size,
            "shared_with": list(one.others),
            "found_instead": inspection.misfits.get(one.layer.descriptor.digest),
        }
        for one in inspection.layers
    ]
    return {
        "schema": SCHEMA,
        "name": inspection.name,
        "digest": str(image.digest),
        "platform": image.platform,
        "artifact": None if artifact is None else _artifact_json(artifact),
        "environment": None if lock is None or artifact is None else _environment(inspection, lock, artifact),
        "layers": layers,
        "size": inspection.size,
        "shared": inspection.shared,
    }


def _artifact_json(artifact: Manifest) -> Json:
    paper = artifact.paper
    return {
        "id": artifact.artifact.id,
        "version": artifact.artifact.version,
        "license": artifact.artifact.license,
        "repository": artifact.artifact.repository,
        "paper": {"id": paper.id, "title": paper.title, "year": paper.year, "doi": paper.doi},
        "source": {
            "kind": artifact.source.kind,
            "origin": artifact.source.origin,
            "commit": artifact.source.commit,
        },
        "tasks": _tasks(artifact),
        "changes": [
            {
                "id": change.id,
                "class": change.class_,
                "affects_numbers": change.affects_numbers,
                "why": change.why,
            }
            for change in artifact.changes
        ],
    }


def _tasks(artifact: Manifest) -> Sequence[Json]:
    return [
        {
            "id": task.id,
            "title": task.title,
            "location": task.published.location if task.published else None,
            "published": task.published.raw if task.published else None,
            "measurement": task.measurement.name,
            "unit": task.measurement.unit,
        }
        for task in artifact.tasks
    ]


def _environment(inspection: Inspection, lock: Lock, artifact: Manifest) -> Json:
    locked = lock.platforms.get(inspection.image.platform)
    gpu = artifact.environment.gpu
    return {
        "template": lock.template,
        "release": lock.tools.release,
        "python": locked.python.version if locked else None,
        "bytecode": locked.python.bytecode if locked else None,
        "packages": dict(inspection.packages()),
        "cuda": gpu.cuda if gpu else None,
        "driver": gpu.driver if gpu else None,
    }
