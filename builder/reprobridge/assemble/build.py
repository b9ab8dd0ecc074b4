"""`reprobridge build` as a function: from an artifact's folder to an image in the store."""

from pathlib import Path

from reprobridge.assemble.arrivals import LockedArrivals
from reprobridge.assemble.image import BuiltImage, Making, build_image
from reprobridge.assemble.schedule import Progress
from reprobridge.assemble.workshop import Workshop
from reprobridge.data_files import data_folder
from reprobridge.errors import LockError
from reprobridge.frozen import frozen
from reprobridge.lock.doors import Doors
from reprobridge.lock.fetch import Progress as FetchProgress
from reprobridge.lock.file import FILE_NAME, read_lock
from reprobridge.lock.freshness import require_fresh
from reprobridge.lock.model import Lock
from reprobridge.lock.source import obtain_refined
from reprobridge.lock.tools import launcher_files, require_tools
from reprobridge.plan.model import BuildPlan, TreeRecipe
from reprobridge.plan.order import LayerOrder
from reprobridge.plan.plan import PlanInputs, plan
from reprobridge.spec.model import Spec
from reprobridge.spec.parse import read_spec


@frozen(kw_only=True)
class BuildRequest:
    """What to build and how."""

    folder: Path
    """The artifact's folder."""
    progress: Progress
    """Hears how far the making is."""
    downloads: FetchProgress | None = None
    """Hears how far the fetching is."""
    workers: int = 2
    """Most processes at once."""


def build_artifact(request: BuildRequest, doors: Doors) -> BuiltImage:
    """The artifact's image. Raises SpecError, LockError (missing, stale, of another release), and what making raises."""
    spec = read_spec(request.folder, memory=doors.store)
    path = request.folder / FILE_NAME
    lock = read_lock(path)
    require_fresh(spec, lock, request.folder, doors)
    require_tools(lock.tools, str(path))
    platform = spec.environment.platforms[0]
    _require_sizes(lock, platform, str(path), doors)
    made = plan_artifact(spec, lock, platform)
    _bring_code(made, spec, lock, request.folder, doors)
    arrivals = LockedArrivals(lock, platform, doors, request.downloads)
    return build_image(
        made, doors.store, Making(arrivals=arrivals, progress=request.progress, workers=request.workers)
    )


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
