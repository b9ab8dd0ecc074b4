"""What a command may use: the store and the doors to the world, opened when first used."""

import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from reprobridge.cli.streams import StandardOutput, talk
from reprobridge.store.store import Store, default_root
from reprobridge.system.processes import Processes, RealProcesses

if TYPE_CHECKING:
    from reprobridge.lock.doors import Doors as LockDoors
    from reprobridge.lock.sdist.ground import Room
    from reprobridge.sandbox.model import Shell
    from reprobridge.system.http import Http, RealHttp
    from reprobridge.system.network import Network, RealNetwork
    from reprobridge.system.processes import Completed


class Doors:
    """Handed to every command."""

    def __init__(
        self, *, store_root: Path | None, offline: bool, quiet: bool, sandbox: str | None = None
    ) -> None:
        """`sandbox`: kind of the one that packages are built in; None for the first that works."""
        self._store_root = store_root
        self._sandbox = sandbox
        self._offline = offline
        self.quiet = quiet
        """No talk on standard error, no progress."""
        self.out = cast(TextIO, StandardOutput(sys.stdout))
        """Data: what a pipe shall receive."""

    @functools.cached_property
    def store(self) -> Store:
        """The user's store."""
        return Store(self._store_root or default_root())

    @functools.cached_property
    def network(self) -> "Network":
        """The network, or none with --offline."""
        from reprobridge.system.network import Offline

        return Offline() if self._offline else self._real_network

    @functools.cached_property
    def _real_network(self) -> "RealNetwork":
        from reprobridge.system.network import RealNetwork

        return RealNetwork()

    @functools.cached_property
    def http(self) -> "Http":
        """Container registries, or none with --offline."""
        from reprobridge.system.http import OfflineHttp

        return OfflineHttp() if self._offline else self._real_http

    @functools.cached_property
    def _real_http(self) -> "RealHttp":
        from reprobridge.system.http import RealHttp

        return RealHttp()

    def close(self) -> None:
        """Close connections that were opened."""
        for opened in ("_real_network", "_real_http"):
            if opened in vars(self):
                getattr(self, opened).close()

    @functools.cached_property
    def processes(self) -> Processes:
        """Programs of this machine."""
        return RealProcesses()

    @property
    def offline(self) -> bool:
        """Whether fetching is forbidden."""
        return self._offline

    def for_locking(self) -> "LockDoors":
        """The doors that locking and building take."""
        from reprobridge.lock.doors import Doors as LockDoors
        from reprobridge.lock.folder import Readings

        return LockDoors(
            store=self.store,
            processes=self.processes,
            network=self.network,
            rooms=functools.partial(_run_in_room, self._sandbox),
            sandbox=self._sandbox,
            readings=Readings(),
        )

    def log(self, text: str) -> None:
        """Talk: one line on standard error."""
        if not self.quiet:
            talk(f"{text}\n")


def _run_in_room(sandbox: str | None, room: "Room", shell: "Shell", doors: "LockDoors") -> "Completed":
    """Builds of packages without a wheel, imported when there is one."""
    from reprobridge.assemble.build_room import run_in_room

    return run_in_room(room, shell, doors, sandbox)
