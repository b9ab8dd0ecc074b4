"""Compiling bytecode without a sandbox and a base system: this Python does it, in folders of the host.

For what happens around it. What a real room gives is tested with real ones.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reprobridge.assemble.bytecode.room import CompilingRoom
from reprobridge.digest import Digest
from reprobridge.plan.model import BytecodeRecipe
from reprobridge.sandbox.model import Layer, Shell, Unusable
from reprobridge.store.store import Store
from reprobridge.system.processes import Completed
from support.lock_doors import doors

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
"""What recipes must name as their interpreter's version."""


@dataclass
class HostSandbox:
    """`Sandbox` on this machine."""

    kind: str = "host"
    after: Callable[[Path], object] = lambda work: None
    """Called with the writable folder when the command has ended: what another interpreter may leave there."""

    def probe(self, *, wanted: bool) -> Unusable | None:
        """It always works."""
        return None

    def run(self, layers: Sequence[Layer], shell: Shell) -> Completed:
        """Run the frontend with the places of the room turned into those of the host."""
        given = {place: str(host) for place, host in shell.readonly.items()}
        work = shell.writable["/build/work"]
        job = json.loads(Path(given["/build/job.json"]).read_text())
        job["sources"] = [[given.get(file, file), *rest] for file, *rest in job["sources"]]
        job_path = work / "job.json"
        job_path.write_text(json.dumps({**job, "work": str(work)}))
        done = subprocess.run(
            [sys.executable, shell.argv[1], given["/build/frontend.py"], job_path],
            env=dict(shell.environment),
            capture_output=True,
            check=False,
        )
        self.after(work)
        return Completed(argv=shell.argv, returncode=done.returncode, stdout=done.stdout, stderr=done.stderr)


@dataclass
class HostCompiler:
    """`Arrivals` where all files are in the store and bytecode is compiled by this Python."""

    store: Store
    sandbox: HostSandbox

    def bring(self, wanted: Iterable[Digest]) -> Generator[Digest]:
        """There must be nothing to bring."""
        assert not list(wanted)
        yield from ()

    def compile(self, recipes: Sequence[BytecodeRecipe], store: Store) -> None:
        """Compile them here, on nothing."""
        room = CompilingRoom(sandbox=self.sandbox, layers=[], doors=doors(self.store.root))
        room.compile(recipes, store)
