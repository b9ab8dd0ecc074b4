"""The refined code of an image as a tree of the store, proven to be the one that the image's lock names."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO

from reprobridge.digest import Digest
from reprobridge.errors import TrustError
from reprobridge.lock.doors import Doors
from reprobridge.lock.model import LockedSource
from reprobridge.lock.tree import Found, found_file, found_link, keep_tree, native_path, tree_rows
from reprobridge.oci.tar import EntryKind
from reprobridge.replicate.contents import INVENTORY, read_inventory
from reprobridge.replicate.seen import SeenImage
from reprobridge.sandbox.unpack import Unpacker
from reprobridge.validate.scan import LayerScan, scan_layer
from reprobridge.validate.subject import CODE
from reprobridge_launcher.inventory import Entry

TITLE = "code"
"""Title of the layer that holds it (`plan/plan.py`)."""

_NAMED = 5  # files that an error names


def keep_code(image: SeenImage, locked: LockedSource, doors: Doors) -> None:
    """Bring the layer and keep its tree. Raises TrustError when it is not the locked one, ArtifactError."""
    layer = image.titled(TITLE)
    if layer is None:
        raise TrustError("the image holds no code", expected=f"a layer titled {TITLE}", found="none")
    brought = image.brought(layer)
    root = Unpacker(doors.store).folder(brought)
    scan = scan_layer(doors.store, brought.digest, brought.blob)
    kept = keep_tree(doors.store, _found(scan, root), where=f"/{CODE} of the image")
    if kept.tree != locked.refined:
        raise TrustError(
            "the image's code is not the one that its lock names",
            where=f"/{CODE}",
            expected=f"tree {locked.refined}",
            found=f"tree {kept.tree}: {_odd(image, doors, kept.tree)}",
        )


def _odd(image: SeenImage, doors: Doors, tree: Digest) -> str:
    """Which files are not those of the image's inventory, a few of them by name."""
    listed = {entry.path: entry for entry in read_inventory(image) if entry.path.startswith(f"/{CODE}/")}
    found = {f"/{CODE}{row.path}": row for row in tree_rows(doors.store, tree).values()}
    odd = [path for path in sorted({*listed, *found}) if _bytes(listed.get(path)) != _bytes(found.get(path))]
    named = ", ".join(odd[:_NAMED]) + (f" and {len(odd) - _NAMED} more" if len(odd) > _NAMED else "")
    return f"{named} not as in /{INVENTORY}" if odd else f"all as in /{INVENTORY}"


def _bytes(entry: Entry | None) -> str | None:
    return None if entry is None else entry.sha256


def _found(scan: LayerScan, root: Path) -> Iterator[Found]:
    for row in scan.entries:
        path = row.path.removeprefix(f"{CODE}/")
        if path == row.path:
            continue
        if row.kind == EntryKind.SYMLINK.value:
            yield found_link(path, row.content)
        elif row.kind == EntryKind.FILE.value:
            opener = partial(_open, root / native_path(row.path))
            yield found_file(path, row.size, executable=bool(row.mode & 0o100), opener=opener)


def _open(path: Path) -> BinaryIO:
    return path.open("rb")
