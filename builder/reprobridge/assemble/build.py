"""`reprobridge build` as a function: from an artifact's folder to an image in the store.

Where nothing changed since the last build that is recognised without parsing anything (`unchanged.py`), and what
only making needs is imported when something has to be made.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from reprobridge.assemble.model import Arrivals, BuiltImage, Progress
from reprobridge.assemble.unchanged import recognised
from reprobridge.data_files import installed_state
from reprobridge.frozen import frozen
from reprobridge.lock.doors import Doors

if TYPE_CHECKING:
    from reprobridge.lock.fetch import Progress as FetchProgress
    from reprobridge.lock.model import Lock
    from reprobridge.plan.model import LayerPlan
    from reprobridge.spec.model import Spec


@frozen(kw_only=True)
class BuildRequest:
    """What to build and how."""

    folder: Path
    """The artifact's folder."""
    progress: Progress
    """Hears how far the making is."""
    downloads: "FetchProgress | None" = None
    """Hears how far the fetching is."""
    workers: int = 2
    """Most processes at once."""
    knowledge: "Knowledge | None" = None
    """Tells of layers that need not be made."""
    elsewhere: bool = False
    """Whether a layer's bytes may lie in a registry instead of the store, as they may with `knowledge`."""
    answer: "Callable[[Spec], tuple[Lock, bytes]] | None" = None
    """Gives the lock of a specification and its bytes; None: what lies beside it."""

    @property
    def counts_elsewhere(self) -> bool:
        """Whether an image is finished when some of its layers are not here."""
        return self.elsewhere or self.knowledge is not None


class Knowledge(Protocol):
    """Knows layers that others made (`publish/known_source.py` behind it)."""

    def teach(self, layers: "Sequence[LayerPlan]", arrivals: Arrivals) -> None:
        """Let the store know what is known of those layers that it lacks; raises when that does not hold."""


def build_artifact(request: BuildRequest, doors: Doors) -> BuiltImage:
    """The artifact's image. Raises SpecError, LockError (missing, stale, of another release), and what making raises."""
    # From the first look at the source, which is kept in the store: a prune meanwhile would take it again.
    with doors.store.working():
        return _built(request, doors)


def _built(request: BuildRequest, doors: Doors) -> BuiltImage:
    tool = installed_state()
    # Whoever brings knowledge may want it looked into (`--recompute`), finished image or not.
    built = None
    if request.knowledge is None:
        built = recognised(request.folder, doors, tool, elsewhere=request.elsewhere)
    if built is None:
        from reprobridge.assemble.artifact import build_answered

        built = build_answered(request, doors, tool)
    doors.store.refer(built.name, built.version, built.manifest)
    return built
