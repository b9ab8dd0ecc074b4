"""What refers to an image: signatures and attestations, through the referrers API or its fallback tag.

Whether a registry has the API is known when writing (`OCI-Subject`), and not for sure when reading: registries
answer 404, 303, 405, 429, an HTML page or an empty list that means nothing. Then the fallback is read, too.
"""

import json
from collections.abc import Mapping, Sequence

from reprobridge.digest import Digest
from reprobridge.errors import RegistryError
from reprobridge.frozen import frozen
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.registry.challenge import pull
from reprobridge.registry.client import Registry
from reprobridge.registry.fallback import add_to_fallback, entries_of, read_fallback
from reprobridge.registry.pages import json_object, pages
from reprobridge.registry.refusals import Throttled
from reprobridge.system.http import Request

_EMPTY_TYPE = "application/vnd.oci.empty.v1+json"
"""Type of an empty configuration. Some clients write it where the artifact's type belongs (cosign#4641)."""
_NO_API = frozenset({301, 302, 303, 307, 308, 400, 404, 405, 406, 410, 501})


@frozen(kw_only=True)
class Referrer:
    """A manifest whose `subject` is an image."""

    descriptor: Descriptor
    """The manifest."""
    artifact_type: str
    """What it says that it is."""
    annotations: Mapping[str, str]
    """Its annotations."""


def attach(registry: Registry, repository: str, subject: Descriptor, manifest: bytes) -> Descriptor:
    """Store a manifest (exact bytes) that refers to `subject`; its blobs must be there. Idempotent."""
    return attach_all(registry, repository, subject, [manifest])[0]


def attach_all(
    registry: Registry, repository: str, subject: Descriptor, manifests: Sequence[bytes]
) -> tuple[Descriptor, ...]:
    """The same for several side by side, with one change of the fallback tag. Raises RegistryError."""
    entries = [_entry(registry, manifest, subject.digest) for manifest in manifests]
    listed = _put_all(registry, repository, manifests, entries)
    unlisted = [entry for entry, is_listed in zip(entries, listed, strict=True) if not is_listed]
    if unlisted:
        add_to_fallback(registry, repository, subject, unlisted)
    return tuple(
        Descriptor(str(entry["mediaType"]), Digest.of(manifest), len(manifest))
        for manifest, entry in zip(manifests, entries, strict=True)
    )


def _put_all(
    registry: Registry,
    repository: str,
    manifests: Sequence[bytes],
    entries: Sequence[Mapping[str, object]],
) -> list[bool]:
    """Store manifests, none of which needs another; for each, whether the registry lists it by itself."""
    from concurrent.futures import ThreadPoolExecutor

    turns = registry.server.turns

    def put(manifest: bytes, entry: Mapping[str, object]) -> bool:
        with turns.take():
            return registry.put_manifest(repository, str(entry["digest"]), manifest, str(entry["mediaType"]))

    with ThreadPoolExecutor(max(1, min(turns.width, len(manifests)))) as pool:
        return list(pool.map(put, manifests, entries))  # an error ends those that have not begun


def referrers(registry: Registry, repository: str, subject: Digest) -> tuple[Referrer, ...]:
    """Everything that refers to `subject`, sorted by digest. Raises RegistryError."""
    found = {entry.get("digest"): entry for entry in _listed(registry, repository, subject)}
    known = [_referrer(registry, repository, entry) for entry in found.values()]
    return tuple(sorted(filter(None, known), key=lambda referrer: referrer.descriptor.digest))


def referring(registry: Registry, repository: str, subject: Digest) -> tuple[Digest, ...]:
    """The same by their digests alone, also of those that are only listed, and not there. Raises RegistryError."""
    known = [_described(entry) for entry in _listed(registry, repository, subject)]
    return tuple(sorted({descriptor.digest for descriptor in known if descriptor is not None}))


def _listed(registry: Registry, repository: str, subject: Digest) -> list[Mapping[str, object]]:
    """The entries of whichever list the registry has. Raises RegistryError."""
    throttled: Throttled | None = None
    entries: list[Mapping[str, object]] = []
    try:
        entries = _from_api(registry, repository, subject)
    except Throttled as trouble:  # GHCR: the API is a page of its web site, which has had enough
        throttled = trouble
    if not entries:
        entries = read_fallback(registry, repository, subject)
    if not entries and throttled is not None:
        raise throttled
    return entries


def _from_api(registry: Registry, repository: str, subject: Digest) -> list[Mapping[str, object]]:
    """What the API lists; nothing when there is no API. Raises RegistryError."""
    server = registry.server
    request = Request(method="GET", url=server.addresses.of(repository, "referrers", str(subject)))
    first = server.request(request, pull(repository), {200, *_NO_API})
    if first.status != 200:
        return []
    entries = [entries_of(json_object(reply)) or [] for reply in pages(server, first, pull(repository))]
    return [entry for page in entries for entry in page]


def _entry(registry: Registry, manifest: bytes, subject: Digest) -> Mapping[str, object]:
    """The manifest's entry in a list of referrers: what it says of itself is pulled up."""
    parsed = _parsed(manifest)
    named = parsed.get("subject")
    if not isinstance(named, Mapping) or named.get("digest") != str(subject):
        raise RegistryError(
            "what shall be attached does not refer to the image",
            where=registry.host,
            expected=f"the subject {subject}",
            found=f"the subject {named}",
        )
    entry: dict[str, object] = {
        "mediaType": str(parsed.get("mediaType") or MediaType.MANIFEST.value),
        "digest": str(Digest.of(manifest)),
        "size": len(manifest),
        "artifactType": _artifact_type(parsed),
    }
    annotations = parsed.get("annotations")
    return {**entry, "annotations": annotations} if annotations else entry


def _referrer(registry: Registry, repository: str, entry: Mapping[str, object]) -> Referrer | None:
    """An entry as a value; None for what is not there any more, or is no entry that we can use."""
    descriptor = _described(entry)
    if descriptor is None:
        return None
    artifact_type, annotations = str(entry.get("artifactType") or ""), entry.get("annotations")
    if artifact_type in ("", _EMPTY_TYPE):
        received = registry.manifest(repository, str(descriptor.digest))
        if received is None:
            return None
        parsed = _parsed(received.data)
        artifact_type, annotations = _artifact_type(parsed), parsed.get("annotations")
    texts = annotations.items() if isinstance(annotations, Mapping) else ()
    return Referrer(
        descriptor=descriptor,
        artifact_type=artifact_type,
        annotations={str(key): str(value) for key, value in texts},
    )


def _described(entry: Mapping[str, object]) -> Descriptor | None:
    """What an entry names; None where it names nothing."""
    try:
        digest, size = Digest.parse(str(entry["digest"])), int(str(entry["size"]))
    except (KeyError, ValueError):
        return None
    return Descriptor(str(entry.get("mediaType") or MediaType.MANIFEST.value), digest, size)


def _artifact_type(manifest: Mapping[str, object]) -> str:
    """`artifactType`, else the type of the configuration, as the specification says."""
    config = manifest.get("config")
    of_config = config.get("mediaType") if isinstance(config, Mapping) else None
    return str(manifest.get("artifactType") or of_config or "")


def _parsed(manifest: bytes) -> Mapping[str, object]:
    try:
        parsed = json.loads(manifest)
    except (ValueError, RecursionError):
        return {}
    return parsed if isinstance(parsed, dict) else {}
