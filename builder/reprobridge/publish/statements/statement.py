"""An in-toto Statement v1 about one image, and its exact bytes.

https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
The bytes are canonical JSON without floats: what a program measured stands in a predicate as text. So a rebuild
gives the same bytes, apart from the time and the builder in the provenance.
"""

from collections.abc import Mapping
from enum import StrEnum

from reprobridge.digest import Digest, Json, canonical_json
from reprobridge.frozen import frozen

STATEMENT = "https://in-toto.io/Statement/v1"
"""Value of `_type`."""


class PredicateType(StrEnum):
    """What our statements say; the last is our own (guides/reference/attestations.md)."""

    IMAGE_SIGNATURE = "https://sigstore.dev/cosign/sign/v1"
    SPDX = "https://spdx.dev/Document/v2.3"
    CYCLONEDX = "https://cyclonedx.org/bom"
    PROVENANCE = "https://slsa.dev/provenance/v1"
    VALIDATION = "https://in-toto.io/attestation/test-result/v0.1"
    MEASUREMENTS = "urn:reprobridge:measurements:1"


@frozen
class Subject:
    """The image that is spoken of."""

    name: str
    """`registry/repository`, for people: verifiers go by the digest, so a copy elsewhere stays attested."""
    digest: Digest
    """Of its manifest."""


@frozen(kw_only=True)
class Statement:
    """One claim about one image."""

    subject: Subject
    """The image."""
    predicate_type: str
    """What kind of claim: a URI, for ours one of `PredicateType`."""
    predicate: Mapping[str, Json]
    """The claim."""

    def to_bytes(self) -> bytes:
        """The bytes that are signed. Raises TypeError when the predicate holds a float."""
        subject: Json = {"name": self.subject.name, "digest": {"sha256": self.subject.digest.hex}}
        return canonical_json(
            {
                "_type": STATEMENT,
                "subject": [subject],
                "predicateType": str(self.predicate_type),
                "predicate": self.predicate,
            }
        )


def image_signature(subject: Subject) -> Statement:
    """That whoever signs this stands by the image; as cosign 3 signs images."""
    return Statement(subject=subject, predicate_type=PredicateType.IMAGE_SIGNATURE, predicate={})
