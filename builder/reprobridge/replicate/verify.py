"""Verifying an image: are these its bytes, who signed it, and does what they say fit what it holds?

Each question's answer is a `Point`: a reviewer sees everything that holds and everything that does not. A
statement counts only when its signature holds by the policy and its subject is this very digest
(`publish/signing/check.py`), and what it says fits the image (`claims.py`).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from reprobridge.digest import Digest, Json
from reprobridge.errors import ArtifactError, AssembleError, LockError, StoreError, TrustError
from reprobridge.frozen import frozen
from reprobridge.lock.file import FILE_NAME
from reprobridge.oci.layout import ImageParts
from reprobridge.publish.attested import Offered, Unread
from reprobridge.publish.signing.bundle import open_bundle
from reprobridge.publish.signing.check import CheckedStatement, check_bundle
from reprobridge.publish.signing.policy import Policy
from reprobridge.registry.refusals import LostBlobError, WrongBytesError
from reprobridge.replicate.claims import Known, compare
from reprobridge.replicate.contents import Contents, read_contents
from reprobridge.replicate.one_line import one_line
from reprobridge.replicate.seen import SeenImage, SeenLayer, see
from reprobridge.sandbox.unpack import HashedTar
from reprobridge.store.store import Store
from reprobridge.wording import counted

SCHEMA = "reprobridge.verification/1"
"""Value of `schema` in the JSON form."""
_BROKEN = (ArtifactError, AssembleError, StoreError, LostBlobError, WrongBytesError)


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
    note: str = ""
    """What else was found that somebody who relies on the evidence should know; mostly empty."""


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
            {"name": point.name, "held": point.held, "evidence": point.evidence, "note": point.note}
            for point in self.points
        ]
        return {"schema": SCHEMA, "image": str(self.image), "held": self.held, "points": points}


def verify(parts: ImageParts, bundles: Iterable[Offered], demand: Demand, store: Store) -> Verification:
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
    return Verification(image=digest, points=(*points, *_statements(bundles, demand, known)))


def verify_unserved(
    digest: Digest, why: LostBlobError | WrongBytesError, bundles: Iterable[Offered], demand: Demand
) -> Verification:
    """The answers about an image whose manifest is lost, or comes with other bytes: only what was signed is left."""
    known = Known(image=digest, contents=None, accept_not_run=demand.accept_not_run)
    manifest = Point("manifest", False, why.in_one_line())
    return Verification(image=digest, points=(manifest, *_statements(bundles, demand, known)))


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


# what was signed


@frozen
class _Offer:
    """A bundle of some kind that was offered."""

    kind: str
    """The predicate type that it claims; empty where that cannot be read."""
    checked: CheckedStatement | None
    """What it says, when its signature and subject hold."""
    problem: str
    """Why they do not."""


def _statements(bundles: Iterable[Offered], demand: Demand, known: Known) -> list[Point]:
    """The answers about everything that must be signed."""
    offers = [_offer(bundle, demand.policy, known.image) for bundle in bundles]
    return [_statement(name, kind, offers, known) for name, kind in demand.required.items()]


def _offer(bundle: Offered, policy: Policy, image: Digest) -> _Offer:
    if isinstance(bundle, Unread):
        return _Offer("", None, bundle.reason)
    try:
        checked = check_bundle(bundle, policy, subject=image)
    except TrustError as error:
        return _Offer(_claimed_kind(bundle), None, error.in_one_line())
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
    unread = [offer.problem for offer in offers if not offer.kind]  # each might have been what is asked for
    if not ours:
        others = ", ".join(sorted({offer.kind for offer in offers if offer.kind})) or "none at all"
        missing = f"missing: no attestation of type {kind} is attached; there are: {others}"
        return Point(name, False, "; ".join(dict.fromkeys([missing, *unread])))
    held: list[tuple[CheckedStatement, str]] = []
    broken: list[str] = []
    for offer in ours:
        if offer.checked is None:
            continue
        try:
            held.append((offer.checked, compare(offer.checked, known)))
        except TrustError as error:
            broken.append(error.in_one_line())
    if not held:
        problems = [offer.problem for offer in ours if offer.problem]
        return Point(name, False, "; ".join(dict.fromkeys([*broken, *problems, *unread])))
    statement, said = held[0]
    evidence = f"signed by {statement.signer}" + (f"; {said}" if said else "")
    return Point(name, True, evidence, _note([one for one, _ in held], broken))


def _note(held: Sequence[CheckedStatement], broken: Sequence[str]) -> str:
    """What the signers whom the policy trusts said besides; what anybody else attached says nothing."""
    differ = any(one.payload != held[0].payload for one in held)
    notes = [f"{len(held)} statements of this kind hold; the first is shown"] if differ else []
    if broken:
        others = f"{counted(len(broken), 'other statement')} by a signer whom you trust"
        notes.append(f"{others}, that does not hold: {'; '.join(dict.fromkeys(broken))}")
    return "; ".join(notes)


def verification_lines(verification: Verification) -> Iterator[str]:
    """The table for people."""
    width = max(len(point.name) for point in verification.points)
    for point in verification.points:
        yield f"{'holds' if point.held else 'FAILS'}  {point.name:{width}}  {one_line(point.evidence)}"
        if point.note:
            yield f"note   {point.name:{width}}  {one_line(point.note)}"
