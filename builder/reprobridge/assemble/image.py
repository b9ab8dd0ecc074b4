"""From a plan to an image in the store: make what is missing, settle conflicts, write manifest and configuration.

A finished image is remembered by the digest of its plan, so that building the same again costs a look.
"""

from reprobridge.assemble.model import Layer
from reprobridge.assemble.notes import notes_of
from reprobridge.assemble.omissions import omissions, with_omissions
from reprobridge.assemble.schedule import Arrivals, Progress, Scheduler
from reprobridge.assemble.workshop import PartMissing, Workshop
from reprobridge.digest import Digest, Json, digest_json
from reprobridge.errors import AssembleError
from reprobridge.frozen import frozen
from reprobridge.oci.model import Descriptor, ImageConfig, Manifest, MediaType, Platform
from reprobridge.plan.model import BuildPlan, LayerPlan
from reprobridge.store.store import Store

LAYER_WARNING = 4 << 30
"""Compressed bytes of a layer that some registries take long for."""
LAYER_LIMIT = 10 * 10**9
"""Compressed bytes of a layer that GHCR refuses."""


@frozen(kw_only=True)
class BuiltImage:
    """An image in the store."""

    name: str
    """For example `reprobridge/wine-classifiers`."""
    version: str
    """Tag."""
    manifest: Digest
    """The digest of record."""
    notes: tuple[str, ...]
    """What the author should know: conflicts that had a harmless winner, big layers."""


@frozen(kw_only=True)
class Making:
    """How to make what is missing."""

    arrivals: Arrivals
    """Brings locked files."""
    progress: Progress
    """Hears how far the work is."""
    workers: int
    """Most processes at once."""


def build_image(plan: BuildPlan, store: Store, making: Making) -> BuiltImage:
    """The plan's image, in the store and referred to by name and version."""
    key = plan_key(plan)
    with store.working():
        built = _remembered(plan, store, key)
        if built is None:
            built = _make(plan, store, making)
            record: dict[str, Json] = {"manifest": str(built.manifest), "notes": list(built.notes)}
            store.remember("image", key, record)
        if store.referenced(plan.name, plan.version) != built.manifest:
            store.refer(plan.name, plan.version, built.manifest)
    return built


def plan_key(plan: BuildPlan) -> Digest:
    """Digest of everything that the image's bytes depend on."""
    config: dict[str, Json] = {
        "created": plan.config.created,
        "entrypoint": plan.config.entrypoint,
        "environment": dict(plan.config.environment),
        "working_directory": plan.config.working_directory,
        "annotations": dict(plan.config.annotations),
    }
    layers: Json = [[layer.title, str(layer.key())] for layer in plan.layers]
    return digest_json(
        {"platform": plan.platform, "layers": layers, "config": config, "owners": dict(plan.owners)}
    )


def _remembered(plan: BuildPlan, store: Store, key: Digest) -> BuiltImage | None:
    record = store.result("image", key)
    if not isinstance(record, dict):
        return None
    manifest = Digest.parse(str(record["manifest"]))
    if not all(store.has(digest) for digest in image_blobs(store, manifest)):
        return None
    notes = tuple(str(note) for note in record["notes"])
    return BuiltImage(name=plan.name, version=plan.version, manifest=manifest, notes=notes)


def image_blobs(store: Store, manifest: Digest) -> list[Digest]:
    """The image's blobs: manifest, configuration, layers; only the manifest when that is not here."""
    import json

    if not store.has(manifest):
        return [manifest]
    parsed = json.loads(store.read(manifest))
    return [manifest, *(Digest.parse(part["digest"]) for part in [parsed["config"], *parsed["layers"]])]


def _make(plan: BuildPlan, store: Store, making: Making) -> BuiltImage:
    """Trust that what is known of finished layers is here, and look for it only when some of it is not."""
    try:
        return _assemble(plan, store, making, thorough=False)
    except PartMissing:
        return _assemble(plan, store, making, thorough=True)


def _assemble(plan: BuildPlan, store: Store, making: Making, *, thorough: bool) -> BuiltImage:
    workshop = Workshop(store)
    scheduler = Scheduler(store, making.arrivals, making.progress, making.workers)
    scheduler.run(plan, thorough=thorough)
    decided = omissions(plan, store, workshop)
    if decided.omit:
        plan = with_omissions(plan, decided.omit)
        scheduler.run(plan, thorough=thorough)
    layers = [_finished(workshop, layer) for layer in plan.layers]
    notes = [
        *decided.notes,
        *notes_of(plan, workshop),
        *(_size_note(plan, layer) for plan, layer in zip(plan.layers, layers, strict=True)),
    ]
    manifest = write_manifest(plan, layers, store)
    return BuiltImage(
        name=plan.name, version=plan.version, manifest=manifest, notes=tuple(filter(None, notes))
    )


def _finished(workshop: Workshop, layer: LayerPlan) -> Layer:
    made = workshop.known_layer(layer)
    if made is None:
        raise AssembleError("a layer is missing right after it was made", where=layer.title, hint="run again")
    return made


def _size_note(plan: LayerPlan, layer: Layer) -> str:
    if layer.size > LAYER_LIMIT:
        raise AssembleError(
            "a layer is too big for registries",
            where=plan.title,
            expected=f"at most {LAYER_LIMIT} bytes",
            found=f"{layer.size} bytes",
            hint="use a smaller build of the package",
        )
    return f"{plan.title}: a layer of {layer.size} bytes, slow to push" if layer.size > LAYER_WARNING else ""


# manifest


def write_manifest(plan: BuildPlan, layers: list[Layer], store: Store) -> Digest:
    """Write configuration and manifest of finished layers; gives the image's digest of record."""
    config = ImageConfig(
        platform=Platform.parse(plan.platform),
        created=plan.config.created,
        entrypoint=plan.config.entrypoint,
        environment=plan.config.environment,
        working_directory=plan.config.working_directory,
        labels=plan.config.annotations,
        diff_ids=tuple(layer.diff_id for layer in layers),
        history=tuple(layer.title for layer in plan.layers),
    ).to_bytes()
    manifest = Manifest(
        config=Descriptor(MediaType.CONFIG, store.add(config), len(config)),
        layers=tuple(Descriptor(MediaType.LAYER, layer.blob, layer.size) for layer in layers),
        annotations=plan.config.annotations,
    )
    return store.add(manifest.to_bytes())
