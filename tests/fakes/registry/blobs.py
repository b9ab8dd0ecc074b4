"""Blobs on their way out, whole or in part ("Pulling blobs"), and their deletion."""

import re

from fakes.registry.content import Content
from fakes.registry.exchange import Reply, Request, error

_RANGE = re.compile(r"bytes=([0-9]+)-([0-9]*)")


def get_blob(content: Content, request: Request) -> Reply:
    """GET or HEAD of a blob."""
    digest = request.reference
    if digest not in content.find(request.name).blobs:
        return error(404, "BLOB_UNKNOWN", "blob unknown to registry")
    data = content.blobs[digest]
    headers = {
        "Content-Type": "application/octet-stream",
        "Docker-Content-Digest": digest,
        "Accept-Ranges": "bytes",
    }
    asked = _RANGE.fullmatch(request.headers.get("range", ""))
    if asked is None:
        return Reply(status=200, headers=headers, body=data)
    first, last = int(asked[1]), min(int(asked[2] or len(data)), len(data) - 1)
    if first > last:
        return Reply(status=416, headers={"Content-Range": f"bytes */{len(data)}"})
    headers["Content-Range"] = f"bytes {first}-{last}/{len(data)}"
    return Reply(status=206, headers=headers, body=data[first : last + 1])


def delete_blob(content: Content, request: Request) -> Reply:
    """DELETE of a blob in one repository."""
    blobs = content.find(request.name).blobs
    if request.reference not in blobs:
        return error(404, "BLOB_UNKNOWN", "blob unknown to registry")
    blobs.remove(request.reference)
    return Reply(status=202)
