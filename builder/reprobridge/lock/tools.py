"""What of this tool reaches an image's bytes: the encoder, the converters, the launcher.

A lock pins them, so a release that would give other bytes says so instead of building something else.
"""

import functools
import os
from collections.abc import Mapping
from pathlib import Path

from reprobridge import RELEASE
from reprobridge.data_files import launcher_folder
from reprobridge.digest import Digest, digest_json
from reprobridge.errors import LockError, Problem
from reprobridge.lock.model import LockedTools
from reprobridge.lock.revisions import REVISIONS
from reprobridge.oci.members import CODEC, ENCODER


@functools.cache
def launcher_files() -> Mapping[str, bytes]:
    """The launcher's modules, by their path below the package; read once, since checking and planning need them."""
    root = launcher_folder()
    paths = sorted(f"{folder}/{name}" for folder, _, names in os.walk(root) for name in names)
    modules = (path for path in paths if path.endswith(".py"))
    return {path.removeprefix(f"{root}/"): Path(path).read_bytes() for path in modules}


def launcher_digest(modules: Mapping[str, bytes]) -> Digest:
    """Digest of the launcher's modules."""
    return digest_json({name: str(Digest.of(data)) for name, data in modules.items()})


def current_tools() -> LockedTools:
    """What this release would pin."""
    return LockedTools(
        release=RELEASE,
        encoder=ENCODER,
        codec=CODEC,
        converters=dict(REVISIONS),
        launcher=launcher_digest(launcher_files()),
    )


def tool_differences(locked: LockedTools) -> list[Problem]:
    """In what this release would give other bytes than the one that locked."""
    current = current_tools()
    pairs = {"encoder": (locked.encoder, current.encoder), "codec": (locked.codec, current.codec)}
    pairs["launcher"] = (str(locked.launcher), str(current.launcher))
    for kind in sorted({*locked.converters, *current.converters}):
        here = (locked.converters.get(kind), current.converters.get(kind))
        pairs[f"converters.{kind}"] = (str(here[0]), str(here[1]))
    return [
        Problem(f"tools.{place}", old, new, "run `reprobridge lock --upgrade-tools`")
        for place, (old, new) in pairs.items()
        if old != new
    ]


def require_tools(locked: LockedTools, where: str) -> None:
    """Refuse a lock that this release cannot honour. Raises LockError."""
    if differences := tool_differences(locked):
        raise LockError(
            "this release gives other bytes than the lock promises",
            where=where,
            expected=f"what release {locked.release} pinned",
            found=f"another {', another '.join(p.where.removeprefix('tools.') for p in differences)} in release {RELEASE}",
            hint=_remedy(locked.release, Path(where).parent),
        )


def _remedy(release: str, folder: Path) -> str:
    """What to do; a working copy may differ from the release whose number it has."""
    accept = f"accept a new digest: `reprobridge lock {folder} --upgrade-tools`"
    return accept if release == RELEASE else f"install reprobridge {release}, or {accept}"
