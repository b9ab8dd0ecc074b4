"""What an image says about itself, out of the layer that holds it (`plan/plan.py`: the layer `artifact`).

That layer is small, so an image in a registry is read without its environment. Nothing is written to disk but
the layer itself, and no link of the image is followed.
"""

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from reprobridge.errors import ArtifactError
from reprobridge.frozen import frozen
from reprobridge.lock.file import parse_lock
from reprobridge.lock.model import Lock
from reprobridge.plan.contents.manifest import INTEGRITY
from reprobridge.replicate.seen import SeenImage
from reprobridge.sandbox.unpack import HashedTar, contents, tar_members
from reprobridge.validate.subject import MANIFEST
from reprobridge_launcher.fields import FormatError
from reprobridge_launcher.inventory import Entry, read
from reprobridge_launcher.manifest import Manifest, parse

TITLE = "artifact"
"""Title of the layer."""
SPEC = "rra/spec/"
"""Where the specification and what it names stand."""
LOCK = "rra/lock/reprobridge.lock"
"""Where the lock stands."""
SBOM = "rra/sbom.spdx.json"
"""Where the bill of materials stands."""
INVENTORY = INTEGRITY.lstrip("/")
"""Where the list of all files of code and environment stands."""
LAYER_LIMIT = 1 << 30
"""Bytes that the layer may inflate to."""
LARGEST = 64 << 20
"""Bytes of all these files together that are read into memory."""


@frozen(kw_only=True)
class Contents:
    """The files that an artifact is made from, and the launcher's manifest."""

    spec: Mapping[PurePosixPath, bytes]
    """`reprobridge.yaml` and the files that it names, by their path below the artifact's folder."""
    lock: bytes
    """The lock's bytes."""
    manifest: bytes
    """The launcher's manifest."""
    sbom: bytes
    """The bill of materials (SPDX)."""

    def read_lock(self) -> Lock:
        """The lock. Raises LockError."""
        return parse_lock(self.lock, f"/{LOCK} of the image")

    def read_manifest(self) -> Manifest:
        """What the launcher reads. Raises ArtifactError."""
        import json

        try:
            return parse(json.loads(self.manifest))
        except (FormatError, ValueError, RecursionError) as error:
            raise ArtifactError(
                "the launcher's manifest is broken", where=f"/{MANIFEST}", found=str(error)
            ) from error


def read_contents(image: SeenImage) -> Contents:
    """Bring and read the layer. Raises ArtifactError when the image is no artifact or the layer is broken."""
    needed = (LOCK, MANIFEST, SBOM, f"{SPEC}reprobridge.yaml")
    found = _files(image, lambda path: path in needed or path.startswith(SPEC))
    if missing := [path for path in needed if path not in found]:
        raise _no_artifact(image, f"no {', '.join(missing)}")
    spec = {
        PurePosixPath(path.removeprefix(SPEC)): data for path, data in found.items() if path.startswith(SPEC)
    }
    return Contents(spec=spec, lock=found[LOCK], manifest=found[MANIFEST], sbom=found[SBOM])


def read_inventory(image: SeenImage) -> list[Entry]:
    """The image's own list of its code and environment, as it was built. Raises ArtifactError."""
    found = _files(image, lambda path: path == INVENTORY)
    try:
        return read(found[INVENTORY].decode("ascii", "surrogateescape"))
    except (KeyError, FormatError) as error:
        raise ArtifactError("the image's inventory is broken", found=str(error)) from error


def _files(image: SeenImage, wanted: Callable[[str], bool]) -> dict[str, bytes]:
    """Bring the layer; the bytes of some of its files."""
    layer = image.titled(TITLE)
    if layer is None:
        raise _no_artifact(image, f"no layer titled {TITLE}")
    found: dict[str, bytes] = {}
    left = LARGEST
    with image.brought(layer).blob.open("rb") as compressed:
        for path, member, archive in tar_members(HashedTar(compressed, LAYER_LIMIT)):
            if not member.isreg() or not wanted(path):
                continue
            left -= member.size
            if left < 0:
                raise ArtifactError(
                    "what the image says about itself is too long", expected=f"at most {LARGEST} bytes"
                )
            found[path] = b"".join(contents(archive, member))
    return found


def _no_artifact(image: SeenImage, found: str) -> ArtifactError:
    return ArtifactError(
        "the image is no artifact of reprobridge",
        where=str(image.digest),
        expected=f"a layer titled {TITLE} with specification, lock and manifest",
        found=found,
    )
