"""Signatures as cosign 2 keeps them: the tag `sha256-<hex>.sig` with one layer a signature (an option).

https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md
Everybody's signatures stand under the one tag, so ours is added to the manifest that is there: read, add, write.
"""

import base64
import binascii
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reprobridge.digest import Digest, Json, canonical_json
from reprobridge.errors import TrustError
from reprobridge.frozen import frozen
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.signing.keys import PrivateKey, PublicKey

PAYLOAD = "application/vnd.dev.cosign.simplesigning.v1+json"
"""Media type of what is signed."""
SIGNATURE = "dev.cosignproject.cosign/signature"
"""Annotation of a layer: base64 of the signature of its bytes."""
_NO_TIME = "0001-01-01T00:00:00Z"


@frozen(kw_only=True)
class SignedTag:
    """What stands under the tag afterwards."""

    manifest: bytes
    """The manifest's exact bytes; those that were there when the signature was there already."""
    blobs: tuple[bytes, ...]
    """What a registry needs before the manifest; none when nothing changes."""


def signature_tag(image: Digest) -> str:
    """The tag with an image's signatures."""
    return f"sha256-{image.hex}.sig"


def payload_of(repository: str, image: Digest) -> bytes:
    """What is signed: that this digest is an image of `registry/repository`."""
    return canonical_json(
        {
            "critical": {
                "identity": {"docker-reference": repository},
                "image": {"docker-manifest-digest": str(image)},
                "type": "cosign container image signature",
            },
            "optional": None,
        }
    )


def add_signature(present: bytes | None, repository: str, image: Digest, key: PrivateKey) -> SignedTag:
    """Add a signature to the manifest under the tag (None: there is none). Raises TrustError when it is another's."""
    payload = payload_of(repository, image)
    signature = base64.b64encode(key.sign(payload)).decode()
    layer: dict[str, Json] = {
        **Descriptor.of(PAYLOAD, payload).to_json(),
        "annotations": {SIGNATURE: signature},
    }
    layers = [] if present is None else _layers(present)
    if present is not None and layer in layers:
        return SignedTag(manifest=present, blobs=())
    config = _config([*layers, layer])
    manifest = canonical_json(
        {
            "schemaVersion": 2,
            "mediaType": MediaType.MANIFEST.value,
            "config": Descriptor.of(MediaType.CONFIG, config).to_json(),
            "layers": [*layers, layer],
        }
    )
    return SignedTag(manifest=manifest, blobs=(payload, config))


def signatures(manifest: bytes) -> Iterator[tuple[Digest, bytes]]:
    """(digest of what is signed, signature) of each layer. Raises TrustError for another kind of manifest."""
    for layer in _layers(manifest):
        try:
            signature = base64.b64decode(layer.get("annotations", {}).get(SIGNATURE, ""), validate=True)
            yield Digest.parse(layer["digest"]), signature
        except (ValueError, TypeError, AttributeError, binascii.Error) as error:
            raise TrustError("a signature cannot be read", found=str(error)) from error


def check_signature(payload: bytes, signature: bytes, key: PublicKey, image: Digest) -> None:
    """Raises TrustError unless the key signed this payload, and it names this image."""
    if not key.verifies(signature, payload):
        raise TrustError("the signature does not hold", expected=f"signed with key {key.fingerprint}")
    match _parsed(payload):
        case {"critical": {"image": {"docker-manifest-digest": found}}} if found == str(image):
            return
        case {"critical": {"image": {"docker-manifest-digest": found}}}:
            raise TrustError("the signature is of another image", expected=str(image), found=str(found))
    raise TrustError("what was signed names no image", expected="cosign's simple signing payload")


def _parsed(data: bytes) -> object:
    """The JSON value, or None where there is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def _layers(manifest: bytes) -> list[dict[str, Any]]:
    """The layers of a manifest of signatures, whoever wrote it."""
    match _parsed(manifest):
        case {"layers": list(layers)} if all(_is_signature(layer) for layer in layers):
            return layers
    raise TrustError("the tag for signatures names something else", expected=f"layers of type {PAYLOAD}")


def _is_signature(layer: object) -> bool:
    match layer:
        case {"mediaType": str(kind), "digest": str(), "size": int()}:
            return kind == PAYLOAD
    return False


def _config(layers: Sequence[Mapping[str, Any]]) -> bytes:
    """The configuration that cosign writes: the layers' digests, since they are not compressed."""
    return canonical_json(
        {
            "architecture": "",
            "config": {},
            "created": _NO_TIME,
            "history": [{"created": _NO_TIME} for _ in layers],
            "os": "",
            "rootfs": {"type": "layers", "diff_ids": [layer["digest"] for layer in layers]},
        }
    )
