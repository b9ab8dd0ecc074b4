"""Doors for locking with a store of the test's own and real programs, without a network unless one is given."""

from collections.abc import Mapping
from pathlib import Path

from reprobridge.lock.doors import Doors
from reprobridge.store.store import Store
from reprobridge.system.network import Network, Offline, RealNetwork
from reprobridge.system.processes import RealProcesses


def doors(
    store_folder: Path, *, network: Network | None = None, environment: Mapping[str, str] | None = None
) -> Doors:
    """Doors; nobody waits between attempts."""
    surroundings = {"PATH": "/usr/local/bin:/usr/bin:/bin", **(environment or {})}
    return Doors(
        store=Store(store_folder),
        processes=RealProcesses(),
        network=network or Offline(),
        environment=surroundings,
        pause=lambda _: None,
    )


def impatient() -> RealNetwork:
    """A real network that does not wait between attempts."""
    return RealNetwork(pause=lambda _: None)


def temporary_files(root: Path) -> list[Path]:
    """Unfinished files and folders below a store."""
    return sorted(root.rglob(".tmp-*"))
