"""Verifying what a registry does not serve, and images about which more than one thing was said."""

from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.frozen import replace
from reprobridge.publish.signing.policy import KeyPolicy
from reprobridge.registry.refusals import wrong_bytes
from reprobridge.replicate.answers import verification_lines
from reprobridge.replicate.requirement import Demand, required
from reprobridge.replicate.signed import Signed
from reprobridge.replicate.verify import verify_unserved
from reprobridge.store.store import Store
from reprobridge.validate.model import Finding, Verdict
from support.signed_image import KEY, OTHER, Published, attest_report, failures, published, report_with


@pytest.fixture
def image(store_folder: Path) -> Published:
    return published(Store(store_folder))


@pytest.mark.parametrize(
    ("part", "name"), [("config", "manifest"), ("layers", "layers"), ("artifact", "contents")]
)
def test_other_bytes_from_a_registry_are_an_answer(part: str, name: str, image: Published) -> None:
    blobs = {"config": image.parts.config, "layers": image.parts.layers[0], "artifact": image.parts.layers[2]}
    wrong = blobs[part].digest

    def path(digest: Digest) -> Path:
        if digest == wrong:
            raise wrong_bytes("other bytes", where="registry", wanted=wrong, found="sha256:0")
        return image.store.path(digest)

    image.parts = replace(image.parts, path=path)
    found = failures(image.verify(every_layer=True))
    assert "the registry sends other bytes" in found[name]
    assert f"expected: {wrong}; found: sha256:0; hint: " in found[name]


def test_of_a_manifest_that_is_not_served_it_is_still_told_what_was_signed(image: Published) -> None:
    demand = Demand(policy=KeyPolicy(KEY.public_key), required=required(["signature", "sbom"]))
    why = wrong_bytes("another manifest", where="registry", wanted=image.digest, found="sha256:0")
    verification = verify_unserved(image.digest, why, Signed(bundles=image.bundles()), demand)
    found = failures(verification)
    assert list(found) == ["manifest", "sbom"]
    assert "the registry sends another manifest" in found["manifest"]
    assert verification.points[1].held


def test_another_statement_that_holds_and_says_something_else_is_noted(image: Published) -> None:
    bundles = image.bundles()
    assert image.verify(bundles=[*bundles, *bundles]).points[-1].note == ""
    attest_report(image, report_with(image), unmeasured=("deviation",))
    verification = image.verify(bundles=[*bundles, *image.bundles()])
    assert verification.held
    assert verification.points[-1].note == "2 statements of this kind hold; the first is shown"
    assert "unmeasured" not in verification.points[-1].evidence
    assert list(verification_lines(verification))[-1].startswith("note   validation  2 statements")


def test_a_trusted_statement_that_does_not_hold_is_noted_beside_one_that_does(image: Published) -> None:
    bundles = image.bundles()
    attest_report(image, report_with(image, GUIDE=Finding(Verdict.FAILED, ("wrong",))))
    verification = image.verify(bundles=[*bundles, *image.bundles()])
    assert verification.held
    note = verification.points[-1].note
    assert note.startswith(
        "1 other statement by a signer whom you trust, that does not hold: the validation failed"
    )
    image.key = OTHER
    assert image.verify(bundles=[*bundles, *image.bundles()]).points[-1].note == ""
