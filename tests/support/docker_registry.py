"""Debian's docker-registry (distribution 2.8) on a port of its own, with a folder of its own.

    with serve_registry(folder, relative_locations=True) as registry:
        connect(registry.host, http)

It has no referrers API, answers 202 to a mount from where a blob is not, and forgets an upload that broke.
"""

import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.require import require_tool

_START_TRIES = 400
"""Looks whether the server listens, 0.05 s apart."""


@dataclass(frozen=True)
class RunningRegistry:
    """A registry that answers."""

    host: str
    """With its port."""
    storage: Path
    """Where it keeps its files."""
    log: Path
    """What it says, with a line for each request."""

    def requests(self) -> list[str]:
        """Method, address and status of each request so far, in order."""
        lines = self.log.read_text(errors="replace").splitlines()
        entries = [line.partition('"')[2] for line in lines if " HTTP/1.1" in line and line[:1].isdigit()]
        return [
            f"{words[0]} {words[1]} {words[3]}"
            for entry in entries
            if len(words := entry.replace('"', "").split()) > 3
        ]


@contextlib.contextmanager
def serve_registry(
    folder: Path, *, relative_locations: bool = False, auth: Mapping[str, Mapping[str, str]] | None = None
) -> Iterator[RunningRegistry]:
    """Run a registry until the `with` ends. `auth` is the part of its configuration of that name."""
    program = require_tool("docker-registry")
    port = free_port()
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "config.yml"
    configuration.write_text(_configuration(folder / "storage", port, relative_locations, auth or {}))
    log = folder / "log"
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("REGISTRY_", "OTEL_"))
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, "serve", configuration], stdout=output, stderr=output, env=environment
        )
        try:
            _wait_until_it_answers(port, process, log)
            yield RunningRegistry(f"127.0.0.1:{port}", folder / "storage", log)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


def free_port() -> int:
    """A port at which nobody listens now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def password_file(folder: Path, logins: Mapping[str, str]) -> Mapping[str, Mapping[str, str]]:
    """The `auth` part for Basic authentication by an htpasswd file with bcrypt, the one kind it reads."""
    import bcrypt

    lines = [
        f"{user}:{bcrypt.hashpw(password.encode(), bcrypt.gensalt(rounds=4)).decode()}\n"
        for user, password in logins.items()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "htpasswd").write_text("".join(lines))
    return {"htpasswd": {"realm": "test", "path": str(folder / "htpasswd")}}


def _configuration(storage: Path, port: int, relative: bool, auth: Mapping[str, Mapping[str, str]]) -> str:
    lines = [
        "version: 0.1",
        "log: {accesslog: {disabled: false}, level: error}",
        f"storage: {{filesystem: {{rootdirectory: {storage}}}, delete: {{enabled: true}}}}",
        f"http: {{addr: '127.0.0.1:{port}', relativeurls: {str(relative).lower()}}}",
    ]
    if auth:
        lines.append("auth:")
        for kind, fields in auth.items():
            lines += [f"  {kind}:", *(f"    {name}: {value}" for name, value in fields.items())]
    return "\n".join(lines) + "\n"


def _wait_until_it_answers(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(_START_TRIES):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/", timeout=5).close()
        except urllib.error.HTTPError:
            return  # it asks who we are
        except OSError:
            assert process.poll() is None, log.read_text(errors="replace")
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"the registry does not answer: {log.read_text(errors='replace')}")


@pytest.fixture
def docker_registry(tmp_path: Path) -> Iterator[RunningRegistry]:
    """A registry of the test's own, open to all."""
    with serve_registry(tmp_path / "registry") as registry:
        yield registry
