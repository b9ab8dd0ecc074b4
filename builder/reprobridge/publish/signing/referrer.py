"""A bundle as a referrer of its image: the manifest that registries list beside it (cosign 3's layout).

The manifest's bytes follow from the bundle, so that publishing again attaches the same one.
"""

import json

from reprobridge.digest import Digest, Json, canonical_json
from reprobridge.errors import TrustError
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.signing.bundle import BUNDLE

EMPTY = "application/vnd.oci.empty.v1+json"
"""Media type of a configuration that holds nothing (OCI image specification 1.1)."""
EMPTY_CONFIG = b"{}"
"""Its bytes."""
MAXIMUM = 32 << 20
"""Bytes that a bundle may have: twice the most that GitHub takes of a predicate."""


def bundle_blobs(bundle: bytes) -> tuple[bytes, bytes]:
    """What the manifest names and a registry needs before it: the empty configuration and the bundle."""
    return EMPTY_CONFIG, bundle


def bundle_manifest(bundle: bytes, subject: Descriptor, predicate_type: str) -> bytes:
    """The referrer's exact bytes."""
    annotations: dict[str, Json] = {
        "dev.sigstore.bundle.content": "dsse-envelope",
        "dev.sigstore.bundle.predicateType": str(predicate_type),
    }
    return canonical_json(
        {
            "schemaVersion": 2,
            "mediaType": MediaType.MANIFEST.value,
            "artifactType": BUNDLE,
            "config": Descriptor.of(EMPTY, EMPTY_CONFIG).to_json(),
            "layers": [Descriptor.of(BUNDLE, bundle).to_json()],
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
