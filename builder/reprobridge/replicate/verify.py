"""Verifying an image: are these its bytes, who signed it, and does what they say fit what it holds?

Each question's answer is a `Point`: a reviewer sees everything that holds and everything that does not. A
statement counts only when its signature holds by the policy and its subject is this very digest
(`publish/signing/check.py`), and what it says fits the image (`claims.py`).
"""

import json
from collections.abc import Iterable, Iterator, Mapping

from reprobridge.digest import Digest, Json
from reprobridge.errors import ArtifactError, AssembleError, LockError, StoreError, TrustError
from reprobridge.frozen import frozen
from reprobridge.lock.file import FILE_NAME
from reprobridge.oci.layout import ImageParts
from reprobridge.publish.signing.bundle import open_bundle
from reprobridge.publish.signing.check import CheckedStatement, check_bundle
from reprobridge.publish.signing.policy import Policy
from reprobridge.replicate.claims import Known, compare
from reprobridge.replicate.contents import Contents, read_contents
from reprobridge.replicate.one_line import one_line
from reprobridge.replicate.seen import SeenImage, SeenLayer, see
from reprobridge.sandbox.unpack import HashedTar
from reprobridge.store.store import Store

SCHEMA = "reprobridge.verification/1"
"""Value of `schema` in the JSON form."""


@frozen(kw_only=True)
class Demand:
    """What a reviewer asks for."""

    policy: Policy
    """Whose signatures count."""
    required: Mapping[str, str]
    """Kinds of statements that must be there: predicate types by short names (`requirement.py`)."""
    every_layer: bool = False
    """Whether all layers are brought and compared with their digests."""
    accept_not_run: bool = False
    """Whether checks count that the publisher declared as not run."""


@frozen
class Point:
    """The answer to one question."""

    name: str
    """What was asked: `manifest`, `layers`, `signature`, …"""
    held: bool
    """Whether it holds."""
    evidence: str
    """What was found, in a line for people."""


@frozen(kw_only=True)
class Verification:
    """All answers about one image."""

    image: Digest
    """The digest of record that was verified."""
    points: tuple[Point, ...]
    """In the order in which they were asked."""

    @property
    def held(self) -> bool:
        """Whether everything holds."""
        return all(point.held for point in self.points)

    def to_json(self) -> dict[str, Json]:
        """The JSON form."""
        points: list[Json] = [
            {"name": point.name, "held": point.held, "evidence": point.evidence} for point in self.points
        ]
        return {"schema": SCHEMA, "image": str(self.image), "held": self.held, "points": points}


def verify(parts: ImageParts, bundles: Iterable[bytes], demand: Demand, store: Store) -> Verification:
    """Ask everything. Raises RegistryError, NetworkError when something cannot be fetched."""
    digest = parts.manifest.digest
    image, bytes_point = _seen(parts, store)
    points = [bytes_point]
    contents: Contents | None = None
    if image is not None:
        if demand.every_layer:
            points.append(_layers(image))
        contents, contents_point = _contents(image)
        points.append(contents_point)
    offers = _offers(bundles, demand, digest)
    known = Known(image=digest, contents=contents, accept_not_run=demand.accept_not_run)
    points += [_statement(name, kind, offers, known) for name, kind in demand.required.items()]
    return Verification(image=digest, points=tuple(points))


# the image


def _seen(parts: ImageParts, store: Store) -> tuple[SeenImage | None, Point]:
    try:
        image = see(parts, store)
        count = len(image.layers)
    except (ArtifactError, AssembleError, StoreError) as error:
        return None, Point("manifest", False, _line(error))
    return image, Point(
        "manifest", True, f"manifest and configuration are those of their digests, {count} layers"
    )


def _layers(image: SeenImage) -> Point:
    problems = [problem for layer in image.layers if (problem := _layer_problem(image, layer))]
    size = sum(layer.descriptor.size for layer in image.layers)
    said = f"all {len(image.layers)}, {size} bytes, are those of their digests and diff_ids"
    return Point("layers", not problems, "; ".join(problems) or said)


def _layer_problem(image: SeenImage, layer: SeenLayer) -> str | None:
    try:
        with image.brought(layer).blob.open("rb") as compressed:
            found = HashedTar(compressed).finish().digest()
    except (ArtifactError, AssembleError, StoreError) as error:
        return f"{layer.title}: {_line(error)}"
    return (
        None if found == layer.diff_id else f"{layer.title}: diff_id {layer.diff_id}, but its tar is {found}"
    )


def _contents(image: SeenImage) -> tuple[Contents | None, Point]:
    """What the image says about itself, and whether it contradicts itself."""
    try:
        contents = read_contents(image)
        artifact = contents.read_manifest()
        contents.read_lock()
    except (ArtifactError, AssembleError, StoreError, LockError) as error:
        return None, Point("contents", False, _line(error))
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


# what was signed


@frozen
class _Offer:
    """A bundle of some kind that was offered."""

    kind: str
    """The predicate type that it claims."""
    checked: CheckedStatement | None
    """What it says, when its signature and subject hold."""
    problem: str
    """Why they do not."""


def _offers(bundles: Iterable[bytes], demand: Demand, image: Digest) -> list[_Offer]:
    return [_offer(bundle, demand.policy, image) for bundle in bundles]


def _offer(bundle: bytes, policy: Policy, image: Digest) -> _Offer:
    try:
        checked = check_bundle(bundle, policy, subject=image)
    except TrustError as error:
        return _Offer(_claimed_kind(bundle), None, _line(error))
    return _Offer(checked.predicate_type, checked, "")


def _claimed_kind(bundle: bytes) -> str:
    """What a bundle that does not hold claims to be: only for telling why something is missing."""
    try:
        return str(json.loads(open_bundle(bundle).payload)["predicateType"])
    except (TrustError, ValueError, KeyError, TypeError, RecursionError):
        return ""


def _statement(name: str, kind: str, offers: list[_Offer], known: Known) -> Point:
    """Whether one of the statements of a kind holds in every respect."""
    ours = [offer for offer in offers if offer.kind == kind]
    if not ours:
        others = ", ".join(sorted({offer.kind for offer in offers if offer.kind})) or "none at all"
        return Point(name, False, f"missing: no attestation of type {kind} is attached; there are: {others}")
    problems = []
    for offer in ours:
        if offer.checked is None:
            problems.append(offer.problem)
            continue
        try:
            said = compare(offer.checked, known)
        except TrustError as error:
            problems.append(_line(error))
        else:
            return Point(name, True, f"signed by {offer.checked.signer}" + (f"; {said}" if said else ""))
    return Point(name, False, "; ".join(dict.fromkeys(problems)))


def _line(error: Exception) -> str:
    """An error's message in one line."""
    return "; ".join(line.strip() for line in str(error).splitlines())


def verification_lines(verification: Verification) -> Iterator[str]:
    """The table for people."""
    width = max(len(point.name) for point in verification.points)
    for point in verification.points:
        yield f"{'holds' if point.held else 'FAILS'}  {point.name:{width}}  {one_line(point.evidence)}"
