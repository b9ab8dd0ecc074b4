"""Verifying an image: what holds, what does not, and why; nothing counts that is not signed for this digest."""

import json
from pathlib import Path

import pytest

from reprobridge.digest import Digest, canonical_json
from reprobridge.frozen import replace
from reprobridge.oci.layout import ImageParts
from reprobridge.publish.attested import Offered, Unread
from reprobridge.publish.signing.bundle import sign_with_key
from reprobridge.publish.statements.measurements import measurements
from reprobridge.publish.statements.statement import Subject
from reprobridge.publish.statements.validation import Acceptances, validation
from reprobridge.replicate.answers import verification_lines
from reprobridge.replicate.contents import read_contents
from reprobridge.replicate.seen import see
from reprobridge.store.store import Store
from reprobridge.validate.model import Finding, Verdict
from support.reviewed_image import reviewed_image
from support.signed_image import (
    KEY,
    OTHER,
    Published,
    attest_measurements,
    attest_report,
    failures,
    published,
    report_with,
)


@pytest.fixture
def image(store_folder: Path) -> Published:
    return published(Store(store_folder))


def test_a_published_image_holds(image: Published) -> None:
    verification = image.verify()
    assert verification.held
    names = ["manifest", "contents", "signature", "provenance", "sbom", "validation"]
    assert [point.name for point in verification.points] == names
    assert all(line.startswith("holds  ") for line in verification_lines(verification))
    assert str(KEY.public_key.fingerprint) in "".join(verification_lines(verification))


def test_every_layer_and_other_kinds_can_be_asked_for(image: Published) -> None:
    verification = image.verify("cyclonedx", "https://sigstore.dev/cosign/sign/v1", every_layer=True)
    assert verification.held
    assert [point.name for point in verification.points][-3:] == [
        "contents",
        "cyclonedx",
        "https://sigstore.dev/cosign/sign/v1",
    ]


def test_another_key_is_told_apart_from_a_missing_attestation(image: Published) -> None:
    image.key = OTHER
    found = failures(image.verify())
    assert list(found) == ["signature", "provenance", "sbom", "validation"]
    assert "a signature of another key" in found["signature"]
    del image.statements["provenance"]
    assert "missing: no attestation of type https://slsa.dev" in failures(image.verify())["provenance"]


@pytest.mark.parametrize("name", ["signature", "provenance", "sbom", "validation"])
def test_a_missing_attestation_is_named(name: str, image: Published) -> None:
    del image.statements[name]
    found = failures(image.verify())
    assert list(found) == [name]
    assert found[name].startswith("missing: ")


def test_an_image_without_any_attestation_fails(image: Published) -> None:
    assert "none at all" in failures(image.verify(bundles=[]))["signature"]


def test_statements_about_another_image_do_not_count(image: Published, store_folder: Path) -> None:
    changed = reviewed_image()
    changed.layers["code"]["rra/code/run.py"] = "print('1.17')\n"
    other = published(Store(store_folder), changed)
    found = failures(other.verify(bundles=image.bundles()))
    assert list(found) == ["signature", "provenance", "sbom", "validation"]
    for name, evidence in found.items():
        assert "about something else" in evidence, name
        assert str(other.digest) in evidence
        assert str(image.digest) in evidence


def test_a_bundle_whose_payload_was_changed_does_not_count(image: Published) -> None:
    document = json.loads(image.bundles()[0])
    forged = replace(image.statements["signature"], predicate={"more": "x"}).to_bytes()
    import base64

    document["dsseEnvelope"]["payload"] = base64.b64encode(forged).decode()
    others = image.bundles()[1:]
    found = failures(image.verify(bundles=[canonical_json(document), *others]))
    assert list(found) == ["signature"]
    assert "one that is not of these bytes" in found["signature"]


@pytest.mark.parametrize("junk", [b"", b"{}", b"[" * 100_000, b"\xff", b'{"mediaType": "x"}'])
def test_what_is_no_bundle_is_passed_over(junk: bytes, image: Published) -> None:
    assert image.verify(bundles=[junk, *image.bundles(), junk]).held


def test_one_good_statement_of_a_kind_is_enough(image: Published) -> None:
    bad = [sign_with_key(one.to_bytes(), OTHER) for one in image.statements.values()]
    assert image.verify(bundles=[*bad, *image.bundles()]).held


# what statements say


def test_a_failed_validation_does_not_hold(image: Published) -> None:
    attest_report(image, report_with(image, GUIDE=Finding(Verdict.FAILED, ("wrong",))))
    assert "the validation failed" in failures(image.verify())["validation"]
    assert "guide.blocks" in failures(image.verify())["validation"]


def test_a_report_that_lacks_a_check_does_not_hold(image: Published) -> None:
    report = report_with(image)
    attest_report(image, replace(report, results=report.results[1:]))
    assert "lacks checks" in failures(image.verify())["validation"]


def test_a_report_about_another_image_does_not_hold(image: Published) -> None:
    other = replace(report_with(image), image=Digest.of(b"other"))
    statement = validation(Subject("x", other.image), other, Acceptances())
    image.statements["validation"] = replace(statement, subject=image.statements["signature"].subject)
    assert "about another image" in failures(image.verify())["validation"]


def test_checks_that_were_not_run_hold_only_if_publisher_and_reviewer_accept_them(image: Published) -> None:
    report = report_with(image, SMOKE=Finding(Verdict.NOT_RUN, ("no GPU",)))
    attest_report(image, report)
    assert "checks were not run" in failures(image.verify())["validation"]
    assert failures(image.verify(accept_not_run=True))
    attest_report(image, report, not_run=("tasks.smoke",))
    assert failures(image.verify())
    verification = image.verify(accept_not_run=True)
    assert verification.held
    assert "not run: tasks.smoke" in verification.points[-1].evidence


def test_what_was_published_unmeasured_is_said(image: Published) -> None:
    attest_report(image, report_with(image), unmeasured=("deviation",))
    assert "unmeasured: deviation" in image.verify().points[-1].evidence


def test_measurements_that_count_hold(image: Published) -> None:
    attest_measurements(image)
    verification = image.verify("measurements")
    assert verification.held
    assert "1 task measured" in verification.points[-1].evidence
    subject = image.statements["signature"].subject
    artifact = read_contents(see(image.parts, image.store)).read_manifest()
    image.statements["measurements"] = measurements(subject, artifact, {}, [])
    assert "not measured: deviation" in image.verify("measurements").points[-1].evidence


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mode": "smoke"}, "smoke run"),
        ({"witness": "launcher"}, "witness"),
        ({"task_digest": "1" * 64}, "definition"),
    ],
)
def test_measurements_that_do_not_count_do_not_hold(
    changes: dict[str, object], said: str, image: Published
) -> None:
    attest_measurements(image, **changes)
    assert said in failures(image.verify("measurements"))["measurements"]


def test_measurements_of_another_artifact_or_task_do_not_hold(image: Published) -> None:
    attest_measurements(image)
    tasks = json.loads(json.dumps(image.statements["measurements"].predicate["tasks"]))
    image.change("measurements", tasks=[{**tasks[0], "task": "other"}])
    assert "other: a measurement does not count" in failures(image.verify("measurements"))["measurements"]
    image.change("measurements", tasks=[{**tasks[0], "measured": {**tasks[0]["measured"], "value": "99"}}])
    assert "another value" in failures(image.verify("measurements"))["measurements"]
    image.change("measurements", artifact="0" * 64, tasks=tasks)
    assert "another artifact" in failures(image.verify("measurements"))["measurements"]


def test_what_could_not_be_had_is_told_where_something_is_missing(image: Published) -> None:
    del image.statements["provenance"]
    offered: list[Offered] = [Unread("sha256:77 cannot be had: refused"), *image.bundles()]
    assert "cannot be had: refused" in failures(image.verify(bundles=offered))["provenance"]


def test_what_could_not_be_had_is_told_beside_what_does_not_hold(image: Published) -> None:
    image.key = OTHER
    offered: list[Offered] = [Unread("sha256:77 cannot be had: lost"), *image.bundles()]
    found = failures(image.verify(bundles=offered))["signature"]
    assert "another key" in found
    assert found.endswith("; sha256:77 cannot be had: lost")


def test_what_could_not_be_had_is_not_missed_where_others_say_it(image: Published) -> None:
    offered: list[Offered] = [Unread("sha256:77 cannot be had: lost"), *image.bundles()]
    assert image.verify(bundles=offered) == image.verify()


def test_a_provenance_with_another_lock_does_not_hold(image: Published) -> None:
    definition = json.loads(json.dumps(image.statements["provenance"].predicate["buildDefinition"]))
    for one in definition["resolvedDependencies"]:
        if one["name"] == "reprobridge.lock":
            one["digest"]["sha256"] = "0" * 64
    image.change("provenance", buildDefinition=definition)
    assert "another lock" in failures(image.verify())["provenance"]


def test_a_provenance_of_another_artifact_does_not_hold(image: Published) -> None:
    definition = json.loads(json.dumps(image.statements["provenance"].predicate["buildDefinition"]))
    definition["externalParameters"]["artifact"] = "0" * 64
    image.change("provenance", buildDefinition=definition)
    assert "another artifact" in failures(image.verify())["provenance"]


def test_a_provenance_of_another_builder_does_not_hold(image: Published) -> None:
    image.statements["provenance"] = replace(image.statements["provenance"], predicate={"x": "y"})
    assert "not one of reprobridge" in failures(image.verify())["provenance"]


@pytest.mark.parametrize("name", ["sbom", "cyclonedx"])
def test_a_bill_of_materials_that_is_not_the_images_does_not_hold(name: str, image: Published) -> None:
    image.change(name, packages=[], components=[])
    assert "not the one that the image holds" in failures(image.verify(name))[name]


# the image


def damaged(image: Published, digest: Digest) -> None:
    path = image.store.path(digest)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("part", ["manifest", "config"])
def test_a_changed_manifest_or_configuration_does_not_hold(part: str, image: Published) -> None:
    damaged(image, getattr(image.parts, part).digest)
    found = failures(image.verify())
    assert "damaged" in found["manifest"]
    assert str(getattr(image.parts, part).digest) in found["manifest"]


def test_a_changed_layer_is_named_when_all_are_looked_at(image: Published) -> None:
    damaged(image, image.parts.layers[0].digest)
    assert image.verify().held
    found = failures(image.verify(every_layer=True))
    assert list(found) == ["layers"]
    assert found["layers"].startswith("base system: ")


def test_a_changed_layer_of_the_artifact_is_always_noticed(image: Published) -> None:
    damaged(image, image.parts.layers[2].digest)
    found = failures(image.verify())
    assert {"contents", "provenance", "sbom"} <= set(found)


def test_an_image_whose_lock_is_not_the_one_that_its_manifest_names_does_not_hold(
    image: Published, store_folder: Path
) -> None:
    changed = reviewed_image()
    lock = changed.layers["artifact"]["rra/lock/reprobridge.lock"]
    assert isinstance(lock, bytes)
    changed.layers["artifact"]["rra/lock/reprobridge.lock"] = lock.replace(b"5.2.15-2+b13", b"5.3")
    parts = changed.build(Store(store_folder))
    found = failures(replace_parts(image, parts).verify())
    assert "the manifest names lock" in found["contents"]


def test_an_image_with_another_artifacts_labels_does_not_hold(image: Published, store_folder: Path) -> None:
    changed = reviewed_image()
    changed.labels = {**changed.labels, "io.reprobridge.artifact": "0" * 64}
    found = failures(replace_parts(image, changed.build(Store(store_folder))).verify())
    assert "labelled as artifact" in found["contents"]


def replace_parts(image: Published, parts: ImageParts) -> Published:
    return Published(parts=parts, store=image.store, statements=image.statements)


def test_the_json_form_holds_every_answer(image: Published) -> None:
    value = image.verify().to_json()
    assert value["held"] is True
    assert value["image"] == str(image.digest)
    assert value["schema"] == "reprobridge.verification/1"
    assert isinstance(value["points"], list)
    assert len(value["points"]) == 6
