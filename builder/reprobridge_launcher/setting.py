"""What a run finds around it: installed distributions, declared data sets, network."""

import os

from reprobridge_launcher.evidence import File
from reprobridge_launcher.hardware import listed
from reprobridge_launcher.layout import Layout
from reprobridge_launcher.manifest import Distribution, Manifest

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Literal


def installed(python: "str | None") -> "tuple[Distribution, ...]":
    """Distributions in the interpreter's own site-packages, sorted by name, from their metadata's folders."""
    found = set()
    for folder in site_folders(python):
        for name in listed(folder):
            stem, _dot, suffix = name.rpartition(".")
            if suffix in ("dist-info", "egg-info") and "-" in stem:
                distribution, version = stem.split("-")[:2]
                found.add((distribution.lower().replace("_", "-").replace(".", "-"), version))
    return tuple(Distribution(name=name, version=version) for name, version in sorted(found))


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
    """Declared data sets that are present."""
    return tuple(
        File(path=entry.path, sha256=entry.sha256, size=entry.size)
        for entry in manifest.data
        if os.path.exists(os.path.join(layout.data, entry.path))
    )
