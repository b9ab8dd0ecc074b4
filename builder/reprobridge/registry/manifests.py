"""Manifests and image indexes: the exact bytes, in both directions."""

import json
from collections.abc import Mapping

from reprobridge.digest import Digest
from reprobridge.errors import RegistryError
from reprobridge.oci.model import MediaType
from reprobridge.registry.blobs import check_digest
from reprobridge.registry.challenge import pull, push
from reprobridge.registry.model import Received
from reprobridge.registry.refusals import Reply, Transient, wrong_bytes
from reprobridge.registry.server import Server
from reprobridge.system.http import Body, Request

LARGEST_MANIFEST = 4 << 20
"""Bytes that a registry must take, and more than that most do not."""
_ACCEPTED = (
    MediaType.MANIFEST.value,
    MediaType.INDEX.value,
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_ACCEPT: Mapping[str, str] = {"Accept": ", ".join(_ACCEPTED)}


def fetch(server: Server, repository: str, reference: str) -> Received | None:
    """A manifest or index by tag or digest, verified; None when there is none. Raises RegistryError."""
    request = Request(method="GET", url=_address(server, repository, reference), headers=_ACCEPT)
    reply = server.request(request, pull(repository), {200, 404})
    if reply.status == 404:
        return None
    digest = Digest.of(reply.data)
    if (wanted := _wanted(reply, reference)) not in (None, str(digest)):
        raise _wrong(server, repository, reference, wanted=str(wanted), found=digest)
    return Received(data=reply.data, media_type=_media_type(server, reply), digest=digest)


def _wanted(reply: Reply, reference: str) -> str | None:
    """The digest that a manifest must have: the one asked for, or the SHA-256 that the server names for a tag."""
    if ":" in reference:
        return reference
    named = reply.headers.get("docker-content-digest", "")
    return named if named.startswith("sha256:") else None


def _wrong(server: Server, repository: str, reference: str, *, wanted: str, found: Digest) -> RegistryError:
    what = "another manifest" if ":" in reference else "another manifest than the one that it names"
    where = f"{server.host}/{repository}{'@' if ':' in reference else ':'}{reference}"
    try:
        return wrong_bytes(what, where=where, wanted=Digest.parse(wanted), found=str(found))
    except ValueError:
        return server.broken("the registry names no digest", expected="sha256:<64 hex>", found=wanted)


def fetch_digest(server: Server, repository: str, reference: str) -> Digest | None:
    """The digest of a manifest, as the registry says; None when there is none. Raises RegistryError."""
    url = _address(server, repository, reference)
    request = Request(method="HEAD", url=url, headers=_ACCEPT, asks=True)
    reply = server.request(request, pull(repository), {200, 404})
    if reply.status == 404:
        return None
    try:
        named = Digest.parse(reply.headers.get("docker-content-digest", ""))
    except ValueError:
        received = fetch(server, repository, reference)
        return None if received is None else received.digest
    if ":" in reference and reference != str(named):
        raise server.broken("the registry names another manifest", expected=reference, found=str(named))
    return named


def put(server: Server, repository: str, reference: str, sent: tuple[bytes, str]) -> bool:
    """Store these bytes of this media type; True when the server says that it processed their `subject`.

    Raises Refused, whose `missing` names blobs that the repository lacks, and RegistryError.
    """
    data, media_type = sent
    digest = _checked(server, data)
    url = _address(server, repository, reference)
    headers = {"Content-Type": media_type}
    request = Request(method="PUT", url=url, headers=headers, body=Body.of(data))
    subject = _subject(data)
    tries = server.tries()
    while True:
        try:
            reply = server.request_once(request, push(repository), {201})
        except Transient as trouble:
            tries.after(trouble)
            # The answer may be all that was lost. It is needed, though, to know about the subject.
            if subject is None and fetch_digest(server, repository, reference) == digest:
                return False
        else:
            check_digest(server, reply, digest)
            return subject is not None and reply.headers.get("oci-subject") == subject


def _address(server: Server, repository: str, reference: str) -> str:
    return server.addresses.of(repository, "manifests", reference)


def _checked(server: Server, data: bytes) -> Digest:
    if len(data) > LARGEST_MANIFEST:
        raise RegistryError(
            "the manifest is larger than registries take",
            where=server.host,
            expected=f"at most {LARGEST_MANIFEST} bytes",
            found=f"{len(data)} bytes",
        )
    return Digest.of(data)


def _subject(data: bytes) -> str | None:
    try:
        return str(json.loads(data)["subject"]["digest"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _media_type(server: Server, reply: Reply) -> str:
    """What the document says that it is; older ones don't, and then the server does."""
    said = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        document = json.loads(reply.data)
        inside = document.get("mediaType")
    except (ValueError, AttributeError, RecursionError):
        raise server.broken(
            "the registry sends something that is no manifest",
            expected="a JSON object",
            found=said or "something of no type",
        ) from None
    return inside if isinstance(inside, str) and inside else said
