"""What is attached to a published image: its signature, and what is known about it, each signed.

Every statement is made from what the image itself holds and from what passed the gate, so a rebuild makes the
same ones. Nothing is attached unsigned: a claim that nobody stands by would look like one that somebody does.
"""

import json
from collections.abc import Mapping

from reprobridge.errors import PublishError
from reprobridge.lock.file import FILE_NAME
from reprobridge.oci.model import Descriptor
from reprobridge.publish.gate import Passed
from reprobridge.publish.model import Attachment
from reprobridge.publish.signing.referrer import bundle_blobs, bundle_manifest
from reprobridge.publish.signing.signer import Signer
from reprobridge.publish.statements.measurements import measurements
from reprobridge.publish.statements.provenance import Build, provenance
from reprobridge.publish.statements.sbom import cyclonedx, spdx
from reprobridge.publish.statements.statement import PredicateType, Statement, Subject, image_signature
from reprobridge.publish.statements.validation import Acceptances, validation
from reprobridge.validate.subject import Subject as Image
from reprobridge_launcher import references
from reprobridge_launcher.fields import FormatError

TITLES: Mapping[str, str] = {
    PredicateType.IMAGE_SIGNATURE: "signature",
    PredicateType.SPDX: "bill of materials (SPDX)",
    PredicateType.CYCLONEDX: "bill of materials (CycloneDX)",
    PredicateType.PROVENANCE: "provenance (SLSA)",
    PredicateType.VALIDATION: "validation report",
    PredicateType.MEASUREMENTS: "measurements",
}
"""What each statement is, for people; in the order in which they are attached."""


def statements_about(passed: Passed, image: Image, name: str, build: Build) -> tuple[Statement, ...]:
    """Everything that is said about an image that passed; `name` is the repository that it goes to.

    Raises PublishError when the image lacks what the statements are made from.
    """
    subject = Subject(name, passed.report.image)
    accepted = Acceptances(
        not_run=tuple(check.value for check in passed.not_run), unmeasured=passed.unmeasured
    )
    sbom = _file(image, "rra/sbom.spdx.json")
    platform = f"{image.config.get('os')}/{image.config.get('architecture')}"
    try:
        known = references.parse(json.loads(_file(image, "rra/references.json")))
    except (FormatError, ValueError) as error:
        raise _broken(image, "rra/references.json", str(error)) from error
    try:
        origin = provenance(subject, passed.artifact, _file(image, f"rra/lock/{FILE_NAME}"), platform, build)
    except ValueError as error:
        raise _broken(image, f"rra/lock/{FILE_NAME}", str(error)) from error
    return (
        image_signature(subject),
        spdx(subject, sbom),
        cyclonedx(subject, sbom),
        origin,
        validation(subject, passed.report, accepted),
        measurements(subject, passed.artifact, known, passed.evidence),
    )


def signed(statement: Statement, signer: Signer, subject: Descriptor, title: str) -> Attachment:
    """A statement as what is attached to its subject; `title` is for people."""
    bundle = signer.sign(statement)
    return Attachment(
        title=title,
        manifest=bundle_manifest(bundle, subject, statement.predicate_type),
        blobs=bundle_blobs(bundle),
    )


def _file(image: Image, path: str) -> bytes:
    data = image.read(path)
    if data is None:
        raise _broken(image, path, "nothing")
    return data


def _broken(image: Image, path: str, found: str) -> PublishError:
    return PublishError(
        "the image lacks what is said about it",
        where=f"/{path} of {image.digest}",
        expected="the file that a build writes",
        found=found,
        hint="build the image again",
    )
