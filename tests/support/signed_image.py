"""An image with everything that a publisher signs about it, for tests of those who verify it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from reprobridge.digest import Digest, Json
from reprobridge.frozen import replace
from reprobridge.oci.layout import ImageParts
from reprobridge.publish.attested import Offered
from reprobridge.publish.signing.bundle import sign_with_key
from reprobridge.publish.signing.keys import PrivateKey
from reprobridge.publish.signing.policy import KeyPolicy
from reprobridge.publish.statements.measurements import measurements
from reprobridge.publish.statements.provenance import Build, provenance
from reprobridge.publish.statements.sbom import cyclonedx, spdx
from reprobridge.publish.statements.statement import Statement, Subject, image_signature
from reprobridge.publish.statements.validation import Acceptances, validation
from reprobridge.replicate.answers import Verification
from reprobridge.replicate.contents import read_contents
from reprobridge.replicate.requirement import Demand, required
from reprobridge.replicate.seen import see
from reprobridge.replicate.signed import Signed
from reprobridge.replicate.verify import verify
from reprobridge.store.store import Store
from reprobridge.validate.model import Finding, Report
from support.publishing import record_of, report_about, scored
from support.reviewed_image import ReviewedImage, reviewed_image

KEY = PrivateKey.generate()
"""The publisher's."""
OTHER = PrivateKey.generate()
"""Somebody else's."""


@dataclass
class Published:
    """An image with everything that a publisher attaches; every statement can be changed before it is signed."""

    parts: ImageParts
    store: Store
    statements: dict[str, Statement]
    key: PrivateKey = field(default_factory=lambda: KEY)

    @property
    def digest(self) -> Digest:
        """Of the image."""
        return self.parts.manifest.digest

    def bundles(self) -> list[bytes]:
        """The signed statements."""
        return [sign_with_key(one.to_bytes(), self.key) for one in self.statements.values()]

    def verify(
        self,
        *names: str,
        bundles: Sequence[Offered] | None = None,
        every_layer: bool = False,
        accept_not_run: bool = False,
    ) -> Verification:
        """Verify with the publisher's public key."""
        demand = Demand(
            policy=KeyPolicy(KEY.public_key),
            required=required(names),
            every_layer=every_layer,
            accept_not_run=accept_not_run,
        )
        given = self.bundles() if bundles is None else bundles
        return verify(self.parts, Signed(bundles=given), demand, self.store)

    def change(self, name: str, **predicate: Json) -> None:
        """Let a statement say something else."""
        statement = self.statements[name]
        self.statements[name] = replace(statement, predicate={**statement.predicate, **predicate})


def published(store: Store, image: ReviewedImage | None = None) -> Published:
    """Build the image into a store, and say everything about it that publishing says."""
    parts = (image or reviewed_image()).build(store)
    contents = read_contents(see(parts, store))
    subject = Subject("registry.example/image", parts.manifest.digest)
    artifact = contents.read_manifest()
    report = report_about(subject.digest, artifact)
    statements = {
        "signature": image_signature(subject),
        "provenance": provenance(subject, artifact, contents.lock, "linux/amd64", Build()),
        "sbom": spdx(subject, contents.sbom),
        "cyclonedx": cyclonedx(subject, contents.sbom),
        "validation": validation(subject, report, Acceptances()),
    }
    return Published(parts=parts, store=store, statements=statements)


def failures(verification: Verification) -> dict[str, str]:
    """What was found of the points that do not hold, by their names."""
    return {point.name: point.evidence for point in verification.points if not point.held}


def attest_report(image: Published, report: Report, **accepted: tuple[str, ...]) -> None:
    """Let the publisher attest this report."""
    subject = image.statements["signature"].subject
    image.statements["validation"] = validation(
        replace(subject, digest=report.image), report, Acceptances(**accepted)
    )


def attest_measurements(image: Published, **changes: object) -> None:
    """Let the publisher attest a record of each task, with some fields changed."""
    artifact = read_contents(see(image.parts, image.store)).read_manifest()
    records = [scored(record_of(artifact, task, **changes)) for task in artifact.tasks]
    subject = image.statements["signature"].subject
    image.statements["measurements"] = measurements(subject, artifact, {}, records)


def report_with(image: Published, **findings: Finding) -> Report:
    """A report about the image in which these checks found something else."""
    artifact = read_contents(see(image.parts, image.store)).read_manifest()
    return report_about(image.digest, artifact, **findings)
