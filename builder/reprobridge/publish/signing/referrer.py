"""A bundle as a referrer of its image: the manifest that registries list beside it (cosign 3's layout).

The manifest's bytes follow from the bundle, so that publishing again attaches the same one.
"""

import json

from reprobridge.digest import Digest, Json, canonical_json
from reprobridge.errors import TrustError
from reprobridge.frozen import frozen
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.signing.bundle import BUNDLE

EMPTY = "application/vnd.oci.empty.v1+json"
"""Media type of a configuration that holds nothing (OCI image specification 1.1)."""
MAXIMUM = 32 << 20
"""Bytes that a bundle may have: twice the most that GitHub takes of a predicate."""


@frozen
class HeldBlob:
    """A blob that is small enough to be held in memory."""

    descriptor: Descriptor
    """Names it."""
    data: bytes
    """Its bytes."""

    @classmethod
    def of(cls, media_type: str, data: bytes) -> "HeldBlob":
        """These bytes as a blob."""
        return cls(Descriptor(media_type, Digest.of(data), len(data)), data)


def bundle_blobs(bundle: bytes) -> tuple[HeldBlob, HeldBlob]:
    """What the manifest names and a registry needs before it: the empty configuration and the bundle."""
    return HeldBlob.of(EMPTY, b"{}"), HeldBlob.of(BUNDLE, bundle)


def bundle_manifest(
    bundle: bytes, subject: Descriptor, predicate_type: str, created: str | None = None
) -> bytes:
    """The referrer's exact bytes; `created` is an RFC 3339 time, for people, and makes them differ each time."""
    config, layer = bundle_blobs(bundle)
    annotations: dict[str, Json] = {
        "dev.sigstore.bundle.content": "dsse-envelope",
        "dev.sigstore.bundle.predicateType": str(predicate_type),
    }
    if created is not None:
        annotations["org.opencontainers.image.created"] = created
    return canonical_json(
        {
            "schemaVersion": 2,
            "mediaType": MediaType.MANIFEST.value,
            "artifactType": BUNDLE,
            "config": config.descriptor.to_json(),
            "layers": [layer.descriptor.to_json()],
            "subject": subject.to_json(),
            "annotations": annotations,
        }
    )


def bundle_of(manifest: bytes) -> Descriptor | None:
    """The bundle that a received referrer holds; None: it holds something else.

    Raises TrustError for one that is broken or too long. The registry's word for what a referrer is
    (`artifactType` in its list) is not to be relied on: GHCR's lists say that all are empty configurations.
    """
    try:
        document = json.loads(manifest)
    except (ValueError, RecursionError) as error:
        raise TrustError("the referrer's manifest is no JSON", found=str(error)) from error
    match document:
        case {"layers": [{"mediaType": str(kind), "digest": str(digest), "size": int(size)}]} if (
            kind == BUNDLE
        ):
            try:
                parsed = Digest.parse(digest)
            except ValueError as error:
                raise TrustError("the referrer names its bundle wrongly", found=str(error)) from error
            if not 0 <= size <= MAXIMUM:
                expected = f"at most {MAXIMUM} bytes"
                raise TrustError("the bundle is too long", expected=expected, found=f"{size} bytes")
            return Descriptor(kind, parsed, size)
    return None
