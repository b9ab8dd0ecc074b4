"""Running a command in the room that a package is built in: the layers of an image, made and put into a sandbox.

Behind the door `Doors.rooms` of the stage lock, which knows what shall be in a room and not how layers are made.
A room shares its layers with the images of the same base, so most of them are in the store already.
"""

import os

from reprobridge.assemble.arrivals import LockedArrivals, published_files
from reprobridge.assemble.model import Arrivals
from reprobridge.assemble.omissions import omissions, with_omissions
from reprobridge.assemble.schedule import Scheduler
from reprobridge.assemble.summary import summaries
from reprobridge.assemble.workshop import Workshop
from reprobridge.errors import AssembleError
from reprobridge.frozen import replace
from reprobridge.lock.doors import Doors
from reprobridge.lock.sdist.ground import Room
from reprobridge.lock.tools import layer_order
from reprobridge.plan.model import BuildPlan, ConfigPlan, LayerPlan
from reprobridge.plan.order import LayerOrder
from reprobridge.plan.plan import room_layers
from reprobridge.sandbox.choose import choose, every_sandbox
from reprobridge.sandbox.model import STRANGER, Layer, Sandbox, Shell
from reprobridge.store.store import Store
from reprobridge.system.processes import Completed, cores

WORKERS = min(8, cores())
"""Most processes that make layers."""


class Silence:
    """Progress that nobody looks at: a room is a means, not what the user waits for."""

    def begin(self, what: str, total: int) -> None:
        """Nothing."""

    def step(self, title: str) -> None:
        """Nothing."""


def run_in_room(room: Room, shell: Shell, doors: Doors, wanted: str | None = None) -> Completed:
    """Run a command in the room to its end, in the wanted kind of sandbox if one is named.

    Raises SandboxError, and what making layers raises.
    """
    sandbox = choose(every_sandbox(doors.store, doors.processes, as_root=os.geteuid() == 0), wanted)
    with doors.store.working():
        return sandbox.run(_layers(room, doors), leaving_ours(shell, sandbox))


def leaving_ours(shell: Shell, sandbox: Sandbox) -> Shell:
    """The shell, as a user whose files we can delete: an engine's user is one of this machine."""
    if sandbox.kind == "bubblewrap":
        return shell
    return replace(shell, uid=os.geteuid() or STRANGER, gid=os.getegid() or STRANGER)


def _layers(room: Room, doors: Doors) -> list[Layer]:
    wanted = published_files(room.locked, room.template, room.platform, doors)
    order = LayerOrder.parse(layer_order())
    planned = room_layers(room.locked, order, room.platform.partition("/")[2])
    return made_layers(plan_of(planned), LockedArrivals(wanted, doors, None), doors.store)


def made_layers(plan: BuildPlan, arrivals: Arrivals, store: Store) -> list[Layer]:
    """The plan's layers for a sandbox, made where the store lacks them."""
    workshop = Workshop(store)
    scheduler = Scheduler(workshop, arrivals, Silence(), WORKERS)
    scheduler.run(plan, thorough=True)
    decided = omissions(plan, summaries(plan, workshop), workshop)
    if decided.omit:
        plan = with_omissions(plan, decided.omit)
        scheduler.run(plan, thorough=True)
    layers = []
    for planned in plan.layers:
        made = workshop.known_layer(planned)
        if made is None:
            raise AssembleError(
                "a layer is missing right after it was made", where=planned.title, hint="run again"
            )
        layers.append(Layer(made.diff_id, made.blob, store.path(made.blob)))
    return layers


def plan_of(layers: tuple[LayerPlan, ...]) -> BuildPlan:
    """Layers as an image that nobody starts."""
    nothing = ConfigPlan(created="", entrypoint=(), environment={}, working_directory="/", annotations={})
    return BuildPlan(name="build-room", version="0", platform="", layers=layers, config=nothing, owners={})
