"""What is being done when something goes wrong: the jobs of the table."""

import io
import json
from dataclasses import dataclass

from fakes.registry.content import INDEX, MANIFEST, Content, sha256
from reprobridge.digest import Digest
from reprobridge.oci.model import Descriptor
from reprobridge.registry.client import Registry
from reprobridge.registry.model import Blob
from reprobridge.registry.referrers import attach, referrers
from support.registry_faults.model import NAME

MIB = 1 << 20
LAYER = bytes(range(256)) * (3 * MIB // 256) + b"the end of the layer"
"""A blob of several pieces of a stream, and not a whole number of them."""
BIG = LAYER * 4
"""A blob that no socket's buffer holds: whoever sends it notices that nobody reads it."""
CONFIG = b'{"architecture":"amd64","os":"linux"}'
BASE = "base/system"
"""Another repository."""


def descriptor(data: bytes, media_type: str = "application/octet-stream") -> Descriptor:
    """The descriptor of bytes."""
    return Descriptor(media_type, Digest.of(data), len(data))


def blob(data: bytes, *mount_from: str) -> Blob:
    """A blob to push."""
    return Blob(descriptor(data), lambda: io.BytesIO(data), mount_from)


def described(data: bytes, media_type: str) -> dict[str, object]:
    """A descriptor as JSON, made without our code."""
    return {"mediaType": media_type, "digest": sha256(data), "size": len(data)}


def manifest(**fields: object) -> bytes:
    """The bytes of a manifest, with further fields."""
    value = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": described(CONFIG, "application/vnd.oci.image.config.v1+json"),
        "layers": [described(LAYER, "application/vnd.oci.image.layer.v1.tar")],
    }
    return json.dumps(value | fields).encode()


IMAGE = manifest()
OTHER_IMAGE = manifest(annotations={"who": "somebody else"})


@dataclass(frozen=True)
class PushBlob:
    """A blob is pushed."""

    data: bytes = LAYER
    sources: tuple[str, ...] = ()
    """Repositories that it may be mounted from; they hold it."""
    present: bool = False
    """Whether it is there already."""
    title: str = "push a blob"

    def fill(self, content: Content) -> None:
        """The sources hold the blob."""
        for source in (*self.sources, *((NAME,) if self.present else ())):
            content.put_blob(source, self.data)

    def run(self, client: Registry) -> object:
        """Push; whichever way it came there is right."""
        client.push_blob(NAME, blob(self.data, *self.sources))
        return None

    def finish(self, content: Content) -> object:
        """The blob is there."""
        content.put_blob(NAME, self.data)
        return None


@dataclass(frozen=True)
class PullBlob:
    """A blob is pulled."""

    title: str = "pull a blob"

    def fill(self, content: Content) -> None:
        """The blob is there."""
        content.put_blob(NAME, LAYER)

    def run(self, client: Registry) -> object:
        """Pull; what was given out before an error is never as much as a blob."""
        pieces: list[bytes] = []
        try:
            client.pull_blob(NAME, descriptor(LAYER), pieces.append)
        except Exception:
            assert sum(map(len, pieces)) < len(LAYER)
            raise
        return b"".join(pieces)

    def finish(self, content: Content) -> object:
        """Nothing changes."""
        return LAYER


@dataclass(frozen=True)
class PutManifest:
    """A manifest is put under a tag; its blobs are there."""

    title: str = "tag an image"

    def fill(self, content: Content) -> None:
        """Its blobs, and an older image under another tag."""
        content.put_blob(NAME, LAYER)
        content.put_blob(NAME, CONFIG)
        content.put_manifest(NAME, OTHER_IMAGE, tag="0.9.0")

    def run(self, client: Registry) -> object:
        """Put it."""
        return client.put_manifest(NAME, "1.0.0", IMAGE, MANIFEST)

    def finish(self, content: Content) -> object:
        """The tag names it."""
        content.put_manifest(NAME, IMAGE, tag="1.0.0")
        return False


@dataclass(frozen=True)
class GetManifest:
    """A manifest is read."""

    reference: str = "1.0.0"
    title: str = "read an image's manifest"

    def fill(self, content: Content) -> None:
        """It is there."""
        content.put_manifest(NAME, IMAGE, tag="1.0.0")

    def run(self, client: Registry) -> object:
        """Read it."""
        received = client.manifest(NAME, self.reference)
        return None if received is None else (received.data, received.media_type, str(received.digest))

    def finish(self, content: Content) -> object:
        """The exact bytes."""
        return IMAGE, MANIFEST, sha256(IMAGE)


@dataclass(frozen=True)
class ListTags:
    """The tags are listed."""

    title: str = "list tags"

    def fill(self, content: Content) -> None:
        """Five tags."""
        for tag in ("1.0.0", "1.0", "1", "latest", "0.9.0"):
            content.put_manifest(NAME, IMAGE, tag=tag)

    def run(self, client: Registry) -> object:
        """List them."""
        return client.tags(NAME)

    def finish(self, content: Content) -> object:
        """Sorted."""
        return "0.9.0", "1", "1.0", "1.0.0", "latest"


ARTIFACT_TYPE = "application/vnd.dev.sigstore.bundle.v0.3+json"
SUBJECT = sha256(IMAGE)
FALLBACK = SUBJECT.replace(":", "-")
"""The tag that lists what refers to the image."""


def referrer(who: str) -> bytes:
    """The manifest of somebody's signature."""
    subject = described(IMAGE, MANIFEST)
    return manifest(artifactType=ARTIFACT_TYPE, subject=subject, annotations={"who": who}, layers=[])


OURS, THEIRS = referrer("us"), referrer("them")


def entry(data: bytes, artifact_type: str = ARTIFACT_TYPE) -> dict[str, object]:
    """A referrer as it stands in an index."""
    annotations = json.loads(data)["annotations"]
    return described(data, MANIFEST) | {"artifactType": artifact_type, "annotations": annotations}


def index(*entries: dict[str, object]) -> bytes:
    """An image index."""
    return json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}).encode()


def put_theirs(content: Content, *, listed: bool = True) -> None:
    """Somebody else attaches a signature, and lists it (and nothing else) under the fallback tag."""
    content.put_manifest(NAME, THEIRS)
    if listed:
        content.put_manifest(NAME, index(entry(THEIRS)), INDEX, FALLBACK)


@dataclass(frozen=True)
class Attach:
    """A signature is attached to the image."""

    fallback: bool = True
    """Whether the registry lists it only if clients do; such a registry has another one already."""
    title: str = "attach a signature"

    def fill(self, content: Content) -> None:
        """The image, the signature's blobs, and somebody's signature."""
        content.put_blob(NAME, CONFIG)
        content.put_manifest(NAME, IMAGE, tag="1.0.0")
        put_theirs(content, listed=self.fallback)

    def run(self, client: Registry) -> object:
        """Attach."""
        return str(attach(client, NAME, descriptor(IMAGE, MANIFEST), OURS).digest)

    def finish(self, content: Content) -> object:
        """Both are there and listed."""
        content.put_manifest(NAME, OURS)
        if self.fallback:
            content.put_manifest(NAME, index(entry(THEIRS), entry(OURS)), INDEX, FALLBACK)
        return sha256(OURS)


@dataclass(frozen=True)
class ListReferrers:
    """What refers to the image is listed: two signatures."""

    fallback: tuple[dict[str, object], ...] | None = None
    """Entries of the fallback index; None: there is none."""
    found: tuple[bytes, ...] = (OURS, THEIRS)
    """What must be found."""
    title: str = "list what refers to an image"

    def fill(self, content: Content) -> None:
        """The image and two signatures."""
        for data in (IMAGE, OURS, THEIRS):
            content.put_manifest(NAME, data)
        if self.fallback is not None:
            content.put_manifest(NAME, index(*self.fallback), INDEX, FALLBACK)

    def run(self, client: Registry) -> object:
        """List them."""
        found = referrers(client, NAME, Digest.parse(SUBJECT))
        return [(str(one.descriptor.digest), one.artifact_type, dict(one.annotations)) for one in found]

    def finish(self, content: Content) -> object:
        """Each once, with its true type."""
        found = sorted((entry(data) for data in self.found), key=lambda one: str(one["digest"]))
        return [(one["digest"], one["artifactType"], one["annotations"]) for one in found]
