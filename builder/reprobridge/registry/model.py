"""What moves between us and a registry, and who is told about it."""

import contextlib
import io
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import BinaryIO, Protocol

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError
from reprobridge.frozen import frozen
from reprobridge.oci.layout import REMEDY
from reprobridge.oci.model import Descriptor

OCTETS = "application/octet-stream"
"""Media type of bytes of which something else says what they are."""

Sink = Callable[[bytes], object]
"""Takes the next bytes of a blob."""


class Outcome(StrEnum):
    """How a blob came to be in a repository."""

    EXISTS = "exists"
    MOUNTED = "mounted"
    UPLOADED = "uploaded"


@frozen
class Blob:
    """A blob that shall be in a repository."""

    descriptor: Descriptor
    """What it is."""
    open: Callable[[], BinaryIO]
    """Opens its bytes from the beginning; called only when they are really sent, and again for each try."""
    mount_from: tuple[str, ...] = ()
    """Repositories of the same registry that may hold it already."""

    @classmethod
    def of(cls, data: bytes) -> "Blob":
        """Bytes that lie in memory."""
        return cls(Descriptor.of(OCTETS, data), lambda: io.BytesIO(data))

    @contextlib.contextmanager
    def reading(self) -> Iterator[BinaryIO]:
        """Its bytes from the beginning. Raises ArtifactError when they cannot be read."""
        try:
            with self.open() as stream:
                yield stream
        except OSError as error:
            raise ArtifactError(
                "a blob cannot be read",
                where=str(self.descriptor.digest),
                expected="a readable file",
                found=str(error),
                hint=REMEDY,
            ) from error


@frozen
class Wanted:
    """A blob that shall be fetched."""

    descriptor: Descriptor
    """What it is."""
    keep: Callable[[Iterator[bytes]], object]
    """Takes the bytes in pieces. The iterator raises before its last piece when they are not the blob's, so
    what `system.files.write_stream` keeps is right."""


@frozen(kw_only=True)
class Received:
    """A manifest or an image index as it came."""

    data: bytes
    """Its exact bytes."""
    media_type: str
    """What it says it is, else what the server says."""
    digest: Digest
    """Of the bytes; equal to what was asked for and to what the server says."""


class Progress(Protocol):
    """Told how blobs move; called from several threads at once."""

    def advance(self, blob: Descriptor, count: int) -> None:
        """So many more bytes moved; negative when a try was lost and the blob starts again."""

    def done(self, blob: Descriptor, outcome: Outcome | None) -> None:
        """The blob is there; None: it was fetched."""


class NoProgress:
    """Tells nobody."""

    def advance(self, blob: Descriptor, count: int) -> None:
        """Nothing."""

    def done(self, blob: Descriptor, outcome: Outcome | None) -> None:
        """Nothing."""


SILENT: Progress = NoProgress()
"""For who does not want to know."""
