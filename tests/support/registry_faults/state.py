"""What a registry's content means: two contents are equal when readers find the same in them."""

import json
from collections.abc import Mapping

from fakes.registry.content import INDEX, Content, Repository


def meaning(content: Content) -> Mapping[str, object]:
    """Repository -> its blobs, its manifests, and what each tag names.

    An index that lists referrers counts by its entries, wherever they stand in it; an earlier one, which no tag
    names any more, is not looked at. An entry that stands there twice counts twice.
    """
    with content.lock:
        return {name: _repository(content, one) for name, one in sorted(content.repositories.items())}


def _repository(content: Content, repository: Repository) -> Mapping[str, object]:
    kept = {digest: one for digest, one in repository.manifests.items() if one.media_type != INDEX}
    return {
        "blobs": {digest: content.blobs[digest] for digest in sorted(repository.blobs)},
        "manifests": dict(sorted(kept.items())),
        "tags": {tag: _named(repository, digest) for tag, digest in sorted(repository.tags.items())},
    }


def _named(repository: Repository, digest: str) -> object:
    found = repository.manifests[digest]
    if found.media_type != INDEX:
        return digest
    return sorted(json.dumps(entry, sort_keys=True) for entry in found.parsed()["manifests"])
