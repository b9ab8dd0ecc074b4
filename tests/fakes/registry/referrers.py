"""What refers to a manifest ("Listing Referrers")."""

import re
from typing import Any

from fakes.registry.content import INDEX, Content, StoredManifest
from fakes.registry.exchange import Reply, Request, error, json_reply
from fakes.registry.manifests import paged
from fakes.registry.options import Options

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")


def list_referrers(content: Content, options: Options, request: Request) -> Reply:
    """GET of the referrers of a digest, which need not exist: an index, possibly empty."""
    if not options.referrers:
        return Reply(status=404, headers={"Content-Type": "text/plain"}, body=b"404 page not found\n")
    if not _DIGEST.fullmatch(request.reference):
        return error(400, "DIGEST_INVALID", "invalid digest")
    wanted = request.parameter("artifactType") if options.filters else None
    manifests = content.find(request.name).manifests
    found = {digest: describe(digest, manifest) for digest, manifest in manifests.items()
             if _subject(manifest) == request.reference}  # fmt: skip
    after = request.parameter("last") or ""
    digests = sorted(
        digest for digest, one in found.items()
        if digest > after and wanted in (None, one.get("artifactType"))
    )  # fmt: skip
    page, link = paged(digests, options, request)
    index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [found[digest] for digest in page]}
    applied = "artifactType" if wanted is not None else None
    return json_reply(200, index, Content_Type=INDEX).with_headers(Link=link, OCI_Filters_Applied=applied)


def describe(digest: str, manifest: StoredManifest) -> dict[str, Any]:
    """The descriptor of a referrer, with the artifact type and the annotations that belong in it."""
    parsed = manifest.parsed()
    described = {"mediaType": manifest.media_type, "digest": digest, "size": len(manifest.data)}
    artifact_type = parsed.get("artifactType") or parsed.get("config", {}).get("mediaType")
    described |= {"artifactType": artifact_type} if artifact_type else {}
    described |= {"annotations": parsed["annotations"]} if parsed.get("annotations") else {}
    return described


def _subject(manifest: StoredManifest) -> str | None:
    subject = manifest.parsed().get("subject")
    return subject["digest"] if subject else None
