"""A registry on this machine for what the engine pushes (`docker-registry`, distribution 2.8)."""

import re
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ANY_PORT = "127.0.0.1:0"
"""An address at which a server takes a port that is free, and says which."""

_LISTENS = re.compile(r"listening on (127\.0\.0\.1:[0-9]+)\"")
_CONFIGURATION = """version: 0.1
log: {{level: {level}}}
storage: {{filesystem: {{rootdirectory: {data}}}, delete: {{enabled: true}}}}
http: {{addr: {address}}}
"""


@dataclass(kw_only=True, slots=True)
class Registry:
    """A running registry whose content can be set back."""

    address: str = ANY_PORT
    """Host and port; the same from the first start on, since clients remember what they pushed where."""
    folder: Path
    """Holds configuration and content."""
    process: "subprocess.Popen[bytes] | None" = None
    """The server."""

    def start(self) -> None:
        """Start serving and wait until it answers."""
        configuration = self.folder / "config.yml"
        level = "info" if self.address == ANY_PORT else "error"
        configuration.write_text(
            _CONFIGURATION.format(data=self.folder / "data", address=self.address, level=level)
        )
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
        if self.address == ANY_PORT:
            said = _LISTENS.search((self.folder / "log").read_text())
            self.address = said[1] if said else ANY_PORT
        try:
            with urllib.request.urlopen(f"http://{self.address}/v2/", timeout=2):
                return True
        except OSError:
            return False


@contextmanager
def own_registry(folder: Path) -> Iterator[Registry]:
    """A registry below `folder`, on a free port of the loopback interface."""
    (folder / "data").mkdir(parents=True)
    registry = Registry(folder=folder)
    try:
        registry.start()
        yield registry
    finally:
        registry.stop()
