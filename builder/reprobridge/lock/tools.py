"""What of this tool reaches an image's bytes: encoder, converters, plan, order of layers, assembly, launcher.

A lock pins them, so a release that would give other bytes says so instead of building something else.
"""

import functools
import json
import os
import shlex
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from reprobridge import RELEASE
from reprobridge.data_files import data_folder, launcher_folder
from reprobridge.digest import Digest, digest_json
from reprobridge.errors import LockError, Problem
from reprobridge.frozen import replace
from reprobridge.lock.model import LockedTools
from reprobridge.lock.revisions import ASSEMBLY, ON_DEMAND, PLAN, REVISIONS
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


@functools.cache
def layer_order() -> bytes:
    """The table of the order of layers; read once, since checking and planning need it."""
    return (data_folder("image-templates") / "layer-order.json").read_bytes()


def layer_order_digest(table: bytes) -> Digest:
    """Digest of what the table decides; what it says about itself is not part of it."""
    return digest_json({name: value for name, value in json.loads(table).items() if name != "about"})


def current_tools(on_demand: Iterable[str] = ()) -> LockedTools:
    """What this release would pin; `on_demand`: converters that not every lock pins, and this one has to."""
    return LockedTools(
        release=RELEASE,
        encoder=ENCODER,
        codec=CODEC,
        converters={**REVISIONS, **{kind: ON_DEMAND[kind] for kind in on_demand}},
        launcher=launcher_digest(launcher_files()),
        plan=PLAN,
        assembly=ASSEMBLY,
        layer_order=layer_order_digest(layer_order()),
    )


def pinning(tools: LockedTools, on_demand: Collection[str]) -> LockedTools:
    """The same tools with exactly these converters besides those that every lock pins."""
    kept = {kind: number for kind, number in tools.converters.items() if kind not in ON_DEMAND}
    wanted = {kind: tools.converters.get(kind, ON_DEMAND[kind]) for kind in on_demand}
    return replace(tools, converters={**kept, **wanted})


def tool_differences(locked: LockedTools) -> list[Problem]:
    """In what this release would give other bytes than the one that locked."""
    pinned, current = _pins(locked), _pins(current_tools(ON_DEMAND.keys() & locked.converters.keys()))
    return [
        Problem(f"tools.{place}", pinned.get(place, "nothing"), current.get(place, "nothing"))
        for place in {**current, **pinned}
        if pinned.get(place) != current.get(place)
    ]


def _pins(tools: LockedTools) -> dict[str, str]:
    """Everything that has to be the same, by its place; older locks lack some."""
    single = ("encoder", "codec", "launcher", "plan", "assembly", "layer_order")
    values = {name: getattr(tools, name) for name in single}
    pinned = {name: value for name, value in values.items() if name not in tools.LATER or value}
    pinned |= {f"converters.{kind}": revision for kind, revision in sorted(tools.converters.items())}
    return {place: str(value) for place, value in pinned.items()}


def require_tools(locked: LockedTools, where: str, folder: Path | None = None) -> None:
    """Refuse a lock that this release cannot honour. Raises LockError.

    `folder` is the artifact's, where the lock may be changed.
    """
    if differences := tool_differences(locked):
        raise LockError(
            "this release gives other bytes than the lock promises",
            where=where,
            expected=f"what release {locked.release} pinned",
            found=f"another {', another '.join(p.where.removeprefix('tools.') for p in differences)} in release {RELEASE}",
            hint=tools_remedy(locked.release, folder),
        )


def tools_remedy(release: str, folder: Path | None) -> str:
    """What to do about a lock of other tools; a release's number also stands for its development, until the next."""
    back = f"install reprobridge {release}, which wrote the lock"
    if release == RELEASE:
        back = (
            f"lock and installation both say {release}, so that one of them is a state of its development: "
            "install the one that wrote the lock"
        )
    if folder is None:
        return back
    return f"{back}, or accept a new digest: `reprobridge lock {shlex.quote(str(folder))} --upgrade-tools`"
