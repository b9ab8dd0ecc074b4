"""A real sshd at a free port of 127.0.0.1, with keys of its own, that lets in the user who runs the tests.

with ssh_server(tmp_path / "ssh") as server:
    server.url(folder)  # ssh://USER@127.0.0.1:PORT/FOLDER
    server.command      # ssh with the key and the known host: for GIT_SSH_COMMAND or core.sshCommand
"""

import contextlib
import os
import pwd
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.require import require_tool, unavailable

SEPARATION = Path("/run/sshd")
"""The folder without which sshd does not start as root; starting the system's own sshd makes it."""
_TRIES = 5
"""Ports that are tried."""


@dataclass(frozen=True)
class SshServer:
    """A running sshd."""

    user: str
    port: int
    command: str
    """A command line of ssh that is let in."""
    stranger: str
    """The same with a key that the server does not know."""

    def url(self, repository: Path) -> str:
        """The address of a repository on this machine."""
        return f"ssh://{self.user}@127.0.0.1:{self.port}{repository}"


@contextlib.contextmanager
def ssh_server(folder: Path) -> Iterator[SshServer]:
    """Run an sshd until the context closes."""
    sshd = require_tool("sshd")
    if os.geteuid() == 0 and not SEPARATION.is_dir():
        unavailable(f"sshd needs the folder {SEPARATION}")
    folder.mkdir(parents=True)
    for name in ("host", "known", "unknown"):
        _run(str(require_tool("ssh-keygen")), "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name))
    process, port = _started(sshd, folder)
    try:
        (folder / "hosts").write_text(f"[127.0.0.1]:{port} {(folder / 'host.pub').read_text()}")
        user = pwd.getpwuid(os.geteuid()).pw_name
        yield SshServer(user, port, _command(folder, "known"), _command(folder, "unknown"))
    finally:
        process.terminate()
        process.wait()


def _started(sshd: Path, folder: Path) -> "tuple[subprocess.Popen[bytes], int]":
    """An sshd that listens, and its port: it can't choose one itself, and another may be faster at a free one."""
    for _ in range(_TRIES):
        port = _free_port()
        (folder / "sshd_config").write_text(_configuration(folder, port))
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [sshd, "-D", "-e", "-f", folder / "sshd_config"], stdout=log, stderr=log
            )
        if _listens(process, port, folder / "log"):
            return process, port
        process.terminate()
        process.wait()
    raise AssertionError(f"sshd does not listen: {(folder / 'log').read_text()}")


def _configuration(folder: Path, port: int) -> str:
    return (
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/known.pub\n"
        "PidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin prohibit-password\n"
        "AcceptEnv GIT_PROTOCOL\n"
    )


def _command(folder: Path, key: str) -> str:
    options = f"-o IdentitiesOnly=yes -o UserKnownHostsFile={folder}/hosts -o GlobalKnownHostsFile=none"
    return f"ssh -F none -i {folder}/{key} {options}"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _listens(process: "subprocess.Popen[bytes]", port: int, log: Path) -> bool:
    """Whether it comes to listen: only its own word counts, another server may answer at its port."""
    for _ in range(1200):
        if f"Server listening on 127.0.0.1 port {port}." in log.read_text():
            return True
        if process.poll() is not None:
            return False
        time.sleep(0.05)
    return False


def _run(*argv: str) -> None:
    subprocess.run(argv, check=True, capture_output=True)
