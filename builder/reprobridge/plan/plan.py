"""The plan: which layers an image has, in which order, of which recipes. A pure function of its inputs.

Order, lowest first: base system, Python, big wheels by group, small wheels merged, bytecode where it is asked for,
the paper's system packages, system state, code, launcher, artifact (manifest, guide, locks), references. What papers
share stands below what they don't. References are the last layer, so that an image without them is the same image
without its top.
"""

from collections.abc import Mapping

from reprobridge.digest import Digest
from reprobridge.errors import AssembleError
from reprobridge.frozen import frozen
from reprobridge.lock.cuda import cuda
from reprobridge.lock.file import lock_bytes
from reprobridge.lock.model import Lock, LockedPlatform, LockedWheel
from reprobridge.lock.owners import owners
from reprobridge.plan.bytecode import STANDARD_LIBRARY, BytecodePlan, bytecode_owner, bytecode_path
from reprobridge.plan.contents.direct_url import SPEC, direct_url
from reprobridge.plan.contents.guide import changes_text, guide_text
from reprobridge.plan.contents.manifest import (
    INTEGRITY,
    ArtifactId,
    manifest_bytes,
    references_bytes,
)
from reprobridge.plan.contents.sbom import sbom_bytes, wheel_id
from reprobridge.plan.model import (
    BuildPlan,
    ConfigPlan,
    DebianStateRecipe,
    DebRecipe,
    FilesRecipe,
    FragmentRecipe,
    InventoryRecipe,
    LayerPlan,
    PlannedFile,
    RequestedRecipe,
    SbomRecipe,
    TreeRecipe,
    WheelRecipe,
)
from reprobridge.plan.order import HARD_LIMIT, LayerOrder, is_base_python, wheel_layers
from reprobridge.spec.model import Spec

CODE_ROOT = "rra/code"
"""Where the refined code stands in the image."""
FIXED_LAYERS = 8
"""Layers that are not wheels: base, Python, system packages, state, code, launcher, artifact, references."""
PATH = "/opt/env/bin:/rra/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Programs of the environment first, then the launcher's, then the system's."""
PROFILE = "etc/profile.d/reprobridge.sh"
"""What gives login shells the image's PATH back, after Debian's /etc/profile has set its own.

It stands in the paper's own layer, since a paper may set PATH, and so that no layer that papers share depends on it.
"""


@frozen(kw_only=True)
class PlanInputs:
    """Everything that a plan depends on."""

    spec: Spec
    """What the author wrote."""
    lock: Lock
    """What was resolved."""
    platform: str
    """Which of the lock's platforms."""
    launcher: Mapping[str, bytes]
    """The launcher package's files by name."""
    order: LayerOrder
    """The canonical order."""


def plan(inputs: PlanInputs) -> BuildPlan:
    """The plan of one platform's image.

    Raises AssembleError when it would have too many layers, LockError where the spec's `owners` don't fit the lock.
    """
    spec, locked = inputs.spec, inputs.lock.platforms[inputs.platform]
    architecture = inputs.platform.partition("/")[2]
    code = TreeRecipe(tree=inputs.lock.source.refined, root=CODE_ROOT)
    debs = _debs(locked, architecture)
    base, python = _base_layers(locked, debs, inputs.order)
    wheels, bytecode = _package_layers(locked, debs, inputs)
    requested = _requested(locked)
    lock_data = lock_bytes(inputs.lock)
    artifact = ArtifactId(spec.digest(), Digest.of(lock_data))
    config = _config(inputs, locked, artifact)
    contents = {"rra/lock/reprobridge.lock": lock_data, **_documents(inputs, locked, artifact)}
    contents[PROFILE] = _profile(config.environment)
    layers = [
        base,
        python,
        *wheels,
        *bytecode,
        *_extra_layers(locked, debs),
        _state_layer(debs, architecture, requested),
        LayerPlan(title="code", parts=(code,)),
        _launcher_layer(inputs),
        _artifact_layer(
            contents,
            _sbom(inputs, locked, artifact),
            _listed(python, [*wheels, *bytecode[STANDARD_LIBRARY:]], requested, code),
        ),
        LayerPlan(title="references", parts=(_references(spec),)),
    ]
    if len(layers) > HARD_LIMIT:
        raise AssembleError("too many layers", expected=f"at most {HARD_LIMIT}", found=str(len(layers)))
    return BuildPlan(
        name=f"reprobridge/{spec.paper.id}",
        version=spec.version,
        platform=inputs.platform,
        layers=tuple(layers),
        config=config,
        owners=_owners(spec, inputs.lock, locked),
    )


def room_layers(locked: LockedPlatform, order: LayerOrder, architecture: str) -> tuple[LayerPlan, ...]:
    """The root that packages are built in: what an image of these packages has below its code."""
    debs = _debs(locked, architecture)
    base, python = _base_layers(locked, debs, order)
    state = _state_layer(debs, architecture, _requested(locked))
    return (base, python, *_wheel_layers(locked, order), *_extra_layers(locked, debs), state)


# system


def _debs(locked: LockedPlatform, architecture: str) -> dict[str, DebRecipe]:
    """The recipe of every Debian package by name, sorted: the same in its layer and in the system's state."""
    debs = sorted((*locked.debian.base, *locked.debian.extra), key=lambda deb: deb.name)
    return {deb.name: DebRecipe(deb=deb.file, package=deb.name, architecture=architecture) for deb in debs}


def _base_layers(
    locked: LockedPlatform, debs: Mapping[str, DebRecipe], order: LayerOrder
) -> tuple[LayerPlan, LayerPlan]:
    python = tuple(debs[deb.name] for deb in locked.debian.base if is_base_python(deb.name, order))
    system = tuple(debs[deb.name] for deb in locked.debian.base if not is_base_python(deb.name, order))
    skeleton = environment_skeleton(locked.python.version, locked.python.interpreter)
    return (
        LayerPlan(title="base system", parts=system),
        LayerPlan(title=f"Python {locked.python.version}", parts=(*python, skeleton)),
    )


def environment_skeleton(version: str, interpreter: str) -> FilesRecipe:
    """The empty virtual environment at /opt/env: fixed for good, since every wheel's layer relies on it."""
    home = interpreter.rpartition("/")[0]
    settings = f"home = {home}\ninclude-system-site-packages = false\nversion = {version}\n"
    return FilesRecipe(
        files=(PlannedFile(path="opt/env/pyvenv.cfg", data=settings.encode()),),
        links={
            "opt/env/bin/python": interpreter,
            "opt/env/bin/python3": "python",
            f"opt/env/bin/python{version}": "python",
            "opt/env/lib64": "lib",
        },
        folders={f"opt/env/lib/python{version}/site-packages": 0o755},
    )


def _extra_layers(locked: LockedPlatform, debs: Mapping[str, DebRecipe]) -> list[LayerPlan]:
    extra = tuple(debs[deb.name] for deb in locked.debian.extra)
    return [LayerPlan(title="system packages", parts=extra)] if extra else []


def _state_layer(debs: Mapping[str, DebRecipe], architecture: str, requested: FragmentRecipe) -> LayerPlan:
    state = DebianStateRecipe(debs=tuple(debs.values()), architecture=architecture)
    return LayerPlan(title="system state", parts=(state, requested))


# Python


def _wheel(wheel: LockedWheel, locked: LockedPlatform) -> WheelRecipe:
    build = next((build for build in locked.python.builds if build.name == wheel.name), None)
    origin = direct_url(wheel, build)
    return WheelRecipe(wheel=wheel.file, python=locked.python.version, origin=origin)


def _package_layers(
    locked: LockedPlatform, debs: Mapping[str, DebRecipe], inputs: PlanInputs
) -> tuple[list[LayerPlan], list[LayerPlan]]:
    """The layers of wheels, and those of bytecode."""
    order, architecture = inputs.order, inputs.platform.partition("/")[2]
    if not locked.python.bytecode:
        return _wheel_layers(locked, order), []
    wheels = _wheel_layers(locked, order, reserved=STANDARD_LIBRARY + order.small_buckets)
    base = {deb.name for deb in locked.debian.base}
    state = DebianStateRecipe(
        debs=tuple(recipe for name, recipe in debs.items() if name in base), architecture=architecture
    )
    ground = (*_base_layers(locked, debs, order), LayerPlan(title="state of the base system", parts=(state,)))
    recipes = {wheel.name: _wheel(wheel, locked) for wheel in locked.python.wheels}
    bytecode = BytecodePlan(locked=locked, recipes=recipes, ground=ground, order=order)
    return wheels, bytecode.layers(order.budget - FIXED_LAYERS - len(wheels))


def _wheel_layers(locked: LockedPlatform, order: LayerOrder, *, reserved: int = 0) -> list[LayerPlan]:
    layers = wheel_layers(locked.python.wheels, order, order.budget - FIXED_LAYERS - reserved)
    return [
        LayerPlan(title=layer.title, parts=tuple(_wheel(wheel, locked) for wheel in layer.wheels))
        for layer in layers
    ]


def _requested(locked: LockedPlatform) -> RequestedRecipe:
    """The REQUESTED marks (PEP 376): the paper's, so they stand apart from the packages' own layers."""
    asked = (wheel for wheel in locked.python.wheels if wheel.requested)
    return RequestedRecipe(wheels=tuple(_wheel(wheel, locked) for wheel in asked))


def _owners(spec: Spec, lock: Lock, locked: LockedPlatform) -> dict[str, str]:
    site = f"opt/env/lib/python{locked.python.version}/site-packages"
    named = {f"{site}/{path}": package for path, package in owners(spec, lock.platforms.values()).items()}
    compiled = named if locked.python.bytecode else {}
    return named | {
        bytecode_path(path, locked.python.version): bytecode_owner(package)
        for path, package in compiled.items()
        if path.endswith(".py")
    }


# the artifact itself


def _launcher_layer(inputs: PlanInputs) -> LayerPlan:
    """The launcher: the same layer for all papers of a release and an interpreter."""
    interpreter = inputs.lock.platforms[inputs.platform].python.interpreter
    modules = [
        PlannedFile(path=f"rra/lib/reprobridge_launcher/{name}", data=data)
        for name, data in inputs.launcher.items()
    ]
    entry = f"#!{interpreter} -ISB\n".encode() + inputs.launcher["entry.py"]
    files = [*modules, PlannedFile(path="rra/bin/rra", data=entry, mode=0o755)]
    files.sort(key=lambda file: file.path)
    places = FilesRecipe(files=tuple(files), folders={"out": 0o1777, "data": 0o755})
    return LayerPlan(title="launcher", parts=(places,))


def _listed(
    python: LayerPlan, wheels: list[LayerPlan], requested: FragmentRecipe, code: TreeRecipe
) -> tuple[FragmentRecipe, ...]:
    """What the inventory covers: /opt/env and /rra/code."""
    packages = [part for layer in wheels for part in layer.parts]
    return (python.parts[-1], *packages, requested, code)


def _documents(inputs: PlanInputs, locked: LockedPlatform, artifact: ArtifactId) -> dict[str, bytes]:
    """What the image says about itself, and what it was made from, by path."""
    spec, lock = inputs.spec, inputs.lock
    return {
        "rra/manifest.json": manifest_bytes(spec, lock.source, locked, artifact),
        "rra/GUIDE.md": guide_text(spec).encode(),
        "rra/CHANGES.md": changes_text(spec, lock.source).encode(),
        **{f"{SPEC}/{path.as_posix()}": data for path, data in spec.files.items()},
    }


def _sbom(inputs: PlanInputs, locked: LockedPlatform, artifact: ArtifactId) -> SbomRecipe:
    document = sbom_bytes(inputs.spec, inputs.lock, locked, artifact.id)
    wheels = {wheel_id(wheel): _wheel(wheel, locked) for wheel in locked.python.wheels}
    return SbomRecipe(document=document, wheels=wheels, path="rra/sbom.spdx.json")


def _artifact_layer(
    contents: Mapping[str, bytes], sbom: SbomRecipe, listed: tuple[FragmentRecipe, ...]
) -> LayerPlan:
    files = tuple(PlannedFile(path=path, data=contents[path]) for path in sorted(contents))
    inventory = InventoryRecipe(of=listed, path=INTEGRITY.lstrip("/"))
    return LayerPlan(title="artifact", parts=(FilesRecipe(files=files), sbom, inventory))


def _profile(variables: Mapping[str, str]) -> bytes:
    """The line of shell that sets PATH to what the image's configuration says; /etc/profile sets nothing else of it."""
    quoted = variables["PATH"].replace("'", r"'\''")
    return f"PATH='{quoted}'\n".encode()


def _references(spec: Spec) -> FilesRecipe:
    return FilesRecipe(files=(PlannedFile(path="rra/references.json", data=references_bytes(spec)),))


def _config(inputs: PlanInputs, locked: LockedPlatform, artifact: ArtifactId) -> ConfigPlan:
    spec, lock = inputs.spec, inputs.lock
    variables = {"PATH": PATH, "LANG": "C.UTF-8", **spec.environment.variables}
    if cuda(locked.python.wheels):
        variables |= {"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}
    return ConfigPlan(
        created=lock.source.date,
        entrypoint=("/rra/bin/rra",),
        environment=variables,
        working_directory="/",
        annotations=_annotations(inputs, artifact),
    )


def _annotations(inputs: PlanInputs, artifact: ArtifactId) -> dict[str, str]:
    spec, lock = inputs.spec, inputs.lock
    values = {
        "org.opencontainers.image.title": spec.paper.title,
        "org.opencontainers.image.authors": ", ".join(spec.paper.authors),
        "org.opencontainers.image.version": spec.version,
        "org.opencontainers.image.licenses": spec.license,
        "org.opencontainers.image.created": lock.source.date,
        "org.opencontainers.image.source": spec.repository,
        "org.opencontainers.image.url": spec.paper.url,
        "org.opencontainers.image.revision": lock.source.commit,
        "io.reprobridge.paper": spec.paper.id,
        "io.reprobridge.artifact": artifact.id.hex,
        "io.reprobridge.lock": artifact.lock.hex,
        "io.reprobridge.template": lock.template,
        "io.reprobridge.tasks": ",".join(task.id for task in spec.tasks),
    }
    return {name: value for name, value in values.items() if value}
