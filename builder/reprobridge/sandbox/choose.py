"""Which sandbox to use: the one that the user names, else the first that works here."""

from collections.abc import Sequence

from reprobridge.errors import SandboxError
from reprobridge.sandbox.bubblewrap import BubblewrapSandbox
from reprobridge.sandbox.engine import EngineSandbox
from reprobridge.sandbox.model import Sandbox
from reprobridge.store.store import Store
from reprobridge.system.processes import Processes

KINDS = ("bubblewrap", "podman", "docker")
"""Every sandbox, in the order in which they are tried."""


def every_sandbox(store: Store, processes: Processes, *, as_root: bool) -> tuple[Sandbox, ...]:
    """All sandboxes in the order of `KINDS`; making one costs nothing."""
    return (
        BubblewrapSandbox(store, processes, as_root=as_root),
        EngineSandbox(store, processes, "podman"),
        EngineSandbox(store, processes, "docker"),
    )


def choose(sandboxes: Sequence[Sandbox], wanted: str | None = None) -> Sandbox:
    """The first that works among all, or the wanted one. Raises SandboxError with every reason and remedy."""
    tried = []
    for sandbox in sandboxes:
        if wanted in (None, sandbox.kind):
            problem = sandbox.probe(wanted=wanted is not None)
            if problem is None:
                return sandbox
            tried.append(f"{sandbox.kind}: {problem.reason} ({problem.hint})")
    kinds = ", ".join(sandbox.kind for sandbox in sandboxes)
    raise SandboxError(
        f"the sandbox {wanted} does not work here" if wanted else "no sandbox works here",
        expected=f"one of {kinds}",
        found="; ".join(tried) or f"no sandbox named {wanted}",
        hint="name another, or none: then the first that works is taken" if wanted else None,
    )
