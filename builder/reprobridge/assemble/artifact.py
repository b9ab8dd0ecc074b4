"""From a spec and its lock to an image in the store: the half of a build that has something to do."""

from pathlib import Path, PurePosixPath

from reprobridge.assemble.arrivals import LockedArrivals, wanted_files
from reprobridge.assemble.build import BuildRequest
from reprobridge.assemble.image import Making, build_image
from reprobridge.assemble.image_memory import image_key, remember_image, remembered_image
from reprobridge.assemble.model import BuiltImage
from reprobridge.assemble.unchanged import Looked, SourceFolder, remember_looked
from reprobridge.assemble.workshop import Workshop
from reprobridge.digest import Digest
from reprobridge.errors import LockError
from reprobridge.lock.doors import Doors
from reprobridge.lock.file import FILE_NAME, lock_file, parse_lock
from reprobridge.lock.freshness import require_fresh
from reprobridge.lock.model import Lock
from reprobridge.lock.source import obtain_refined
from reprobridge.lock.tools import launcher_files, layer_order, require_tools
from reprobridge.plan.model import BuildPlan, BytecodeRecipe, TreeRecipe, WheelRecipe
from reprobridge.plan.order import LayerOrder
from reprobridge.plan.plan import PlanInputs, plan
from reprobridge.spec.model import FolderSource, Spec
from reprobridge.spec.named import FILE_NAME as SPEC
from reprobridge.spec.parse import read_spec


def build_answered(request: BuildRequest, doors: Doors, tool: Digest) -> BuiltImage:
    """The image of specification and lock, made where it isn't remembered; `tool` is the installation's state.

    Raises SpecError, LockError (missing, stale, of another release), and what making raises.
    """
    spec = read_spec(request.folder, memory=doors.store)
    lock, data = request.answer(spec) if request.answer else _lock_beside(request.folder)
    require_fresh(spec, lock, request.folder, doors)
    require_tools(lock.tools, str(request.folder / FILE_NAME), request.folder)
    platform = spec.environment.platforms[0]
    written = (Digest.of(spec.files[PurePosixPath(SPEC)]), Digest.of(data))
    key = image_key(spec.digest(), written[1], platform, tool)
    built = None if request.knowledge else remembered_image(doors.store, key, elsewhere=request.elsewhere)
    if built is None:
        built = make_artifact(request, spec, lock, platform, doors)
        remember_image(doors.store, key, built, elsewhere=request.counts_elsewhere)
    if not builds_folders(lock):
        remember_looked(doors, written, tool, looked_at(spec, request.folder, doors), key)
    return built


def _lock_beside(folder: Path) -> tuple[Lock, bytes]:
    data = lock_file(folder / FILE_NAME)
    return parse_lock(data, str(folder / FILE_NAME)), data


def builds_folders(lock: Lock) -> bool:
    """Whether packages are built from folders, which nobody compares who only recognises an artifact."""
    return any(build.kind == "path" for one in lock.platforms.values() for build in one.python.builds)


def looked_at(spec: Spec, folder: Path, doors: Doors) -> Looked:
    """What reading the specification and checking the lock looked at."""
    files = {path.as_posix(): Digest.of(data) for path, data in spec.files.items() if path.as_posix() != SPEC}
    if not isinstance(spec.source, FolderSource):
        return Looked(files=files, places=(), source=None)
    root = spec.source.path
    checkpoints = sorted({(root / path).as_posix() for task in spec.tasks for path in task.checkpoints})
    tree = doors.read_folder(folder / root, spec.exclude).kept.tree
    source = SourceFolder(path=root.as_posix(), exclude=spec.exclude, tree=tree)
    return Looked(files=files, places=tuple(checkpoints), source=source)


def make_artifact(request: BuildRequest, spec: Spec, lock: Lock, platform: str, doors: Doors) -> BuiltImage:
    """The image of a spec that the lock answers. Raises LockError and what making raises."""
    _require_sizes(lock, platform, str(request.folder / FILE_NAME), doors)
    made = plan_artifact(spec, lock, platform)
    arrivals = LockedArrivals(wanted_files(lock, platform, doors), doors, request.downloads)
    if request.knowledge is not None:
        request.knowledge.teach(made.layers, arrivals)
    making = Making(
        arrivals=arrivals,
        progress=request.progress,
        workers=request.workers,
        elsewhere=request.counts_elsewhere,
    )
    workshop = Workshop(doors.store, elsewhere=making.elsewhere)
    _bring_code(made, spec, lock, request.folder, doors)
    bring_built(made, lock, request.folder, doors, workshop)
    return build_image(made, doors.store, making)


def plan_artifact(spec: Spec, lock: Lock, platform: str) -> BuildPlan:
    """The plan of one platform's image, with this release's launcher and order of layers."""
    order = LayerOrder.parse(layer_order())
    return plan(PlanInputs(spec=spec, lock=lock, platform=platform, launcher=launcher_files(), order=order))


def _require_sizes(lock: Lock, platform: str, where: str, doors: Doors) -> None:
    """Refuse a lock that names another size than a file of its digest has; files to come are held to it then.

    A file of the store that is damaged goes, so that it is brought again.
    """
    locked = lock.platforms[platform]
    debs = (*locked.debian.base, *locked.debian.extra)
    for file in (*(wheel.file for wheel in locked.python.wheels), *(deb.file for deb in debs)):
        found = doors.store.size_if_here(file.sha256)
        if found not in (None, file.size) and not doors.store.drop_damaged(file.sha256):
            raise LockError(
                f"the size of {file.name} is wrong",
                where=where,
                expected=f"{found} bytes, as the file of this SHA-256 has",
                found=f"{file.size} bytes",
                hint="restore the lock from version control",
            )


def _bring_code(made: BuildPlan, spec: Spec, lock: Lock, folder: Path, doors: Doors) -> None:
    """Have the refined tree in the store if its layer has to be made."""
    workshop = Workshop(doors.store)
    for layer in made.layers:
        for part in layer.parts:
            if isinstance(part, TreeRecipe) and workshop.known_layer(layer) is None:
                obtain_refined(spec, lock.source, folder, doors)


def bring_built(made: BuildPlan, lock: Lock, folder: Path, doors: Doors, workshop: Workshop) -> None:
    """Have those wheels in the store that nobody published and whose layers have to be made."""
    python = lock.platforms[made.platform].python
    if not python.builds:
        return
    from reprobridge.lock.sdist.ground import locked_ground
    from reprobridge.lock.sdist.rebuild import obtain_built

    built = {wheel.file.sha256 for _, wheel in python.built}
    needed = {
        wheel.wheel.sha256
        for layer in made.layers
        for part in layer.parts
        for wheel in (part.of if isinstance(part, BytecodeRecipe) else (part,))
        if isinstance(wheel, WheelRecipe) and wheel.wheel.sha256 in built
        if workshop.known_layer(layer) is None or workshop.known_fragment(part) is None
    }
    if needed:
        obtain_built(python, needed, locked_ground(lock, made.platform, folder), doors)
