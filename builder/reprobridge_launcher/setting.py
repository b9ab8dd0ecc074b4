"""What a run finds around it: installed distributions, declared data sets, network."""

import os

from reprobridge_launcher import cparts
from reprobridge_launcher.evidence import File
from reprobridge_launcher.hardware import listed
from reprobridge_launcher.layout import Layout
from reprobridge_launcher.manifest import Data, Distribution, Manifest
from reprobridge_launcher.outcome import DATA_MISSING, StopError

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Literal

HEAD = 1024
"""Bytes of a distribution's metadata that are read: name and version stand first in it."""


def installed(python: "str | None") -> "tuple[Distribution, ...]":
    """Distributions in the interpreter's own site-packages, sorted by name, as their metadata says.

    That is what `importlib.metadata` would tell the command; asking its interpreter takes as long as starting it.
    """
    found = set()
    for folder in site_folders(python):
        for name in listed(folder):
            if name.endswith((".dist-info", ".egg-info")):
                made = _distribution(os.path.join(folder, name))
                if made is not None:
                    found.add((made.name, made.version))
    return tuple(Distribution(name=name, version=version) for name, version in sorted(found))


def _distribution(path: str) -> "Distribution | None":
    """Read name and version from a folder of metadata, or a file of it; None where they don't stand there."""
    for inner in ("/METADATA", "/PKG-INFO", ""):
        head = _head(path + inner)
        if head:
            lines = [line.partition(":") for line in head.split("\n\n")[0].splitlines()]
            stated = {key.lower(): value.strip() for key, _colon, value in reversed(lines)}
            if "name" in stated and "version" in stated:
                return Distribution(name=normal(stated["name"]), version=stated["version"])
    return None


def _head(path: str) -> str:
    try:
        with open(path, "rb", 0) as stream:
            return stream.read(HEAD).decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError:
        return ""


def normal(name: str) -> str:
    """Name of a project as the lock spells it (PEP 503): lower case, one hyphen for each run of `-`, `_` and `.`."""
    words = name.lower().replace("_", "-").replace(".", "-").split("-")
    return "-".join(word for word in words if word)


def site_folders(python: "str | None") -> "list[str]":
    """Folders in which an interpreter's own packages lie."""
    if python is None:
        return []
    library = os.path.join(os.path.dirname(os.path.dirname(python)), "lib")
    versions = [name for name in listed(library) if name.startswith("python3")]
    return [
        os.path.join(library, name, kind) for name in versions for kind in ("site-packages", "dist-packages")
    ]


def network() -> "Literal['none', 'available']":
    """Tell `none` if there is no interface but the loopback, else `available`."""
    return "available" if set(listed("/sys/class/net")) - {"lo"} else "none"


def inputs(manifest: Manifest, layout: Layout) -> "tuple[File, ...]":
    """Declared data sets, each read whole; StopError where one isn't there or is another."""
    return tuple(data_file(layout, entry) for entry in manifest.data)


def data_file(layout: Layout, entry: Data) -> File:
    """Read a declared data set; StopError where it isn't there or is another."""
    path = os.path.join(layout.data, entry.path)
    hint = "docker run -v FILE:{}:ro, with the file of SHA-256 {}".format(path, entry.sha256)
    if not os.path.isfile(path):
        raise StopError(DATA_MISSING, path + " is missing", hint)
    digest, size = cparts.file_digest(path)
    if digest != entry.sha256:
        said = "{} has SHA-256 {}, expected {}".format(path, digest, entry.sha256)
        raise StopError(DATA_MISSING, said, hint)
    return File(path=entry.path, sha256=digest, size=size)
