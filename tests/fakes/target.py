"""A place to publish to that lives in memory, keeps the rules of a registry, and may break at any step."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from reprobridge.digest import Digest
from reprobridge.errors import RegistryError
from reprobridge.oci.model import Descriptor
from reprobridge.publish.publication import named_blobs
from reprobridge.registry.model import Blob, Progress
from reprobridge.registry.transfer import Moved


@dataclass
class MemoryTarget:
    """Refuses a manifest whose blobs are not there, and an attachment whose subject is not there."""

    name: str = "registry.test/reprobridge/tiny"
    """As a registry's repository."""
    proves_blobs: bool = True
    """Whether its manifests are believed to prove their blobs."""
    blobs: dict[Digest, bytes] = field(default_factory=dict)
    """What arrived."""
    manifests: dict[str, bytes] = field(default_factory=dict)
    """By tag and by digest."""
    referrers: dict[Digest, list[bytes]] = field(default_factory=dict)
    """By their subject."""
    log: list[str] = field(default_factory=list)
    """Every change, in order."""
    breaks_at: int | None = None
    """Number of the change before which the connection breaks, from 0."""

    def manifest(self, reference: str) -> bytes | None:
        """By tag or digest."""
        return self.manifests.get(reference)

    def holds(self, blob: Descriptor) -> bool:
        """Whether it arrived."""
        return blob.digest in self.blobs

    def push(self, blobs: Sequence[Blob], progress: Progress) -> Moved:
        """Take what is not there."""
        del progress
        uploaded = present = size = 0
        for blob in blobs:
            if self.holds(blob.descriptor):
                present += 1
                continue
            self._change(f"blob {blob.descriptor.digest.hex[:8]}")
            with blob.open() as stream:
                data = stream.read()
            if Digest.of(data) != blob.descriptor.digest:
                raise RegistryError("the digest is another one", where=self.name)
            self.blobs[blob.descriptor.digest] = data
            uploaded, size = uploaded + 1, size + len(data)
        return Moved(bytes=size, uploaded=uploaded, present=present)

    def put_manifest(self, reference: str, data: bytes) -> None:
        """Take a manifest whose blobs are there."""
        self._change(f"manifest {reference[:16]}")
        self._require_blobs(data)
        self.manifests[reference] = self.manifests[str(Digest.of(data))] = data

    def attached(self, subject: Descriptor) -> frozenset[Digest]:
        """What refers to the subject."""
        return frozenset(Digest.of(data) for data in self.referrers.get(subject.digest, []))

    def attach(self, subject: Descriptor, manifests: Sequence[bytes]) -> None:
        """Take referrers of a manifest that is there."""
        for data in manifests:
            self._change(f"referrer {Digest.of(data).hex[:8]}")
            self._require_blobs(data)
            if str(subject.digest) not in self.manifests:
                raise RegistryError("the subject is not there", where=self.name)
            known = self.referrers.setdefault(subject.digest, [])
            known += [data] if data not in known else []

    def _require_blobs(self, manifest: bytes) -> None:
        missing = [digest for digest in named_blobs(manifest) if digest not in self.blobs]
        if missing:
            raise RegistryError("MANIFEST_BLOB_UNKNOWN", where=self.name, found=str(missing[0]))

    def _change(self, what: str) -> None:
        if self.breaks_at == len(self.log):
            raise RegistryError("the connection broke", where=self.name, found=what)
        self.log.append(what)
