"""From a spec and its lock to an image in the store: the half of a build that has something to do."""

from pathlib import Path

from reprobridge.assemble.arrivals import LockedArrivals, wanted_files
from reprobridge.assemble.build import BuildRequest
from reprobridge.assemble.image import Making, build_image
from reprobridge.assemble.model import BuiltImage
from reprobridge.assemble.workshop import Workshop
from reprobridge.data_files import data_folder
from reprobridge.errors import LockError
from reprobridge.lock.doors import Doors
from reprobridge.lock.file import FILE_NAME
from reprobridge.lock.model import Lock
from reprobridge.lock.source import obtain_refined
from reprobridge.lock.tools import launcher_files
from reprobridge.plan.model import BuildPlan, TreeRecipe, WheelRecipe
from reprobridge.plan.order import LayerOrder
from reprobridge.plan.plan import PlanInputs, plan
from reprobridge.spec.model import Spec


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
    order = LayerOrder.parse((data_folder("image-templates") / "layer-order.json").read_bytes())
    return plan(PlanInputs(spec=spec, lock=lock, platform=platform, launcher=launcher_files(), order=order))


def _require_sizes(lock: Lock, platform: str, where: str, doors: Doors) -> None:
    """Refuse a lock that names another size than a file of its digest has; files to come are held to it then."""
    locked = lock.platforms[platform]
    debs = (*locked.debian.base, *locked.debian.extra)
    for file in (*(wheel.file for wheel in locked.python.wheels), *(deb.file for deb in debs)):
        if doors.store.has(file.sha256) and (found := doors.store.size(file.sha256)) != file.size:
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
        part.wheel.sha256
        for layer in made.layers
        for part in layer.parts
        if isinstance(part, WheelRecipe) and part.wheel.sha256 in built
        if workshop.known_layer(layer) is None or workshop.known_fragment(part) is None
    }
    if needed:
        with doors.store.working():
            obtain_built(python, needed, locked_ground(lock, made.platform, folder), doors)
