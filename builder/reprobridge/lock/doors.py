"""What locking reads and writes through: the store, programs, the network, and the user's settings."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.frozen import field, frozen
from reprobridge.lock.folder import Reading, Readings, read_folder
from reprobridge.store.store import Store

if TYPE_CHECKING:
    from reprobridge.lock.sdist.room import Rooms
    from reprobridge.system.network import Network
    from reprobridge.system.processes import Processes


@frozen(kw_only=True)
class Doors:
    """The doors, as one argument."""

    store: Store
    """Where everything that was fetched is kept."""
    processes: "Processes"
    """For git and uv."""
    network: "Network"
    """For downloads."""
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    """The user's settings: proxies, certificates, indexes, folders of vendored files."""
    pause: Callable[[float], None] = time.sleep
    """Waits some seconds before something that failed for the network is tried again."""
    rooms: "Rooms | None" = None
    """Runs builds of packages that have no wheel; None where nothing is built."""
    sandbox: str | None = None
    """Kind of the sandbox that bytecode is compiled in; None: the first that works."""
    readings: Readings | None = None
    """What was read of folders, for a command that is about one state of them; None: each look is a new one."""

    def read_folder(self, folder: Path, exclude: tuple[str, ...]) -> Reading:
        """A folder of sources as a tree; errors as for `lock/folder.py`."""
        read = self.readings.read if self.readings else read_folder
        return read(self.store, folder, exclude)

    @property
    def scratch(self) -> Path:
        """Where temporary files and folders go; what a killed process leaves there, a prune deletes."""
        return self.store.root / "scratch"

    @property
    def vendored(self) -> tuple[Path, ...]:
        """Folders that `reprobridge vendor` filled: the setting REPROBRIDGE_VENDOR, separated by colons."""
        return tuple(Path(one) for one in self.environment.get("REPROBRIDGE_VENDOR", "").split(":") if one)
