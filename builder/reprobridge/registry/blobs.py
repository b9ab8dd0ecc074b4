"""Looking for blobs, and opening upload sessions for those that are missing.

Each step is tried once: Transient rises to whoever knows what to do again.
"""

from collections.abc import Mapping

from reprobridge.digest import Digest
from reprobridge.errors import RegistryError
from reprobridge.frozen import frozen
from reprobridge.oci.model import Descriptor
from reprobridge.registry.challenge import Grants, pull, push
from reprobridge.registry.model import OCTETS
from reprobridge.registry.refusals import Refused, Reply, Transient
from reprobridge.registry.server import Server
from reprobridge.system.http import Body, Request

OCTET_HEADERS: Mapping[str, str] = {"Content-Type": OCTETS}
"""Headers of a blob's bytes."""
EMPTY = Body.of(b"")
"""A body that says Content-Length: 0, as a POST or PUT must."""
_UNTOLD = -1


@frozen
class Session:
    """An upload that the server waits for."""

    location: str
    """Where its bytes go; another one after each chunk."""
    least_chunk: int = 0
    """Bytes that each chunk but the last must have (`OCI-Chunk-Min-Length`)."""


def blob_size(server: Server, repository: str, digest: Digest, grants: Grants) -> int | None:
    """Size of a blob in the repository; None when it is not there. Raises RegistryError."""
    found = _head(server, repository, digest, grants)
    if found is None or found >= 0:
        return found
    raise server.broken("a blob has no size", expected="Content-Length", found="no such header")


def holds_blob(server: Server, repository: str, blob: Descriptor, grants: Grants) -> bool:
    """Whether the repository holds the blob, with its size if the server tells one. Raises RegistryError."""
    size = _head(server, repository, blob.digest, grants)
    if size is not None and size not in (blob.size, _UNTOLD):
        raise server.broken(
            f"the registry holds {blob.digest} with another size",
            expected=f"{blob.size} bytes",
            found=f"{size} bytes",
        )
    return size is not None


def _head(server: Server, repository: str, digest: Digest, grants: Grants) -> int | None:
    """Size of a blob, or _UNTOLD; None when it is not there."""
    url = server.addresses.of(repository, "blobs", str(digest))
    reply = server.request_once(Request(method="HEAD", url=url, asks=True), grants, {200, 404})
    if reply.status == 404:
        return None
    check_digest(server, reply, digest)
    length = reply.headers.get("content-length", "")
    return int(length) if length.isdecimal() else _UNTOLD


def begin(server: Server, repository: str) -> Session:
    """Open an upload session."""
    request = Request(method="POST", url=server.addresses.of(repository, "blobs", "uploads", ""), body=EMPTY)
    return session(server, server.request_once(request, push(repository), {202}))


def mount(server: Server, repository: str, blob: Descriptor, source: str) -> Session | bool:
    """Take a blob over from another repository: True, False, or the session that the server opened instead.

    False is any answer that is no mount, whatever its status: a registry need not mount, and there are many ways
    to say so (Harbor: 401 for a source that we may not read). Raises Transient where asking again may help.
    """
    url = server.addresses.of(repository, "blobs", "uploads", "", mount=str(blob.digest), **{"from": source})
    request = Request(method="POST", url=url, body=EMPTY, asks=True)
    try:
        reply = server.request_once(request, push(repository) | pull(source), {201, 202})
    except Transient:
        raise
    except Refused:
        return False
    if reply.status == 202:
        return "location" in reply.headers and session(server, reply)
    check_digest(server, reply, blob.digest)
    return True


def cancel(server: Server, repository: str, opened: Session) -> None:
    """Give up a session that is not needed; what the server says to that does not matter."""
    try:
        server.once(Request(method="DELETE", url=opened.location), push(repository))
    except RegistryError:
        return


def session(server: Server, reply: Reply) -> Session:
    """The session that an answer describes. Raises RegistryError."""
    if "location" not in reply.headers:
        raise server.broken("an upload has no address", expected="a Location header", found="none")
    least = reply.headers.get("oci-chunk-min-length", "")
    location = server.addresses.follow(reply.url, reply.headers["location"])
    return Session(location, int(least) if least.isdecimal() else 0)


def check_digest(server: Server, reply: Reply, digest: Digest) -> None:
    """Hold the server to the digest that it names, when it names a SHA-256. Raises RegistryError."""
    named = reply.headers.get("docker-content-digest", "")
    if named.startswith("sha256:") and named != str(digest):
        raise server.broken("the registry names another digest", expected=str(digest), found=named)
