"""Signatures under cosign 2's tag, from wherever an image lies: none of them is known to hold.

Anybody who may write to a repository can put something there, so what is wrong with one does not keep the others
away (`signing/cosign_tag.py` says what a signature is).
"""

import functools
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from reprobridge.digest import Digest
from reprobridge.errors import RegistryError, TrustError
from reprobridge.frozen import frozen
from reprobridge.oci.layout import INDEX_LIMIT, REF_NAME, read_entries, read_small_blob
from reprobridge.oci.model import Descriptor
from reprobridge.publish.attested import Unread
from reprobridge.publish.signing.cosign_tag import (
    LARGEST_PAYLOAD,
    named_signature,
    signature_layers,
    signature_tag,
)
from reprobridge.registry.client import Registry
from reprobridge.registry.refusals import Transient


@frozen
class TagSignature:
    """A signature as cosign 2 keeps it, trusted by nobody yet."""

    payload: bytes
    """What is signed, they say: exactly the bytes that were received."""
    signature: bytes
    """In DER."""


OfferedSignature: TypeAlias = TagSignature | Unread
"""What stands under the tag, as far as it could be had."""


def registry_signatures(registry: Registry, repository: str, image: Digest) -> Iterator[OfferedSignature]:
    """The signatures of an image of a registry. Raises RegistryError when the registry stumbles."""
    tag = signature_tag(image)

    def payload(blob: Descriptor) -> bytes:
        data = io.BytesIO()
        registry.pull_blob(repository, blob, data.write)
        return data.getvalue()

    try:
        received = registry.manifest(repository, tag)
    except Transient:
        raise
    except RegistryError as error:
        yield Unread(f"{tag} cannot be had: {error.in_one_line()}")
    else:
        if received is not None:
            yield from _offered(received.data, tag, payload)


def layout_signatures(folder: Path, image: Digest) -> Iterator[OfferedSignature]:
    """The signatures of an image of a layout. Raises AssembleError, ArtifactError for a broken one."""
    tag = signature_tag(image)

    def small(digest: Digest, limit: int) -> bytes:
        data = read_small_blob(folder, digest, limit)
        if data is None:
            raise TrustError(f"{digest} cannot be had: the layout has lost or changed it")
        return data

    for entry in read_entries(folder):
        match entry:
            case {"annotations": {**annotations}, "digest": str(digest)} if annotations.get(REF_NAME) == tag:
                try:
                    manifest = small(Digest.parse(digest), INDEX_LIMIT)
                except TrustError as error:
                    yield Unread(f"{tag}: {error.message}")
                else:
                    yield from _offered(manifest, tag, lambda blob: small(blob.digest, LARGEST_PAYLOAD))


def _offered(manifest: bytes, tag: str, payload: Callable[[Descriptor], bytes]) -> Iterator[OfferedSignature]:
    """Each layer of the manifest; one payload may be signed by several."""
    brought = functools.cache(payload)
    try:
        layers = signature_layers(manifest)
    except TrustError as error:
        yield Unread(f"{tag}: {error.in_one_line()}")
        return
    for layer in layers:
        offered: OfferedSignature
        try:
            blob, signature = named_signature(layer)
            offered = TagSignature(brought(blob), signature)
        except Transient:
            raise
        except (RegistryError, TrustError) as error:
            offered = Unread(f"{tag}: {error.in_one_line()}")
        yield offered
