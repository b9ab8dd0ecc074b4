"""Blobs on their way in: mount, monolithic, streamed and chunked uploads ("Pushing blobs")."""

import re
from dataclasses import dataclass

from fakes.registry.content import Content, Session, digest_like
from fakes.registry.exchange import Phase, Reply, Request, error
from fakes.registry.options import Options

_CONTENT_RANGE = re.compile(r"([0-9]+)-([0-9]+)")


@dataclass(frozen=True)
class Uploads:
    """The endpoints below /v2/NAME/blobs/uploads/."""

    content: Content
    options: Options

    def begin(self, request: Request, body: bytes, base: str) -> Reply:
        """POST: mount, single request, or a session."""
        mount = request.parameter("mount")
        if mount is not None and self._mount(request, mount):
            return created(request.name, mount)
        digest = request.parameter("digest")
        if digest is not None and self.options.single_post:
            return self._store(request.name, digest, body)
        identity = self.content.begin(request.name)
        reply = self._progress(202, identity, base)
        if self.options.chunk_minimum is not None:
            reply = reply.with_headers(OCI_Chunk_Min_Length=str(self.options.chunk_minimum))
        return reply

    def on_session(self, request: Request, body: bytes, base: str) -> Reply:
        """PATCH, PUT, GET and DELETE of a session."""
        session = self.content.sessions.get(request.reference)
        if session is None or session.name != request.name:
            return error(404, "BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry")
        state = request.parameter("_state")
        if self.options.state_in_location and state != str(session.state):
            return error(404, "BLOB_UPLOAD_INVALID", "blob upload invalid")
        if self.options.body_limit is not None and len(body) > self.options.body_limit:
            return Reply(status=413, body=b"<html>413 Request Entity Too Large</html>")
        match request.phase:
            case Phase.UPLOAD_STATUS:
                return self._progress(204, request.reference, base)
            case Phase.UPLOAD_CANCEL:
                del self.content.sessions[request.reference]
                return Reply(status=204)
            case Phase.UPLOAD_CHUNK:
                return self._chunk(request, session, body, base)
            case _:
                return self._end(request, session, body, base)

    def _mount(self, request: Request, digest: str) -> bool:
        source = request.parameter("from")
        if not self.options.mounts or source is None or digest not in self.content.find(source).blobs:
            return False
        self.content.repository(request.name).blobs.add(digest)
        return True

    def _chunk(self, request: Request, session: Session, body: bytes, base: str) -> Reply:
        limit = self.options.chunk_limit
        if limit is not None and len(body) > limit:
            said = f"request body is too large and exceeds the maximum permissible limit of {limit / 2**20:.2f}MiB"
            return error(416, "BLOB_UPLOAD_INVALID", said)
        if not _fits(request, session, body):
            return self._progress(416, request.reference, base)
        session.data += body
        session.state += 1
        return self._progress(202, request.reference, base)

    def _end(self, request: Request, session: Session, body: bytes, base: str) -> Reply:
        digest = request.parameter("digest")
        if digest is None:
            return error(400, "DIGEST_INVALID", "digest missing")
        if not _fits(request, session, body):
            return self._progress(416, request.reference, base)
        del self.content.sessions[request.reference]
        return self._store(request.name, digest, bytes(session.data) + body)

    def _store(self, name: str, digest: str, data: bytes) -> Reply:
        found = digest_like(digest, data)
        if found != digest:
            said = "provided digest did not match uploaded content"
            return error(400, "DIGEST_INVALID", said, {"digest": digest})
        self.content.link_blob(name, digest, data)
        return created(name, digest)

    def _progress(self, status: int, identity: str, base: str) -> Reply:
        session = self.content.sessions[identity]
        location = f"/v2/{session.name}/blobs/uploads/{identity}"
        if self.options.absolute_locations:
            location = base + location
        if self.options.state_in_location:
            location += f"?_state={session.state}"
        return Reply(
            status=status, headers={"Location": location, "Range": f"0-{max(len(session.data) - 1, 0)}"}
        )


def created(name: str, digest: str) -> Reply:
    """The answer when a blob has arrived or was mounted."""
    return Reply(
        status=201, headers={"Location": f"/v2/{name}/blobs/{digest}", "Docker-Content-Digest": digest}
    )


def _fits(request: Request, session: Session, body: bytes) -> bool:
    """Whether a chunk starts where the last one ended; a body without Content-Range is the stream's next part."""
    given = request.headers.get("content-range")
    if given is None:
        return True
    found = _CONTENT_RANGE.fullmatch(given)
    return (
        found is not None
        and int(found[1]) == len(session.data)
        and int(found[2]) - int(found[1]) + 1 == len(body)
    )
