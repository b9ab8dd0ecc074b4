"""Manifests by tag and digest, and the list of tags ("Pulling manifests", "Pushing manifests", "Listing tags")."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import urlencode

from fakes.registry.content import INDEX, Content, Repository, StoredManifest, digest_like
from fakes.registry.exchange import Reply, Request, error, json_reply
from fakes.registry.options import Options

_TAG = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}")
_INDEXES = (INDEX, "application/vnd.docker.distribution.manifest.list.v2+json")


def get_manifest(content: Content, request: Request) -> Reply:
    """GET or HEAD of a manifest. One of a type that Accept does not name is not found."""
    repository = content.find(request.name)
    found = repository.find(request.reference)
    if found is None or not _accepts(request.headers.get("accept"), found.media_type):
        return error(404, "MANIFEST_UNKNOWN", "manifest unknown to registry")
    digest = repository.tags.get(request.reference, request.reference)
    return Reply(
        status=200,
        headers={"Content-Type": found.media_type, "Docker-Content-Digest": digest},
        body=found.data,
    )


def put_manifest(content: Content, options: Options, request: Request, body: bytes) -> Reply:
    """PUT of a manifest; everything that it consists of must be there, its subject need not."""
    if len(body) > options.manifest_limit:
        return error(413, "MANIFEST_INVALID", "manifest too large")
    reference = request.reference
    by_digest = ":" in reference
    digest = digest_like(reference if by_digest else f"sha256:{'0' * 64}", body)
    if digest is None or (by_digest and digest != reference):
        return error(400, "DIGEST_INVALID", "provided digest did not match uploaded content")
    if not by_digest and not _TAG.fullmatch(reference):
        return error(400, "TAG_INVALID", "invalid tag")
    try:
        manifest = json.loads(body)
    except ValueError:
        return error(400, "MANIFEST_INVALID", "no JSON")
    media_type = request.headers.get("content-type", "")
    if not isinstance(manifest, dict) or manifest.get("mediaType", media_type) != media_type:
        return error(400, "MANIFEST_INVALID", "media type differs from Content-Type")
    missing = list(_missing(content.find(request.name), manifest, media_type))
    if missing:
        errors = [{"code": "MANIFEST_BLOB_UNKNOWN", "detail": {"digest": one}} for one in missing]
        return json_reply(400, {"errors": errors})
    repository = content.repository(request.name)
    repository.manifests[digest] = StoredManifest(media_type, body)
    if not by_digest:
        repository.tags[reference] = digest
    return _put(options, request, digest, manifest)


def delete_manifest(content: Content, request: Request) -> Reply:
    """DELETE of a tag, or of a manifest by digest and all its tags."""
    repository = content.find(request.name)
    reference = request.reference
    if repository.find(reference) is None:
        return error(404, "MANIFEST_UNKNOWN", "manifest unknown to registry")
    if reference in repository.tags:
        del repository.tags[reference]
    else:
        del repository.manifests[reference]
        for tag in [tag for tag, digest in repository.tags.items() if digest == reference]:
            del repository.tags[tag]
    return Reply(status=202)


def list_tags(content: Content, options: Options, request: Request) -> Reply:
    """GET of the tags, in pages when asked for or when there are too many."""
    if request.name not in content.repositories:
        return error(404, "NAME_UNKNOWN", "repository name not known to registry")
    after = request.parameter("last") or ""
    tags = sorted(tag for tag in content.repositories[request.name].tags if tag > after)
    page, link = paged(tags, options, request)
    reply = json_reply(200, {"name": request.name, "tags": page})
    return reply.with_headers(Link=link)


def paged(items: Sequence[str], options: Options, request: Request) -> tuple[list[str], str | None]:
    """The first page of a sorted list, and a Link to the rest when there is one."""
    asked = request.parameter("n")
    limits = [limit for limit in (options.page, int(asked) if asked else None) if limit is not None]
    if not limits or len(items) <= min(limits):
        return list(items), None
    page = list(items[: min(limits)])
    if not page:
        return [], None
    query = {name: values[-1] for name, values in request.query.items()} | {"last": page[-1]}
    return page, f'<{request.path}?{urlencode(query)}>; rel="next"'


def _put(options: Options, request: Request, digest: str, manifest: dict[str, Any]) -> Reply:
    headers = {"Location": f"/v2/{request.name}/manifests/{digest}", "Docker-Content-Digest": digest}
    subject = manifest.get("subject")
    if subject is not None and options.referrers:
        headers["OCI-Subject"] = subject["digest"]
    return Reply(status=201, headers=headers)


def _missing(repository: Repository, manifest: dict[str, Any], media_type: str) -> Iterator[str]:
    if media_type in _INDEXES:
        children = [child["digest"] for child in manifest.get("manifests", ())]
        yield from (digest for digest in children if digest not in repository.manifests)
        return
    parts = [manifest["config"]] if "config" in manifest else []
    parts += [*manifest.get("layers", ())]
    yield from (part["digest"] for part in parts if part["digest"] not in repository.blobs)


def _accepts(accept: str | None, media_type: str) -> bool:
    if accept is None:
        return True
    types = {part.partition(";")[0].strip() for part in accept.split(",")}
    return bool(types & {media_type, "*/*", "application/*"})
