"""Signatures as cosign 2 keeps them: the tag `sha256-<hex>.sig` with one layer a signature (an option).

https://github.com/sigstore/cosign/blob/main/specs/SIGNATURE_SPEC.md
Everybody's signatures stand under the one tag, so ours is added to the manifest that is there: read, add, write.
Who verifies takes each layer by itself: what is wrong with one says nothing of the others.
"""

import base64
import binascii
import json
from collections.abc import Mapping, Sequence
from typing import Any

from reprobridge.digest import Digest, Json, canonical_json, strict_json
from reprobridge.errors import TrustError
from reprobridge.frozen import frozen
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.signing.keys import PrivateKey, PublicKey

PAYLOAD = "application/vnd.dev.cosign.simplesigning.v1+json"
"""Media type of what is signed."""
SIGNATURE = "dev.cosignproject.cosign/signature"
"""Annotation of a layer: base64 of the signature of its bytes."""
MOST = 100
"""Signatures of one image that are looked at: each costs a request."""
LARGEST_PAYLOAD = 1 << 16
"""Bytes that a payload may have; cosign's have some hundred."""
_TYPE = "cosign container image signature"
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
                "type": _TYPE,
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


def signature_layers(manifest: bytes) -> list[object]:
    """The layers of what stands under the tag, whatever they are. Raises TrustError for no manifest or too many."""
    match _parsed(manifest):
        case {"layers": list(layers)} if len(layers) <= MOST:
            return layers
        case {"layers": list(layers)}:
            expected = f"at most {MOST} signatures"
            raise TrustError(
                "the tag for signatures holds too many", expected=expected, found=str(len(layers))
            )
    raise TrustError("the tag for signatures names something else", expected=f"layers of type {PAYLOAD}")


def named_signature(layer: object) -> tuple[Descriptor, bytes]:
    """What is signed, and the signature. Raises TrustError for a layer of another kind, or too long a payload."""
    match layer:
        case {
            "mediaType": str(kind),
            "digest": str(digest),
            "size": int(size),
            "annotations": {**annotations},
        } if kind == PAYLOAD and isinstance(signature := annotations.get(SIGNATURE), str):
            if not 0 <= size <= LARGEST_PAYLOAD:
                expected = f"at most {LARGEST_PAYLOAD} bytes"
                raise TrustError("what is signed is too long", expected=expected, found=f"{size} bytes")
            try:
                return Descriptor(kind, Digest.parse(digest), size), base64.b64decode(
                    signature, validate=True
                )
            except (ValueError, binascii.Error) as error:
                raise TrustError("a signature cannot be read", found=str(error)) from error
    raise TrustError(
        "a layer under the tag is no signature", expected=f"one of type {PAYLOAD}, with {SIGNATURE}"
    )


def check_signature(payload: bytes, signature: bytes, key: PublicKey, image: Digest) -> None:
    """Raises TrustError unless the key signed this payload, and it is cosign's for this image."""
    if not key.verifies(signature, payload):
        raise TrustError("the signature does not hold", expected=f"signed with key {key.fingerprint}")
    try:
        document = strict_json(payload)
    except (ValueError, RecursionError) as error:
        raise TrustError("what was signed is no JSON", found=str(error)) from error
    match document:
        case {"critical": {"type": str(kind), "image": {"docker-manifest-digest": str(found)}}}:
            if kind != _TYPE:
                raise TrustError("what was signed is of another type", expected=_TYPE, found=kind)
            if found != str(image):
                raise TrustError("the signature is of another image", expected=str(image), found=found)
        case _:
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
