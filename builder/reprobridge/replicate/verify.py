"""Verifying an image: are these its bytes, who signed it, and does what they say fit what it holds?

Each question's answer is a `Point`: a reviewer sees everything that holds and everything that does not. Here the
image is asked; `signed.py` asks what was signed about it.
"""

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError, AssembleError, LockError, StoreError
from reprobridge.lock.file import FILE_NAME
from reprobridge.oci.layout import ImageParts
from reprobridge.registry.refusals import LostBlobError, WrongBytesError
from reprobridge.replicate.answers import Point, Verification
from reprobridge.replicate.claims import Known
from reprobridge.replicate.contents import Contents, read_contents
from reprobridge.replicate.requirement import Demand
from reprobridge.replicate.seen import SeenImage, SeenLayer, see
from reprobridge.replicate.signed import Signed, signed_answers
from reprobridge.sandbox.unpack import HashedTar
from reprobridge.store.store import Store
from reprobridge.wording import counted

_BROKEN = (ArtifactError, AssembleError, StoreError, LostBlobError, WrongBytesError)


def verify(parts: ImageParts, signed: Signed, demand: Demand, store: Store) -> Verification:
    """Ask everything. Raises RegistryError, NetworkError when something cannot be fetched.

    Other bytes than those asked for are an answer, wherever they come from, and so is a blob that is lost.
    """
    digest = parts.manifest.digest
    image, bytes_point = _seen(parts, store)
    points = [bytes_point]
    contents: Contents | None = None
    if image is not None:
        if demand.every_layer:
            points.append(_layers(image))
        contents, contents_point = _contents(image)
        points.append(contents_point)
    known = Known(image=digest, contents=contents, accept_not_run=demand.accept_not_run)
    more, measured = signed_answers(signed, demand, known)
    return Verification(image=digest, points=(*points, *more), measured=measured)


def verify_unserved(
    digest: Digest, why: LostBlobError | WrongBytesError, signed: Signed, demand: Demand
) -> Verification:
    """The answers about an image whose manifest is lost, or comes with other bytes: only what was signed is left."""
    known = Known(image=digest, contents=None, accept_not_run=demand.accept_not_run)
    manifest = Point("manifest", False, why.in_one_line())
    points, measured = signed_answers(signed, demand, known)
    return Verification(image=digest, points=(manifest, *points), measured=measured)


# the image


def _seen(parts: ImageParts, store: Store) -> tuple[SeenImage | None, Point]:
    try:
        image = see(parts, store)
        count = len(image.layers)
    except _BROKEN as error:
        return None, Point("manifest", False, error.in_one_line())
    said = f"manifest and configuration are those of their digests, {counted(count, 'layer')}"
    return image, Point("manifest", True, said)


def _layers(image: SeenImage) -> Point:
    problems = [problem for layer in image.layers if (problem := _layer_problem(image, layer))]
    size = sum(layer.descriptor.size for layer in image.layers)
    said = f"{counted(len(image.layers), 'layer')}, all {size} bytes are those of their digests and diff_ids"
    return Point("layers", not problems, "; ".join(problems) or said)


def _layer_problem(image: SeenImage, layer: SeenLayer) -> str | None:
    try:
        with image.brought(layer).blob.open("rb") as compressed:
            found = HashedTar(compressed).finish().digest()
    except _BROKEN as error:
        return f"{layer.title}: {error.in_one_line()}"
    return (
        None if found == layer.diff_id else f"{layer.title}: diff_id {layer.diff_id}, but its tar is {found}"
    )


def _contents(image: SeenImage) -> tuple[Contents | None, Point]:
    """What the image says about itself, and whether it contradicts itself."""
    try:
        contents = read_contents(image)
        artifact = contents.read_manifest()
        contents.read_lock()
    except (*_BROKEN, LockError) as error:
        return None, Point("contents", False, error.in_one_line())
    stated, lock = dict(artifact.environment.locks).get(f"/rra/lock/{FILE_NAME}"), Digest.of(contents.lock)
    if stated != lock.hex:
        return None, Point(
            "contents", False, f"the manifest names lock sha256:{stated}, the image holds {lock}"
        )
    label = image.subject.artifact_id
    if label != artifact.artifact.id:
        said = f"labelled as artifact {label}, the image holds artifact {artifact.artifact.id}"
        return None, Point("contents", False, said)
    return contents, Point("contents", True, f"{artifact.paper.id} {artifact.artifact.version}, lock {lock}")
