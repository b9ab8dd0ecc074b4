"""Publishing into a repository of a registry."""

from collections.abc import Sequence

from reprobridge.digest import Digest
from reprobridge.oci.model import Descriptor, MediaType
from reprobridge.registry.client import Registry
from reprobridge.registry.model import Blob, Progress
from reprobridge.registry.referrers import attach_all, referrers
from reprobridge.registry.transfer import Moved, push_blobs


class RegistryTarget:
    """A repository as a target."""

    def __init__(self, registry: Registry, repository: str, *, proves_blobs: bool = True) -> None:
        """`proves_blobs`: whether a manifest that is there is taken to prove that its blobs are."""
        self._registry = registry
        self._repository = repository
        self.name = f"{registry.host}/{repository}"
        """For people and for references."""
        self.proves_blobs = proves_blobs
        """Else each blob is asked for."""

    def manifest(self, reference: str) -> bytes | None:
        """The manifest with this tag or digest, or None."""
        received = self._registry.manifest(self._repository, reference)
        return None if received is None else received.data

    def holds(self, blob: Descriptor) -> bool:
        """Whether the blob is there with its length."""
        return self._registry.blob_size(self._repository, blob.digest) == blob.size

    def push(self, blobs: Sequence[Blob], progress: Progress) -> Moved:
        """Bring blobs: those that are not there are mounted, else uploaded."""
        return push_blobs(self._registry, self._repository, blobs, progress)

    def put_manifest(self, reference: str, data: bytes) -> None:
        """Let a tag or digest mean this manifest."""
        self._registry.put_manifest(self._repository, reference, data, MediaType.MANIFEST)

    def attached(self, subject: Descriptor) -> frozenset[Digest]:
        """Digests of everything that refers to the subject; each is asked for where nothing proves what is there."""
        listed = {
            one.descriptor.digest for one in referrers(self._registry, self._repository, subject.digest)
        }
        return frozenset(listed if self.proves_blobs else filter(self._is_there, listed))

    def _is_there(self, manifest: Digest) -> bool:
        return self._registry.manifest_digest(self._repository, str(manifest)) is not None

    def attach(self, subject: Descriptor, manifests: Sequence[bytes]) -> None:
        """Push manifests that refer to the subject."""
        attach_all(self._registry, self._repository, subject, manifests)
