"""Sources that are the sdist of a published release.

uv knows the user's index (`pypi_settings.py`), so uv is asked which sdist the release has. It is told that the
release has no dependencies (`dependency-metadata`), which is not true and does not matter, but keeps it from
building the sdist, that is from running its code on this machine.
"""

import sys
import tomllib
from datetime import UTC, datetime
from typing import Any
from urllib.parse import unquote, urlsplit

from reprobridge.digest import Digest
from reprobridge.errors import LockError
from reprobridge.frozen import frozen
from reprobridge.lock.doors import Doors
from reprobridge.lock.pypi_refusal import is_offline, offline_error, unreachable
from reprobridge.lock.pypi_settings import IndexSettings, index_settings, single_index
from reprobridge.spec.model import PypiSource
from reprobridge.system import files
from reprobridge.system.network import Offline
from reprobridge.system.processes import Command, Completed
from reprobridge.wording import without_passwords

ATTEMPTS = 3
"""How often uv is asked when something keeps it from looking."""

_METADATA = 'dependency-metadata = [{{ name = "{name}", version = "{version}", requires-dist = [] }}]\n'
_ARGUMENTS = (
    *("pip", "compile", "requirements.in", "--config-file", "settings.toml", "--format", "pylock.toml"),
    *("--quiet", "--no-header", "--color", "never", "--no-deps", "--no-binary", ":all:"),
    # Newer than any: a release that needs a newer Python than ours has an sdist all the same.
    *("--no-python-downloads", "--python-version", "3.99"),
)
_NO_ANSWER = 1
"""uv's exit status when it looked and found nothing; 2 is for all that kept it from looking."""


@frozen(kw_only=True)
class Sdist:
    """What the user's index says of a release's sdist."""

    name: str
    """Its file name."""
    sha256: Digest
    """Of its bytes."""
    size: int | None
    """Its length in bytes, where the index says it."""
    url: str
    """Where it is today."""
    uploaded: str | None
    """RFC 3339, where the index says it."""


def find_sdist(source: PypiSource, doors: Doors, index: str | None = None) -> Sdist:
    """Ask the user's index, or the one that is named.

    Raises LockError with uv's words when there is no such release or sdist, NetworkError when uv could not look.
    """
    user = doors.environment
    settings = single_index(user, index) if index else index_settings(user, author_first=False)
    done = _ask(source, settings, doors)
    said = without_passwords(" ".join(done.stderr.decode(errors="replace").split()))
    if done.returncode != 0 and is_offline(said):
        raise offline_error("source.pypi", said, offline=isinstance(doors.network, Offline))
    if done.returncode == _NO_ANSWER:
        raise _no_sdist(source, said)
    if done.returncode != 0:
        raise unreachable("source.pypi", said, settings)
    try:
        return _sdist(tomllib.loads(done.stdout.decode())["packages"][0]["sdist"])
    except (LookupError, TypeError, ValueError) as error:
        raise _no_sdist(source, f"none with a SHA-256 ({type(error).__name__}: {error})") from error


def _ask(source: PypiSource, settings: IndexSettings, doors: Doors) -> Completed:
    from uv import find_uv_bin

    metadata = _METADATA.format(name=source.name, version=source.version)
    offline = ("--offline",) if isinstance(doors.network, Offline) else ()
    with files.scratch_folder(doors.scratch) as folder:
        files.write_file(folder / "settings.toml", (settings.toml + metadata).encode(), mode=0o600)
        files.write_file(folder / "requirements.in", f"{source.name}=={source.version}\n".encode())
        argv = (find_uv_bin(), *_ARGUMENTS, "--python", sys.executable, *offline)
        command = Command(argv=argv, cwd=folder, environment=settings.environment, timeout=300)
        for attempt in range(1, ATTEMPTS + 1):
            done = doors.processes.run(command)
            if done.returncode in (0, _NO_ANSWER) or attempt == ATTEMPTS or offline:
                break
            doors.pause(2.0**attempt)
        return done


def _sdist(fields: Any) -> Sdist:
    url = str(fields["url"])
    uploaded = fields.get("upload-time")
    return Sdist(
        name=fields.get("name") or unquote(urlsplit(url).path).rpartition("/")[2],
        sha256=Digest(fields["hashes"]["sha256"]),
        size=fields.get("size"),
        url=url,
        uploaded=_rfc3339(uploaded) if isinstance(uploaded, datetime) else None,
    )


def _rfc3339(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _no_sdist(source: PypiSource, found: str) -> LockError:
    return LockError(
        "the release's source cannot be found",
        where="source.pypi",
        expected=f"an sdist of {source.name}=={source.version} in your Python package index",
        found=found or "nothing",
        hint="check name and version; a release without an sdist can't be a source: use git or an archive",
    )
