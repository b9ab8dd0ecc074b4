"""One registry: blobs, manifests and tags of its repositories.

Every method either did what it says or raises RegistryError; after an error the same call may be made again,
and goes on from what has arrived.
"""

import threading
from collections.abc import Iterator

from reprobridge.digest import Digest
from reprobridge.oci.model import Descriptor
from reprobridge.registry import manifests
from reprobridge.registry.blobs import blob_size
from reprobridge.registry.challenge import pull
from reprobridge.registry.credentials import Credentials
from reprobridge.registry.download import Download
from reprobridge.registry.model import SILENT, Blob, Outcome, Progress, Received, Sink
from reprobridge.registry.options import Options
from reprobridge.registry.pages import list_tags
from reprobridge.registry.server import Server
from reprobridge.registry.upload import Upload
from reprobridge.system.http import Http


class Registry:
    """One host. May be used from several threads at once."""

    def __init__(self, host: str, http: Http, credentials: Credentials, options: Options) -> None:
        self.server = Server(host, http, credentials, options)
        """What the requests go through."""
        self.changing_fallback = threading.Lock()
        """Held while a fallback tag is read and written back."""

    @property
    def host(self) -> str:
        """As in images' names."""
        return self.server.host

    def blob_size(self, repository: str, digest: Digest) -> int | None:
        """Size of a blob in the repository; None when it is not there (HEAD)."""
        grants = pull(repository)
        return self.server.patiently(lambda: blob_size(self.server, repository, digest, grants))

    def push_blob(self, repository: str, blob: Blob, progress: Progress = SILENT) -> Outcome:
        """See that the repository holds the blob: look, mount, else upload.

        Raises DamagedBlobError before the last byte is sent when the bytes are not the blob's.
        """
        return Upload(self.server, repository, blob, progress).run()

    def pull_blob(self, repository: str, blob: Descriptor, sink: Sink) -> None:
        """Give a blob's bytes to `sink`. Raises RegistryError before the last piece when they are wrong."""
        for block in self.blob_blocks(repository, blob):
            sink(block)

    def blob_blocks(self, repository: str, blob: Descriptor) -> Iterator[bytes]:
        """A blob's bytes in pieces. Raises RegistryError before the last piece when they are wrong."""
        return Download(self.server, repository, blob).blocks()

    def manifest(self, repository: str, reference: str) -> Received | None:
        """A manifest or index by tag or digest, verified (GET); None when there is none."""
        return manifests.fetch(self.server, repository, reference)

    def manifest_digest(self, repository: str, reference: str) -> Digest | None:
        """Its digest alone, as the registry says (HEAD); None when there is none."""
        return manifests.fetch_digest(self.server, repository, reference)

    def put_manifest(self, repository: str, reference: str, data: bytes, media_type: str) -> bool:
        """Store these exact bytes under a tag or their digest; True when the server processed their `subject`.

        Raises `refusals.Refused`; its `missing` names blobs that the registry says the repository lacks.
        """
        return manifests.put(self.server, repository, reference, (data, media_type))

    def tags(self, repository: str) -> tuple[str, ...]:
        """All tags, sorted; none when the repository does not exist."""
        return list_tags(self.server, repository)
