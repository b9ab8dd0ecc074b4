"""From a plan to an image in the store: make what is missing, settle conflicts, write manifest and configuration."""

from reprobridge.assemble.composition import remember_composition
from reprobridge.assemble.model import Arrivals, BuiltImage, Layer, Progress
from reprobridge.assemble.omissions import omissions, with_omissions
from reprobridge.assemble.owner_words import idle_words
from reprobridge.assemble.schedule import Scheduler
from reprobridge.assemble.summary import summaries
from reprobridge.assemble.workshop import PartMissing, Workshop
from reprobridge.digest import Digest
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
class Making:
    """How to make what is missing."""

    arrivals: Arrivals
    """Brings locked files."""
    progress: Progress
    """Hears how far the work is."""
    workers: int
    """Most processes at once."""
    elsewhere: bool = False
    """Whether a layer's bytes may lie in a registry instead of here."""


def build_image(plan: BuildPlan, store: Store, making: Making) -> BuiltImage:
    """The plan's image, in the store and referred to by name and version."""
    with store.working():
        try:
            # What is known of finished layers is trusted to be here, and looked for only when some of it is not.
            built = _assemble(plan, store, making, thorough=False)
        except PartMissing:
            built = _assemble(plan, store, making, thorough=True)
        store.refer(plan.name, plan.version, built.manifest)
    return built


def _assemble(plan: BuildPlan, store: Store, making: Making, *, thorough: bool) -> BuiltImage:
    workshop = Workshop(store, elsewhere=making.elsewhere)
    scheduler = Scheduler(workshop, making.arrivals, making.progress, making.workers)
    made = scheduler.run(plan, thorough=thorough)
    known = summaries(plan, workshop)
    decided = omissions(plan, known, workshop)
    idle = tuple(idle_words(plan, workshop))
    if decided.omit:
        plan = with_omissions(plan, decided.omit)
        made += scheduler.run(plan, thorough=thorough)
        known = summaries(plan, workshop)
    layers = [_finished(workshop, layer) for layer in plan.layers]
    noted = [
        *idle,
        *decided.notes,
        *(note for summary in known.values() for note in summary.notes),
        *(_size_note(plan, layer) for plan, layer in zip(plan.layers, layers, strict=True)),
    ]
    manifest = write_manifest(plan, layers, store)
    notes = tuple(filter(None, noted))
    remember_composition(store, manifest, plan.layers, notes)
    return BuiltImage(
        name=plan.name,
        version=plan.version,
        manifest=manifest,
        notes=notes,
        fresh=frozenset(_finished(workshop, job.layer).blob for job in made if job.layer),
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
