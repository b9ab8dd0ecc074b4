"""The known layers of a repository: one OCI artifact under the tag `known-layers`, signed like the images.

Its manifest names one blob for each layer (`known_layer.py`), annotated with the key of the layer's plan, so
that a build looks a key up and fetches what is known of that layer alone. Publishing adds to it: what stands
there is taken over only when our own key signed it, since whoever signs the list vouches for all of it.
"""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from reprobridge.digest import Digest, Json, canonical_json
from reprobridge.errors import TrustError
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.known_layer import MEDIA_TYPE, KnownLayer
from reprobridge.publish.statements.statement import Statement, Subject
from reprobridge.registry.client import Registry
from reprobridge.store.store import Store

if TYPE_CHECKING:
    from reprobridge.publish.signing.policy import Policy

TAG = "known-layers"
"""Tag of the list in each repository."""
ARTIFACT_TYPE = "application/vnd.reprobridge.known-layers.v1"
"""Of the list's manifest."""
PREDICATE_TYPE = "urn:reprobridge:known-layers:1"
"""Of the statement that signs a list; its predicate is empty: the subject says it all."""
KEY = "io.reprobridge.layer.key"
"""Annotation of a blob: the digest of the layer's plan, which covers artifacts, converters and parameters."""

KnownLayers = Mapping[Digest, Descriptor]
"""The blobs of a list, by the keys of their layers."""


def write_list(known: KnownLayers) -> bytes:
    """The exact bytes of a list's manifest; the same for the same layers."""
    from reprobridge.publish.signing.referrer import EMPTY, EMPTY_CONFIG

    layers: list[Json] = [{**known[key].to_json(), "annotations": {KEY: str(key)}} for key in sorted(known)]
    return canonical_json(
        {
            "schemaVersion": 2,
            "mediaType": MediaType.MANIFEST.value,
            "artifactType": ARTIFACT_TYPE,
            "config": Descriptor.of(EMPTY, EMPTY_CONFIG).to_json(),
            "layers": layers,
        }
    )


def read_list(data: bytes) -> KnownLayers:
    """The blobs of a list. Raises TrustError when it is none."""
    try:
        parsed = json.loads(data)
        kind, known = parsed["artifactType"], dict(map(_entry, parsed["layers"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        found = f"no field {error}" if isinstance(error, KeyError) else str(error)
        raise TrustError("the list of known layers is broken", expected=ARTIFACT_TYPE, found=found) from error
    if kind != ARTIFACT_TYPE:
        raise TrustError(
            "the list of known layers is something else", expected=ARTIFACT_TYPE, found=str(kind)
        )
    return known


def _entry(row: Mapping[str, object]) -> tuple[Digest, Descriptor]:
    match row:
        case {
            "mediaType": str(kind),
            "digest": str(digest),
            "size": int(size),
            "annotations": {**annotations},
        } if kind == MEDIA_TYPE:
            return Digest.parse(str(annotations[KEY])), Descriptor(kind, Digest.parse(digest), size)
    raise TypeError(f"no known layer: {row!r}")


def joined(standing: KnownLayers, ours: KnownLayers, where: str) -> KnownLayers:
    """Both. Raises TrustError where they contradict each other: then one of them was not built as it says."""
    for key in sorted(standing.keys() & ours.keys()):
        if standing[key] != ours[key]:
            raise TrustError(
                "a layer that is published as known differs from the one that was built here",
                where=f"{where}: layer {key}",
                expected=str(ours[key].digest),
                found=str(standing[key].digest),
                hint="build both from an empty store: one of the two machines does not build what its lock says",
            )
    return {**standing, **ours}


def statement_about(name: str, known: bytes) -> Statement:
    """What is signed about a list."""
    return Statement(subject=Subject(name, Digest.of(known)), predicate_type=PREDICATE_TYPE, predicate={})


class RemoteList:
    """The list of one repository, for reading."""

    def __init__(self, registry: Registry, repository: str) -> None:
        self._registry = registry
        self._repository = repository

    @property
    def name(self) -> str:
        """For people."""
        return f"{self._registry.host}/{self._repository}:{TAG}"

    def standing(self) -> bytes | None:
        """The list's manifest as it stands there, trusted by nobody yet; None when there is none."""
        received = self._registry.manifest(self._repository, TAG)
        return None if received is None else received.data

    def checked(self, manifest: bytes, policy: "Policy") -> KnownLayers:
        """The blobs of a list whose signature the policy trusts. Raises TrustError."""
        from reprobridge.publish.attested import Said, attested
        from reprobridge.publish.bundles import registry_bundles

        subject = Digest.of(manifest)
        bundles = tuple(registry_bundles(self._registry, self._repository, subject))
        attested(Said(bundles=bundles, subject=subject, where=self.name), policy, PREDICATE_TYPE)
        return read_list(manifest)

    def fetch(self, blobs: Iterable[Descriptor], store: Store) -> None:
        """Bring blobs of the list into the store, side by side."""
        from reprobridge.registry.model import Wanted
        from reprobridge.registry.transfer import pull_blobs

        lacking = [Wanted(blob, store.keeper(blob.digest)) for blob in blobs if not store.has(blob.digest)]
        pull_blobs(self._registry, self._repository, lacking)

    def layer(self, key: Digest, blob: Descriptor, store: Store) -> KnownLayer:
        """What a blob that was fetched says of one layer. Raises TrustError when it is about another one."""
        known = KnownLayer.from_bytes(store.read(blob.digest))
        if known.key != key:
            raise TrustError(
                "what is known of a layer is about another one",
                where=self.name,
                expected=str(key),
                found=str(known.key),
            )
        return known
