"""containerd of our own: data, state and socket in a temporary folder, driven by `ctr`.

Needs root. Images are unpacked with the plain snapshotter `native`, which works in every container.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.require import require_tool, unavailable

START_SECONDS = 60
"""How long it may take to answer; it takes less than one on an idle machine."""


@dataclass(frozen=True)
class Containerd:
    """A running containerd."""

    address: str
    """Its socket."""

    def ctr(self, *words: str | Path) -> str:
        """Run `ctr WORDS…`; gives its output, and fails the test with what it says when it fails."""
        done = self._run(*words)
        if done.returncode:
            pytest.fail(f"ctr {' '.join(map(str, words))}: exit code {done.returncode}\n{done.stderr}")
        return done.stdout

    def answers(self) -> bool:
        """Whether it is up."""
        return self._run("version").returncode == 0

    def _run(self, *words: str | Path) -> "subprocess.CompletedProcess[str]":
        argv = ["ctr", "--address", self.address, *map(str, words)]
        return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


@pytest.fixture(scope="session")
def containerd() -> Iterator[Containerd]:
    """A containerd for the session."""
    program = require_tool("containerd")
    require_tool("ctr")
    if os.geteuid() != 0:
        unavailable("containerd takes root")
    # Not pytest's folder: a socket's path has at most 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="rb-containerd-"))
    running = Containerd(str(folder / "socket"))
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(_command(program, folder), stdout=output, stderr=output)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not running.answers():
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"containerd did not start\n{log.read_text()[-2000:]}")
            time.sleep(0.1)
        yield running
    finally:
        process.terminate()
        process.wait(timeout=30)
        shutil.rmtree(folder, ignore_errors=True)


def _command(program: Path, folder: Path) -> list[str]:
    configuration = folder / "config.toml"
    # The part for Kubernetes asks for a network plug-in that nobody has here.
    configuration.write_text('version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n')
    places = ["--root", str(folder / "root"), "--state", str(folder / "state")]
    return [str(program), "--config", str(configuration), "--address", str(folder / "socket"), *places]
