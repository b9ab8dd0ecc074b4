"""A docker engine of the benchmark's own: nobody else's work is measured, nobody else's images are touched."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import CommandFailedError, Invocation, run

START_SECONDS = 60
"""How long the daemon may take to answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Engine:
    """A running engine."""

    host: str
    """Value of DOCKER_HOST."""
    pid: int
    """The daemon, with containerd and everything else below it."""
    client: str
    """Path of a `docker` that can use BuildKit."""


@contextmanager
def own_engine(client: str) -> Iterator[Engine]:
    """Start dockerd with everything in a temporary folder; needs root. Raises CommandFailedError."""
    # A socket's path has at most 107 bytes, so the folder lies where paths are short.
    folder = Path(tempfile.mkdtemp(prefix="rb-bench-"))
    (folder / "daemon.json").write_text("{}")  # not the machine's own
    host = f"unix://{folder}/docker.sock"
    log = folder / "dockerd.log"
    with log.open("wb") as output:
        daemon = subprocess.Popen(_dockerd(folder, host), stdout=output, stderr=output)
    try:
        _wait_until_it_answers(daemon, client, host, log)
        yield Engine(host=host, pid=daemon.pid, client=client)
    finally:
        daemon.terminate()
        daemon.wait()
        _unmount_below(folder)
        shutil.rmtree(folder)


def _dockerd(folder: Path, host: str) -> list[str]:
    return [
        *("dockerd", f"--config-file={folder}/daemon.json", f"--host={host}"),
        *(f"--data-root={folder}/data", f"--exec-root={folder}/exec", f"--pidfile={folder}/dockerd.pid"),
        *("--iptables=false", "--ip6tables=false", "--bridge=none"),
    ]


def _wait_until_it_answers(daemon: "subprocess.Popen[bytes]", client: str, host: str, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            run(Invocation(argv=[client, "info"], environment={"DOCKER_HOST": host}))
        except CommandFailedError as error:
            if daemon.poll() is not None or time.monotonic() > deadline:
                tail = "\n".join(log.read_text().splitlines()[-10:])
                raise CommandFailedError(f"dockerd does not answer\n{tail}") from error
            time.sleep(0.2)
        else:
            return


def _unmount_below(folder: Path) -> None:
    """Unmount what a daemon has left mounted, deepest first."""
    points = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    for point in sorted((p for p in points if p.startswith(f"{folder}/")), reverse=True):
        subprocess.run(["umount", "--lazy", point], check=True)
