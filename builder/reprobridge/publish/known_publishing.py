"""Adding the layers of a published image to the known layers of its repository."""

from collections.abc import Callable

from reprobridge.assemble.composition import composition_of
from reprobridge.digest import Digest
from reprobridge.errors import TrustError
from reprobridge.frozen import frozen
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.publish.attachments import signed
from reprobridge.publish.known_layer import tell
from reprobridge.publish.known_layers import (
    TAG,
    KnownLayers,
    RemoteList,
    joined,
    read_list,
    statement_about,
    write_list,
)
from reprobridge.publish.model import Target
from reprobridge.publish.signing.policy import Policy
from reprobridge.publish.signing.signer import Signer
from reprobridge.registry.model import SILENT, Blob
from reprobridge.store.store import Store

TRIES = 3
"""How often the list is looked at again because somebody else changed it meanwhile."""
SHARED = frozenset({"wheel", "deb"})
"""Kinds of recipes that other papers have too: a layer without one is quickly made."""


class UntrustedListError(TrustError):
    """A repository's list of known layers is not signed by whom we trust."""


def known_here(store: Store, image: Digest) -> KnownLayers | None:
    """What this store can tell of an image's layers; None when it was not built here."""
    layers = composition_of(store, image)
    if layers is None:
        return None
    shared = [layer for layer in layers if SHARED & {kind for kind, _ in layer.parts}]
    told = {layer.key: tell(store, layer) for layer in shared}
    return {key: blob for key, blob in told.items() if blob is not None}


@frozen(kw_only=True)
class KnownPublication:
    """What it takes to add to a list."""

    ours: KnownLayers
    """What is added."""
    remote: RemoteList
    """The list."""
    target: Target
    """Its repository."""
    signer: Signer
    """Who vouches for the whole list."""
    policy: Policy
    """Trusts what the signer signed before."""
    blob_of: Callable[[Descriptor], Blob]
    """How a blob of what is added is had."""


@frozen(kw_only=True)
class Addition:
    """A list that shall stand in the place of another one."""

    standing: bytes | None
    """What stands there now."""
    manifest: bytes
    """What shall stand there: at least the same."""
    added: int
    """Number of layers that are new to it."""


def addition(publication: KnownPublication) -> Addition | None:
    """What would be added; None when all of it is there.

    Raises UntrustedListError where our signer did not sign what stands there: nothing is added to it, and nothing
    of it is taken away. Raises TrustError where it contradicts us.
    """
    standing = publication.remote.standing()
    before: KnownLayers = {}
    if standing is not None:
        if _holds(standing, publication.ours):
            return None
        try:
            before = publication.remote.checked(standing, publication.policy)
        except TrustError as error:
            raise UntrustedListError(error.message, where=error.where, found=error.found) from error
    every = joined(before, publication.ours, publication.remote.name)
    return Addition(standing=standing, manifest=write_list(every), added=len(every) - len(before))


def add(publication: KnownPublication, planned: Addition) -> None:
    """Let the list be what was planned, or more when somebody else adds to it meanwhile. Raises TrustError."""
    for _ in range(TRIES):
        _push(publication, planned.manifest)
        if publication.remote.standing() == planned.standing:
            publication.target.put_manifest(TAG, planned.manifest)
            return
        now = addition(publication)
        if now is None:
            return
        planned = now
    raise TrustError(
        "the known layers change again and again", where=publication.remote.name, hint="publish again"
    )


def _holds(standing: bytes, ours: KnownLayers) -> bool:
    """Whether a list, whoever signed it, says the same of our layers: then there is nothing to add."""
    try:
        known = read_list(standing)
    except TrustError:
        return False
    return all(known.get(key) == blob for key, blob in ours.items())


def _push(publication: KnownPublication, manifest: bytes) -> None:
    """Bring everything but the tag."""
    target = publication.target
    blobs = [publication.blob_of(blob) for blob in publication.ours.values()]
    described = Descriptor.of(MediaType.MANIFEST, manifest)
    attachment = signed(statement_about(target.name, manifest), publication.signer, described, "known layers")
    small = [Blob.of(data) for data in attachment.blobs]
    target.push([*blobs, *small], SILENT)
    target.put_manifest(str(described.digest), manifest)
    target.attach(described, [attachment.manifest])
