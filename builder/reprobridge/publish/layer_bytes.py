"""The bytes of an image's layers, wherever they are: here, or in a repository where they are known to lie."""

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from reprobridge.assemble.elsewhere import place_of
from reprobridge.digest import Digest
from reprobridge.errors import PublishError, RegistryError
from reprobridge.frozen import frozen
from reprobridge.oci.model import Descriptor
from reprobridge.registry.client import Registry
from reprobridge.store.store import Store


@frozen(kw_only=True)
class LayerBytes:
    """Opens blobs of one image; what lies elsewhere is fetched into the store only when it is opened."""

    path: Callable[[Digest], Path]
    """Where a blob lies when the image brings it."""
    store: Store
    """Holds blobs, and knows where others lie."""
    connect: Callable[[str], Registry]
    """The registry of a host."""

    def open(self, blob: Descriptor) -> BinaryIO:
        """A blob's bytes from the start. Raises PublishError when they cannot be had."""
        path = self._here(blob.digest)
        if not path.is_file():
            self._fetch(blob)
            path = self.store.path(blob.digest)
        return path.open("rb")

    def _here(self, blob: Digest) -> Path:
        return self.store.path(blob) if self.store.has(blob) else self.path(blob)

    def repositories(self, blob: Digest, host: str) -> tuple[str, ...]:
        """The repository at this registry that is known to hold a blob which is not here."""
        place = None if self._here(blob).is_file() else place_of(self.store, blob)
        return (place.repository,) if place is not None and place.host == host else ()

    def _fetch(self, blob: Descriptor) -> None:
        place = place_of(self.store, blob.digest)
        found = "nothing"
        if place is not None:
            try:
                with self.store.writer() as writer:
                    for block in self.connect(place.host).blob_blocks(place.repository, blob):
                        writer.write(block)
                    writer.commit(blob.digest)
            except RegistryError as error:
                found = f"not in {place.host}/{place.repository}: {error.message}"
            else:
                return
        raise PublishError(
            "the bytes of a layer cannot be had",
            where=str(blob.digest),
            expected="the layer in the store, or in the repository where it is known",
            found=found,
            hint="build the image without --known",
        )
