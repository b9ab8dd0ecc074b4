"""What was signed about an image: an answer for each kind of statement that is required, and what was measured.

A statement counts only when its signature holds by the policy and its subject is this very digest
(`publish/signing/check.py`), and what it says fits the image (`claims.py`). The image's signature may also stand
under cosign 2's tag (`publish/signing/cosign_tag.py`), which is asked for only where no bundle holds.
"""

import contextlib
import json
from collections.abc import Callable, Iterable, Sequence

from reprobridge.digest import Digest
from reprobridge.errors import TrustError
from reprobridge.frozen import frozen
from reprobridge.publish.attested import Offered, Unread
from reprobridge.publish.signing.bundle import open_bundle
from reprobridge.publish.signing.check import CheckedStatement, check_bundle
from reprobridge.publish.signing.cosign_tag import check_signature, signature_tag
from reprobridge.publish.signing.policy import KeyPolicy, Policy
from reprobridge.publish.statements.statement import PredicateType
from reprobridge.publish.tag_signatures import OfferedSignature
from reprobridge.replicate.answers import Point
from reprobridge.replicate.claims import Known, compare
from reprobridge.replicate.measured import Measured, measured_in
from reprobridge.replicate.requirement import Demand
from reprobridge.wording import counted


@frozen(kw_only=True)
class Signed:
    """What is offered as signed about an image, trusted by nobody yet."""

    bundles: Iterable[Offered]
    """Sigstore bundles."""
    tagged: Callable[[], Iterable[OfferedSignature]] = lambda: ()
    """What stands under cosign 2's tag."""


@frozen
class _Offer:
    """A statement of some kind that was offered."""

    kind: str
    """The predicate type that it claims; empty where that cannot be read."""
    checked: CheckedStatement | None
    """What it says, when its signature and subject hold."""
    problem: str
    """Why they do not."""
    form: str = "in a sigstore bundle"
    """How it is signed, for people."""


def signed_answers(signed: Signed, demand: Demand, known: Known) -> tuple[list[Point], tuple[Measured, ...]]:
    """The answers about everything that must be signed, and what was measured."""
    offers = [_offer(bundle, demand.policy, known.image) for bundle in signed.bundles]
    points = []
    for name, kind in demand.required.items():
        point = _statement(name, kind, offers, known)
        if kind == PredicateType.IMAGE_SIGNATURE and not point.held:
            tagged = _tagged(signed, demand.policy, known.image)
            point = _statement(name, kind, [*offers, *tagged], known)
        points.append(point)
    return points, _measured(offers, known)


def _offer(bundle: Offered, policy: Policy, image: Digest) -> _Offer:
    if isinstance(bundle, Unread):
        return _Offer("", None, bundle.reason)
    try:
        checked = check_bundle(bundle, policy, subject=image)
    except TrustError as error:
        return _Offer(_claimed_kind(bundle), None, error.in_one_line())
    return _Offer(checked.predicate_type, checked, "")


def _tagged(signed: Signed, policy: Policy, image: Digest) -> list[_Offer]:
    """The image's signatures under cosign 2's tag; a key's only, the others' certificates are not looked at."""
    if not isinstance(policy, KeyPolicy):
        return []
    return [_tag_offer(one, policy, image) for one in signed.tagged()]


def _tag_offer(one: OfferedSignature, policy: KeyPolicy, image: Digest) -> _Offer:
    kind, form = PredicateType.IMAGE_SIGNATURE, "under cosign 2's tag"
    if isinstance(one, Unread):
        return _Offer(kind, None, one.reason)
    try:
        check_signature(one.payload, one.signature, policy.key, image)
    except TrustError as error:
        return _Offer(kind, None, f"{signature_tag(image)}: {error.in_one_line()}")
    checked = CheckedStatement(predicate_type=kind, predicate={}, payload=one.payload, signer=str(policy))
    return _Offer(kind, checked, "", form)


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
    held: list[tuple[CheckedStatement, str, str]] = []
    broken: list[str] = []
    for offer in ours:
        if offer.checked is None:
            continue
        try:
            held.append((offer.checked, offer.form, compare(offer.checked, known)))
        except TrustError as error:
            broken.append(error.in_one_line())
    if not held:
        problems = [offer.problem for offer in ours if offer.problem]
        return Point(name, False, "; ".join(dict.fromkeys([*broken, *problems, *unread])))
    statement, form, said = held[0]
    how = f", {form}" if kind == PredicateType.IMAGE_SIGNATURE else ""
    evidence = f"signed by {statement.signer}{how}" + (f"; {said}" if said else "")
    return Point(name, True, evidence, _note([one for one, *_ in held], broken))


def _note(held: Sequence[CheckedStatement], broken: Sequence[str]) -> str:
    """What the signers whom the policy trusts said besides; what anybody else attached says nothing."""
    differ = any(one.payload != held[0].payload for one in held)
    notes = [f"{len(held)} statements of this kind hold; the first is shown"] if differ else []
    if broken:
        others = f"{counted(len(broken), 'other statement')} by a signer whom you trust"
        notes.append(f"{others}, that does not hold: {'; '.join(dict.fromkeys(broken))}")
    return "; ".join(notes)


def _measured(offers: Sequence[_Offer], known: Known) -> tuple[Measured, ...]:
    """What those whom the policy trusts measured, each measurement once; whether they must is `demand.required`'s."""
    found: dict[Measured, None] = {}
    for offer in offers:
        if offer.checked is not None and offer.kind == PredicateType.MEASUREMENTS:
            with contextlib.suppress(TrustError):
                artifact = known.required("manifest").read_manifest()
                found |= dict.fromkeys(measured_in(offer.checked, artifact))
    return tuple(found)
