"""Making an image again from what it holds, to prove that it is what its lock says.

Out of the image come its specification, the files that this names, and its lock: all from one small layer.
Everything else comes from where anybody gets it: packages from the configured sources, the code from its origin,
with the image's own patches. The store that it is made in starts empty. Packages without a wheel are built again, so
their build backends run in the sandbox.
The code's origin may be gone, or be a folder of the author's that nobody else has: then the image's own refined
code is taken, only if it is the tree that the lock names, and the outcome says so. No other layer of the image is
read before the outcome stands. Digests are compared with those that the manifest names; whether a registry serves the
bytes of these is for `verify` to see.
"""

import contextlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path, PurePosixPath

from reprobridge.assemble.arrivals import LockedArrivals, wanted_files
from reprobridge.assemble.artifact import bring_built, plan_artifact
from reprobridge.assemble.image import Making, build_image
from reprobridge.assemble.model import Progress
from reprobridge.assemble.workshop import Workshop
from reprobridge.errors import ArtifactError, LockError, NetworkError, TrustError
from reprobridge.frozen import frozen
from reprobridge.lock.changes import apply_changes
from reprobridge.lock.doors import Doors
from reprobridge.lock.fetch import Progress as FetchProgress
from reprobridge.lock.freshness import stale_wishes
from reprobridge.lock.model import Lock, LockedSource
from reprobridge.lock.source import OtherSourceError, obtain_tree, source_wish
from reprobridge.lock.tools import require_tools
from reprobridge.lock.tree import tree_difference, unpack_tree
from reprobridge.oci.layout import ImageParts, read_parts
from reprobridge.replicate.code import keep_code
from reprobridge.replicate.contents import Contents, read_contents
from reprobridge.replicate.seen import SeenImage
from reprobridge.spec.model import FolderSource, Spec
from reprobridge.spec.parse import read_spec
from reprobridge.store.store import Store
from reprobridge.system import files


class CodeFrom(StrEnum):
    """Where the refined code of a rebuilt image came from."""

    ORIGIN = "origin"
    """From the source's origin, with the image's patches applied."""
    IMAGE = "image"
    """From the image itself."""


@frozen(kw_only=True)
class Rebuilt:
    """An image that was made again."""

    image: ImageParts
    """What was made."""
    code: CodeFrom
    """Where its code came from."""
    why: str
    """Why it came from there, for people."""


@frozen(kw_only=True)
class RebuildRequest:
    """What to make again and how."""

    image: SeenImage
    """The image."""
    progress: Progress
    """Hears how far the making is."""
    downloads: FetchProgress | None = None
    """Hears how far the fetching is."""
    workers: int = 2
    """Most processes at once."""


def rebuild(request: RebuildRequest, doors: Doors) -> Rebuilt:
    """Make the image again in the store of `doors`, which must be empty.

    Raises LockError when this release gives other bytes than the lock promises or the lock does not answer the
    specification, TrustError when the code is not what source and patches give, NetworkError and ArtifactError
    when a locked file can't be had.
    """
    contents = read_contents(request.image)
    lock, platform = contents.read_lock(), request.image.platform
    _require_release(lock, platform)
    with files.scratch_folder(doors.scratch) as folder:
        spec = _unfolded(contents, lock, request.image, folder, doors)
        _require_fresh(spec, lock, folder, doors)
        plan = plan_artifact(spec, lock, platform)
        code, why = _bring_code(spec, lock.source, request.image, folder, doors)
        bring_built(plan, lock, folder, doors, Workshop(doors.store))
    arrivals = LockedArrivals(wanted_files(lock, platform, doors), doors, request.downloads)
    making = Making(arrivals=arrivals, progress=request.progress, workers=request.workers)
    built = build_image(plan, doors.store, making)
    made = read_parts(built.name, built.version, built.manifest, doors.store.path)
    return Rebuilt(image=made, code=code, why=why)


@contextlib.contextmanager
def empty_store(parent: Path) -> Iterator[Store]:
    """A store of its own, gone afterwards."""
    with files.scratch_folder(parent) as folder:
        yield Store(folder)


def _require_release(lock: Lock, platform: str) -> None:
    require_tools(lock.tools, "the image's lock")
    if platform not in lock.platforms:
        raise LockError(
            "the image's lock does not cover its platform",
            expected=platform,
            found=", ".join(sorted(lock.platforms)) or "no platform",
        )


# the artifact's folder


def _unfolded(contents: Contents, lock: Lock, image: SeenImage, folder: Path, doors: Doors) -> Spec:
    """The artifact's folder as far as the image holds it, read again.

    Of a source that is a folder the refined code stands in its place, since the reader wants to see a folder
    and its checkpoints; the code of the image does not come from there.
    """
    if lock.source.kind == "path":
        keep_code(image, lock.source, doors)
        unpack_tree(doors.store, lock.source.refined, _inside(folder, lock.source.origin))
    for path, data in contents.spec.items():
        files.write_file(_inside(folder, path), data)
    return read_spec(folder)


def _inside(folder: Path, path: PurePosixPath | str) -> Path:
    """A place below a folder, however hostile the image. Raises ArtifactError."""
    place = folder / path
    if not place.parent.resolve().is_relative_to(folder.resolve()) or place.name in ("", ".."):
        raise ArtifactError(
            "the image names a path outside of its artifact",
            expected="a path below the artifact's folder",
            found=str(path),
        )
    return place


def _require_fresh(spec: Spec, lock: Lock, folder: Path, doors: Doors) -> None:
    """Refuse a lock that does not answer the specification beside it; a folder's original tree is taken on trust."""
    stale = {problem.where for problem in stale_wishes(spec, lock, folder, doors)} - {"source"}
    if lock.source.wish != source_wish(spec, folder, doors, tree=lock.source.tree):
        stale.add("source")
    if stale:
        raise LockError(
            "the image's lock does not answer its specification",
            expected="a lock made from this specification by this release",
            found=f"changes in {', '.join(sorted(stale))}",
            hint="whoever built the image changed one of the two by hand, or used another release",
        )


# the code


def _bring_code(
    spec: Spec, locked: LockedSource, image: SeenImage, folder: Path, doors: Doors
) -> tuple[CodeFrom, str]:
    """Have the refined tree in the store; says where it came from, and why."""
    if isinstance(spec.source, FolderSource):
        return CodeFrom.IMAGE, "the source is a folder of the author's"
    try:
        original = obtain_tree(spec, locked, folder, doors)
    except OtherSourceError as error:
        raise TrustError(
            "the source is not the one that the image's lock names",
            where=error.where,
            expected=error.expected,
            found=error.found,
        ) from error
    except (NetworkError, LockError, ArtifactError) as error:
        keep_code(image, locked, doors)
        return CodeFrom.IMAGE, f"{locked.origin} does not give the source any more ({error.message})"
    found = apply_changes(original, spec, doors).tree
    if found != locked.refined:
        keep_code(image, locked, doors)
        raise TrustError(
            "the image's code is not what its source and its patches give",
            where=locked.origin,
            expected=f"tree {locked.refined}, as the image's lock says",
            found=tree_difference(doors.store, locked.refined, found),
        )
    return CodeFrom.ORIGIN, f"{locked.origin}, with the image's patches applied"
