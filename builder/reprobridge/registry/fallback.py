"""The fallback of the referrers API: an image index under the tag `sha256-<hex of the subject>`.

Registries without the API keep no list of what refers to an image, so clients do, in this index. The tag cannot
be changed in one step with a look at it: it is read, written and read again until what was added stands there.
A writer who reads before and writes after that last look can still undo it; adding the same again repairs it.
"""

import json
from collections.abc import Mapping, Sequence

from reprobridge.digest import Digest
from reprobridge.errors import RegistryError
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.registry.client import Registry
from reprobridge.registry.model import Received

_ROUNDS = 8


def fallback_tag(subject: Digest) -> str:
    """The tag under which clients list what refers to `subject`."""
    return f"sha256-{subject.hex}"


def read_fallback(registry: Registry, repository: str, subject: Digest) -> list[Mapping[str, object]]:
    """The entries of the fallback index; none when the tag is not there, or is no such index."""
    received = registry.manifest(repository, fallback_tag(subject))
    if received is None or _index_of(received, subject) is None:
        return []
    return entries_of(json.loads(received.data)) or []


def add_to_fallback(
    registry: Registry, repository: str, subject: Descriptor, added: Sequence[Mapping[str, object]]
) -> None:
    """See that the fallback index holds these entries, besides those of others. Raises RegistryError."""
    tag = fallback_tag(subject.digest)
    with registry.changing_fallback:
        for attempt in range(_ROUNDS):
            index = _changeable(registry, repository, subject.digest)
            entries = entries_of(index) or []
            known = {entry.get("digest") for entry in entries}
            missing = [entry for entry in added if entry["digest"] not in known]
            if not missing:
                return
            if attempt > 1:  # written twice, and undone twice: give way to whoever else writes
                registry.server.pause(0.1 * 2**attempt)
            changed = {**index, "manifests": [*entries, *missing]}
            data = json.dumps(changed, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
            registry.put_manifest(repository, tag, data, MediaType.INDEX)
    raise RegistryError(
        "the list of what refers to the image does not stay as it is written",
        where=f"{registry.host}/{repository}:{tag}",
        expected=f"{len(added)} entries added",
        found=f"{len(missing)} missing after {_ROUNDS} tries",
        hint="somebody else writes at the same time; run the same again",
    )


def entries_of(index: Mapping[str, object]) -> list[Mapping[str, object]] | None:
    """The entries of an image index; None when it is none."""
    if index.get("mediaType", MediaType.INDEX) != MediaType.INDEX or "manifests" not in index:
        return None
    manifests = index["manifests"] or []
    if not isinstance(manifests, list) or not all(isinstance(entry, dict) for entry in manifests):
        return None
    return manifests


def _changeable(registry: Registry, repository: str, subject: Digest) -> Mapping[str, object]:
    """The index as it stands, or a new one. Raises RegistryError when the tag holds something else."""
    tag = fallback_tag(subject)
    received = registry.manifest(repository, tag)
    if received is None:
        return {"schemaVersion": 2, "mediaType": MediaType.INDEX.value, "manifests": []}
    index = _index_of(received, subject)
    if index is None:
        raise RegistryError(
            "the tag that lists what refers to the image is used for something else",
            where=f"{registry.host}/{repository}:{tag}",
            expected="an image index",
            found="the image itself" if received.digest == subject else received.media_type,
            hint=f"delete or rename the tag {tag}",
        )
    return index


def _index_of(received: Received, subject: Digest) -> Mapping[str, object] | None:
    """The index, unless it is none or is the subject itself (a multi-platform image; oras-go#1396)."""
    index: Mapping[str, object] = json.loads(received.data)
    is_index = received.media_type == MediaType.INDEX and entries_of(index) is not None
    return index if is_index and received.digest != subject else None
