"""Making layers: fragments in a row, closed by the archive's end, hashed while they are written.

A layer of one fragment is written straight away. A layer of several is made of the stored fragments:
their compressed bytes are copied, and inflated once more for the diff_id, never compressed again.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO, cast

from reprobridge.assemble.model import Layer
from reprobridge.digest import CHUNK, Hasher
from reprobridge.oci import members
from reprobridge.oci.tar import END
from reprobridge.store.store import BlobWriter, Store


class LayerBlob:
    """A `LayerSink` that makes a whole layer."""

    def __init__(self, blob: BlobWriter) -> None:
        self._blob = blob
        self._tar = Hasher()

    def tar(self, data: bytes) -> None:
        """The next uncompressed bytes."""
        self._tar.write(data)

    def gzip(self, data: bytes) -> None:
        """The next compressed bytes."""
        self._blob.write(data)

    def finish(self) -> Layer:
        """Close the archive and keep the layer."""
        self.tar(END)
        self.gzip(members.member(END))
        return Layer(
            size=self._blob.size,
            blob=self._blob.commit(),
            diff_id=self._tar.digest(),
            tar_size=self._tar.size,
        )


class FragmentBlob:
    """A `LayerSink` that keeps only the compressed bytes, for layers to come."""

    def __init__(self, blob: BlobWriter) -> None:
        self._blob = blob

    def tar(self, data: bytes) -> None:
        """Nothing to do: a fragment has no digest of its own over the tar stream."""

    def gzip(self, data: bytes) -> None:
        """The next compressed bytes."""
        self._blob.write(data)


def chain(store: Store, fragments: Iterable[Path]) -> Layer:
    """The layer of several stored fragments, in this order."""
    from isal import igzip

    with store.writer() as blob:
        layer = LayerBlob(blob)
        for path in fragments:
            with path.open("rb") as compressed:
                _pour(compressed, layer.gzip)
            with igzip.open(path, "rb") as inflated:
                _pour(cast(BinaryIO, inflated), layer.tar)
        return layer.finish()


def _pour(stream: BinaryIO, sink: Callable[[bytes], object]) -> None:
    while block := stream.read(CHUNK):
        sink(block)
