"""A registry on this machine for what the engine pushes (`docker-registry`, distribution 2.8)."""

import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_CONFIGURATION = """version: 0.1
log: {{level: error}}
storage: {{filesystem: {{rootdirectory: {data}}}, delete: {{enabled: true}}}}
http: {{addr: {address}}}
"""


@dataclass(kw_only=True, slots=True)
class Registry:
    """A running registry whose content can be set back."""

    address: str
    """Host and port."""
    folder: Path
    """Holds configuration and content."""
    process: "subprocess.Popen[bytes] | None" = None
    """The server."""

    def start(self) -> None:
        """Start serving and wait until it answers."""
        configuration = self.folder / "config.yml"
        configuration.write_text(_CONFIGURATION.format(data=self.folder / "data", address=self.address))
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                ["docker-registry", "serve", str(configuration)], stdout=log, stderr=log
            )
        deadline = time.monotonic() + 20
        while not self._answers():
            if time.monotonic() > deadline:
                raise TimeoutError(f"the registry does not answer\n{(self.folder / 'log').read_text()}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Stop serving."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait()
            self.process = None

    def keep(self) -> None:
        """Remember the content for resets."""
        shutil.copytree(self.folder / "data", self.folder / "kept")

    def reset(self) -> None:
        """Set the content back to what was kept; a registry remembers blobs in memory, so it starts anew."""
        self.stop()
        shutil.rmtree(self.folder / "data")
        shutil.copytree(self.folder / "kept", self.folder / "data")
        self.start()

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{self.address}/v2/", timeout=2):
                return True
        except OSError:
            return False


@contextmanager
def own_registry(folder: Path) -> Iterator[Registry]:
    """A registry below `folder`, on a free port of the loopback interface."""
    (folder / "data").mkdir(parents=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    registry = Registry(address=f"127.0.0.1:{port}", folder=folder)
    registry.start()
    try:
        yield registry
    finally:
        registry.stop()
