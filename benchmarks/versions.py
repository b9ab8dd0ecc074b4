"""The programs of the other builders: where they are and which releases."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measure import CommandFailedError

_NEEDED = {
    "umoci": ("umoci",),
    "docker": ("docker", "dockerd", "docker-registry"),
    "skopeo": ("skopeo", "docker-registry"),
}


def find_uv() -> Path:
    """The uv that ReproBridge itself depends on. Raises CommandFailedError when it is not installed."""
    from uv import find_uv_bin

    return Path(find_uv_bin())


def client_with_buildkit() -> str:
    """A docker client that builds with BuildKit: Docker's own from release 23 on needs its plug-in buildx.

    Raises CommandFailedError when there is none.
    """
    for folder in ("/usr/bin", "/usr/local/bin"):
        client = shutil.which("docker", path=folder)
        if client is not None and _builds(client):
            return client
    raise CommandFailedError(
        "no docker client here can build with BuildKit: install docker-buildx, or docker.io 20.10"
    )


def _builds(client: str) -> bool:
    major = int(_first_number(_output([client, "--version"])).partition(".")[0])
    return major < 23 or "buildx" in _output([client, "buildx", "version"])


def versions(builders: Sequence[str]) -> list[str]:
    """`umoci 0.4.7` and so on. Raises CommandFailedError when a program is missing."""
    found = [f"uv {_first_number(_output([str(find_uv()), '--version']))}"]
    if "umoci" in builders:
        found.append(f"umoci {_first_number(_output(['umoci', '--version']))}")
    if "docker" in builders:
        found.append(f"docker {_first_number(_output(['dockerd', '--version']))} with BuildKit")
    return found


def require(builders: Sequence[str]) -> None:
    """Raise CommandFailedError that names every missing program."""
    needed = [program for builder in builders for program in _NEEDED.get(builder, ())]
    if missing := [program for program in needed if shutil.which(program) is None]:
        raise CommandFailedError(f"not installed: {', '.join(missing)}; choose others with --builders")


def _output(argv: list[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout


def _first_number(text: str) -> str:
    found = re.search(r"\d+(\.\d+)+", text)
    return found[0] if found else "0"
