"""Debian's docker-registry (distribution 2.8) on a port of its own, with a folder of its own.

    with serve_registry(folder, relative_locations=True) as registry:
        connect(registry.host, http)

It has no referrers API, answers 202 to a mount from where a blob is not, and forgets an upload that broke.

It takes a port that is free and says which. What it was asked is read from the lines that it writes before it
answers: the lines of its access log come after the last byte of an answer, so that a client may be faster.
"""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.require import require_tool

_START_TRIES = 1200
"""Looks whether the server listens, 0.05 s apart."""
_LISTENS = "listening on "
_ASKED = "authorizing request"


@dataclass(frozen=True)
class RunningRegistry:
    """A registry that answers."""

    host: str
    """With its port."""
    storage: Path
    """Where it keeps its files."""
    log: Path
    """What it says, an object of JSON a line. Who empties it starts anew."""

    def requests(self) -> list[str]:
        """Method and address of each request so far, in order."""
        asked = [line for line in _said(self.log) if line["msg"] == _ASKED]
        return [f"{line['http.request.method']} {line['http.request.uri']}" for line in asked]


@contextlib.contextmanager
def serve_registry(
    folder: Path, *, relative_locations: bool = False, auth: Mapping[str, Mapping[str, str]] | None = None
) -> Iterator[RunningRegistry]:
    """Run a registry until the `with` ends. `auth` is the part of its configuration of that name."""
    program = require_tool("docker-registry")
    folder.mkdir(parents=True, exist_ok=True)
    configuration = folder / "config.yml"
    configuration.write_text(_configuration(folder / "storage", relative_locations, auth or {}))
    log = folder / "log"
    log.write_bytes(b"")
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("REGISTRY_", "OTEL_"))
    }
    with log.open("ab") as output:  # appending: a test may empty it
        process = subprocess.Popen(
            [program, "serve", configuration], stdout=output, stderr=output, env=environment
        )
        try:
            yield RunningRegistry(_host_of(process, log), folder / "storage", log)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


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


def _configuration(storage: Path, relative: bool, auth: Mapping[str, Mapping[str, str]]) -> str:
    lines = [
        "version: 0.1",
        "log: {accesslog: {disabled: true}, level: debug, formatter: json}",
        f"storage: {{filesystem: {{rootdirectory: {storage}}}, delete: {{enabled: true}}}}",
        f"http: {{addr: '127.0.0.1:0', relativeurls: {str(relative).lower()}}}",
    ]
    if auth:
        lines.append("auth:")
        for kind, fields in auth.items():
            lines += [f"  {kind}:", *(f"    {name}: {value}" for name, value in fields.items())]
    return "\n".join(lines) + "\n"


def _host_of(process: "subprocess.Popen[bytes]", log: Path) -> str:
    """Where it listens, once it does; its socket takes connections before it says so."""
    for _ in range(_START_TRIES):
        for line in _said(log):
            if line["msg"].startswith(_LISTENS):
                return str(line["msg"].removeprefix(_LISTENS))
        assert process.poll() is None, log.read_text(errors="replace")
        time.sleep(0.05)
    raise AssertionError(f"the registry does not listen: {log.read_text(errors='replace')}")


def _said(log: Path) -> Iterator[dict[str, Any]]:
    """The finished lines of its log; what a library says in words is passed over."""
    for line in log.read_text(errors="replace").splitlines(keepends=True):
        if line.startswith("{") and line.endswith("\n"):
            yield json.loads(line)


@pytest.fixture
def docker_registry(tmp_path: Path) -> Iterator[RunningRegistry]:
    """A registry of the test's own, open to all."""
    with serve_registry(tmp_path / "registry") as registry:
        yield registry
