"""Asking uv: requirements in, a parsed pylock.toml out, never the host's Python and never a build.

Where a package has no wheel its sdist may be chosen, but only when uv is told what the package depends on
(`Question.unpublished`, `Question.metadata`): so uv has no reason to build it, which would run its code here.
uv runs in a folder of its own with the settings of `pypi_settings.py`, so nothing of the artifact's folder or
of a project around it is read.
"""

import re
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reprobridge.errors import LockError, NetworkError, ReproBridgeError
from reprobridge.frozen import field, frozen
from reprobridge.lock.doors import Doors
from reprobridge.lock.model import LockedWheel
from reprobridge.lock.pypi_refusal import is_offline, offline_error, unreachable
from reprobridge.lock.pypi_settings import IndexSettings, toml
from reprobridge.lock.pypi_target import PythonTarget
from reprobridge.lock.pypi_unsolved import explained, heard
from reprobridge.system import files
from reprobridge.system.network import Offline
from reprobridge.system.processes import Command, Completed
from reprobridge.wording import without_passwords

if TYPE_CHECKING:
    from packaging.pylock import PackageArchive, PackageSdist, PackageWheel, Pylock

ATTEMPTS = 3
"""How often uv is asked when the network stumbles; it tries each request again itself."""

_TIMEOUT = 1800
_UNSOLVED = 1
"""uv's exit status when the question has no answer; 2 is for all that kept it from looking."""
_STUMBLES = (
    "error sending request",
    "dns error",
    "timed out",
    "connection",
    "http status server error",
    "(429 ",
)
_HEADLINE = "the Python packages cannot be resolved"
_NO_WHEELS = re.compile(r"Wheels are required for `([^`]+)`")


@frozen(kw_only=True)
class Dependencies:
    """What a release requires, where no index says it."""

    name: str
    """Normalised project name."""
    version: str
    """PEP 440."""
    requires: tuple[str, ...]
    """Requires-Dist of its metadata."""
    requires_python: str | None
    """Requires-Python."""
    extras: tuple[str, ...]
    """Provides-Extra."""


@frozen(kw_only=True)
class Question:
    """What uv is asked to resolve."""

    requirements: str
    """Text of a requirements file."""
    target: PythonTarget
    """For which interpreter."""
    settings: IndexSettings
    """Where to look."""
    constraints: str = ""
    """Text of a constraints file."""
    preferred: Sequence[LockedWheel] = ()
    """Versions to stay at where nothing speaks against it."""
    indexes: Sequence[str] = ()
    """Indexes to search first."""
    cutoff: str | None = None
    """RFC 3339 time: later releases do not exist."""
    follow: bool = True
    """Whether what the requirements require is taken too."""
    unpublished: Sequence[str] = ()
    """Packages without a wheel that fits, of which sdists are chosen."""
    metadata: Sequence[Dependencies] = ()
    """What is known of releases of `unpublished`; all others of them are taken to depend on nothing."""
    places: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Where people wrote of a package, by normalised name."""


class NoWheelError(LockError):
    """Packages have no wheel that fits."""

    names: tuple[str, ...] = ()
    """Their normalised names."""


def compile_pylock(question: Question, doors: Doors) -> "Pylock":
    """The answer. Raises LockError with uv's reasons, NetworkError when it could not look.

    OfflineError, where that is because it may not.
    """
    from packaging.pylock import Pylock, PylockValidationError

    text = _run(question, "pylock.toml", (), doors)
    try:
        return Pylock.from_dict(_with_hashes(tomllib.loads(text)))
    except (PylockValidationError, tomllib.TOMLDecodeError) as error:
        raise LockError("uv gave an answer that is no valid pylock.toml", found=str(error)) from error


def compile_sources(question: Question, doors: Doors) -> dict[str, str]:
    """From which index uv takes each package, by normalised name; packages from elsewhere are left out."""
    extra = ("--emit-index-annotation", "--no-annotate")
    found: dict[str, str] = {}
    name = ""
    for line in _run(question, "requirements.txt", extra, doors).splitlines():
        if line.startswith("    # from "):
            found[name] = line.removeprefix("    # from ").strip()
        elif line and not line[0].isspace():
            name = re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0]
    return found


def address(source: "PackageWheel | PackageSdist | PackageArchive") -> str:
    """Where a file of an answer is today."""
    return source.url or Path(source.path or "").absolute().as_uri()


def _run(question: Question, form: str, extra: Sequence[str], doors: Doors) -> str:
    with files.scratch_folder(doors.store.root / "scratch") as folder:
        output = folder / form.replace("requirements", "answer")
        files.write_file(folder / "requirements.in", question.requirements.encode())
        files.write_file(folder / "constraints.txt", question.constraints.encode())
        settings = question.settings.toml + _metadata(question)
        files.write_file(folder / "settings.toml", settings.encode(), mode=0o600)
        if question.preferred:
            files.write_file(output, _preferences(question.preferred).encode())
        argv = (*_arguments(question, form), *extra, "--output-file", output.name, *_offline(doors))
        command = Command(argv=argv, cwd=folder, environment=question.settings.environment, timeout=_TIMEOUT)
        done = _patiently(command, doors)
        if done.returncode != 0 or done.timed_out:
            raise _failure(done, question, offline=isinstance(doors.network, Offline))
        return output.read_text(encoding="utf-8")


def _arguments(question: Question, form: str) -> tuple[str, ...]:
    from uv import find_uv_bin

    return (
        *(find_uv_bin(), "pip", "compile", "requirements.in", "--format", form),
        *("--constraints", "constraints.txt", "--config-file", "settings.toml"),
        *("--python", sys.executable, "--no-python-downloads", *_no_build(question)),
        *("--python-version", question.target.version, "--python-platform", question.target.uv_platform()),
        *("--resolution", "highest", "--prerelease", "if-necessary-or-explicit"),
        *("--quiet", "--no-header", "--color", "never"),
        *(part for index in question.indexes for part in ("--index", index)),
        *(("--exclude-newer", question.cutoff) if question.cutoff else ()),
        *(() if question.follow else ("--no-deps",)),
    )


def _no_build(question: Question) -> tuple[str, ...]:
    """Wheels only, but for packages of which uv knows all that it would build for."""
    if not question.unpublished:
        return ("--no-build",)
    allowed = (word for name in question.unpublished for word in ("--no-binary", name))
    return ("--only-binary", ":all:", *allowed)


def _metadata(question: Question) -> str:
    """The setting `dependency-metadata`; an entry without a version counts for all that have none of their own."""
    if not question.unpublished:
        return ""
    rows: list[dict[str, Any]] = [{"name": name, "requires-dist": []} for name in question.unpublished]
    for known in question.metadata:
        row = {"name": known.name, "version": known.version, "requires-dist": list(known.requires)}
        python = {"requires-python": known.requires_python} if known.requires_python else {}
        rows.append({**row, **python, "provides-extra": list(known.extras)})
    return toml({"dependency-metadata": rows})


def _offline(doors: Doors) -> tuple[str, ...]:
    return ("--offline",) if isinstance(doors.network, Offline) else ()


def _preferences(wheels: Sequence[LockedWheel]) -> str:
    """An earlier answer, as far as uv looks at it: names and versions."""
    head = 'lock-version = "1.0"\ncreated-by = "reprobridge"\n'
    return head + "".join(
        f'\n[[packages]]\nname = "{wheel.name}"\nversion = "{wheel.version}"\n' for wheel in wheels
    )


def _patiently(command: Command, doors: Doors) -> Completed:
    for attempt in range(1, ATTEMPTS + 1):
        done = doors.processes.run(command)
        message = done.stderr.decode(errors="replace").lower()
        if done.returncode in (0, _UNSOLVED) or attempt == ATTEMPTS:
            break
        if not any(word in message for word in _STUMBLES):
            break
        doors.pause(2.0**attempt)
    return done


def _with_hashes(pylock: dict[str, Any]) -> dict[str, Any]:
    """Without wheels of unknown digest, which may not stand in a pylock.toml, and could not be locked."""
    for package in pylock.get("packages", []):
        if "wheels" in package:
            package["wheels"] = [wheel for wheel in package["wheels"] if wheel.get("hashes")]
    return pylock


def _failure(done: Completed, question: Question, *, offline: bool) -> ReproBridgeError:
    message = without_passwords(done.stderr.decode(errors="replace").strip())
    if done.timed_out:
        return NetworkError(
            "uv took too long",
            where="environment.python",
            expected=f"an answer in {_TIMEOUT} seconds",
            found=message or "none",
            hint=question.settings.advice,
        )
    said = heard(message)
    if done.returncode != _UNSOLVED and any(word in message.lower() for word in _STUMBLES):
        return unreachable("environment.python", said.found, question.settings)
    names = tuple(dict.fromkeys(_NO_WHEELS.findall(message))) if done.returncode == _UNSOLVED else ()
    if not names and is_offline(message):
        return offline_error("environment.python", said.found, offline=offline)
    parts = dict(explained(said, question, offline=offline))
    if not names:
        return LockError(_HEADLINE, **parts)
    parts["hint"] = f"choose a version of {' and '.join(names)} that has a wheel"
    error = NoWheelError(_HEADLINE, **parts)
    error.names = names
    return error
