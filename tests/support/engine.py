"""A container engine for tests: the one that DOCKER_HOST names, one of our own, or the machine's.

As root with dockerd installed, a daemon is started for the session with its data, socket and state in
a temporary folder, without touching iptables or bridges, so that a user's engine and images are left
alone. Tests run containers with `--network none`.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.require import unavailable

START_SECONDS = 60
"""How long a daemon may take to answer; it takes one or two seconds on an idle machine."""


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A running engine that the `docker` command can talk to."""

    host: str
    """Value of DOCKER_HOST, such as `unix:///tmp/rb-engine-x/docker.sock`; empty: the default socket."""

    @property
    def environment(self) -> dict[str, str]:
        """This process's environment with DOCKER_HOST set: for code under test that finds the engine itself."""
        return dict(os.environ, DOCKER_HOST=self.host) if self.host else dict(os.environ)

    def docker(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run `docker ARGUMENTS…` with stdin closed; a failure raises with the command's stderr as a note."""
        result = subprocess.run(
            ["docker", *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and result.returncode != 0:
            pytest.fail(f"docker {' '.join(arguments)}: exit code {result.returncode}\n{result.stderr}")
        return result

    def answers(self) -> bool:
        """Whether a daemon is there."""
        return self.docker("info", check=False).returncode == 0


@pytest.fixture(scope="session")
def docker_engine() -> Iterator[Engine]:
    """An engine for the session. Workers share one that DOCKER_HOST names, so a test removes no image by its tag."""
    if shutil.which("docker") is None:
        unavailable("the program docker is not installed")
    named = Engine(host=os.environ.get("DOCKER_HOST", ""))
    if named.host and named.answers():
        yield named
    elif os.geteuid() == 0 and shutil.which("dockerd") is not None:
        with _own_daemon() as engine:
            yield engine
    elif named.answers():
        yield named
    else:
        unavailable("no container engine answers, and starting one takes root and dockerd")


@contextmanager
def _own_daemon() -> Iterator[Engine]:
    """Start dockerd in a temporary folder, and stop it and remove the folder at the end."""
    # Not pytest's folder: a socket's path has at most 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="rb-engine-"))
    engine = Engine(host=f"unix://{folder}/docker.sock")
    log = folder / "dockerd.log"
    with log.open("wb") as output:
        daemon = subprocess.Popen(_dockerd_command(folder, engine.host), stdout=output, stderr=output)
    try:
        _wait_until_it_answers(engine, daemon, log)
        yield engine
    finally:
        daemon.terminate()
        daemon.wait()
        _unmount_below(folder)
        shutil.rmtree(folder)


def _dockerd_command(folder: Path, host: str) -> list[str]:
    """Arguments of a daemon that keeps everything in `folder`."""
    configuration = folder / "daemon.json"
    configuration.write_text("{}")  # not /etc/docker/daemon.json
    return [
        "dockerd",
        f"--config-file={configuration}",
        f"--host={host}",
        f"--data-root={folder / 'data'}",
        f"--exec-root={folder / 'exec'}",
        f"--pidfile={folder / 'dockerd.pid'}",
        "--iptables=false",
        "--ip6tables=false",
        "--bridge=none",
    ]


def _wait_until_it_answers(engine: Engine, daemon: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the daemon answers; fail with its log when it ends or never does."""
    deadline = time.monotonic() + START_SECONDS
    while not engine.answers():
        if daemon.poll() is not None or time.monotonic() > deadline:
            tail = "\n".join(log.read_text().splitlines()[-10:])
            unavailable(f"dockerd did not start:\n{tail}")
        time.sleep(0.2)


def _unmount_below(folder: Path) -> None:
    """Unmount what a daemon has left mounted in its folder (network namespaces, at least)."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    points = [line.split()[4] for line in lines]
    for point in sorted((p for p in points if p.startswith(f"{folder}/")), reverse=True):
        subprocess.run(["umount", "--lazy", point], check=True)
