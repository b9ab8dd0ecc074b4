"""One blob into one repository: look, mount, upload.

The unit that is tried again is the upload session: a broken connection kills it, so that the next try looks
whether the blob arrived all the same, and otherwise starts a new session with the body from its beginning.
Whole bodies first; a server that finds them too large gets chunks. A mount saves sending and is needed by nobody:
one that fails again and again, or hangs once, is given up, and the blob is uploaded. What one repository's mounts
do says nothing of another's.
"""

from collections.abc import Iterator, Sequence

from reprobridge.digest import CHUNK, Hasher, digest_stream
from reprobridge.oci.layout import DamagedBlobError
from reprobridge.registry.addresses import with_query
from reprobridge.registry.blobs import OCTET_HEADERS, Session, begin, cancel, check_digest, holds_blob, mount
from reprobridge.registry.challenge import push
from reprobridge.registry.chunks import Chunks, smaller_chunk
from reprobridge.registry.model import Blob, Outcome, Progress
from reprobridge.registry.refusals import Refused, Reply, Transient, Unauthorized, Unreachable, lost
from reprobridge.registry.server import Server
from reprobridge.registry.tries import Tries
from reprobridge.system.http import Body, Request

_LOST = frozenset({404, 409, 416})
_TOO_LARGE = frozenset({413, 416})
"""A 416 is refused only where it speaks of a limit; where it speaks of a place the upload goes on there."""
_WRONG_BYTES = frozenset({"DIGEST_INVALID", "SIZE_INVALID"})


class _MountFailed(Exception):
    """A mount that another try may bring."""

    def __init__(self, trouble: Transient, source: str) -> None:
        super().__init__(str(trouble))
        self.trouble = trouble
        self.source = source
        self.hung = isinstance(trouble, Unreachable) and trouble.timed_out


class Upload:
    """A blob on its way."""

    def __init__(self, server: Server, repository: str, blob: Blob, progress: Progress) -> None:
        self._server, self._repository, self._blob, self._progress = server, repository, blob, progress
        self._grants = push(repository)
        self._unasked = list(blob.mount_from)
        self._chunk: int | None = None
        self._body_went = False
        self._advanced = 0
        self._renewed = False
        self._bytes_refused = False

    def run(self) -> Outcome:
        """See that the blob is there. Raises RegistryError, DamagedBlobError."""
        tries, tries_to_mount = self._server.tries(), self._server.tries_to_mount()
        while True:
            try:
                with self._server.turns.take():
                    outcome = self._try()
            except _MountFailed as failed:
                self._wait_to_mount(tries_to_mount, failed)
            except Transient as trouble:
                self._advance(-self._advanced)
                tries.after(trouble)
            except Refused as refused:
                self._advance(-self._advanced)
                self._adapt(refused)
            else:
                self._progress.done(self._blob.descriptor, outcome)
                return outcome

    def _try(self) -> Outcome:
        # Where mounts are made, asking for one tells as much as looking first, in one request.
        opened = self._mounted([one for one in self._unasked if one not in self._server.missed])
        if opened is True:
            return Outcome.MOUNTED
        if holds_blob(self._server, self._repository, self._blob.descriptor, self._grants):
            self._cancel(opened)
            # It arrived in an earlier try whose answer did not.
            return Outcome.UPLOADED if self._body_went else Outcome.EXISTS
        opened = self._mounted(self._unasked, opened or None) or begin(self._server, self._repository)
        if opened is True:
            return Outcome.MOUNTED
        self._body_went = True
        if self._chunk is None:
            self._send_whole(opened)
        else:
            self._send_chunks(opened, self._chunk)
        return Outcome.UPLOADED

    def _mounted(self, sources: Sequence[str], before: Session | None = None) -> Session | bool:
        """Whether the blob could be taken over from one of these, or the session that came of asking.

        `before` came of asking others. Each source is asked until it has answered.
        """
        opened: Session | bool = before or False
        for source in [one for one in sources if one not in self._server.unmountable]:
            self._cancel(opened)
            opened = self._mount(source)
            self._unasked.remove(source)
            if opened is True:
                break
            self._server.missed.add(source)
        return opened

    def _cancel(self, opened: object) -> None:
        if isinstance(opened, Session):
            cancel(self._server, self._repository, opened)

    def _mount(self, source: str) -> Session | bool:
        try:
            return mount(self._server, self._repository, self._blob.descriptor, source)
        except Transient as trouble:
            raise _MountFailed(trouble, source) from trouble

    def _wait_to_mount(self, tries: Tries, failed: _MountFailed) -> None:
        """Wait before the mount is asked for again; after the last try no blob asks this source any more.

        A server that hangs is not waited for again: the blob is uploaded, whatever the other sources would say.
        """
        if failed.hung:
            self._server.unmountable.add(failed.source)
            self._unasked.clear()
            return
        try:
            tries.after(failed.trouble)
        except Transient:
            self._server.unmountable.add(failed.source)

    def _send_whole(self, opened: Session) -> None:
        body = Body(self._blob.descriptor.size, self._blocks)
        request = Request(method="PUT", url=self._closing(opened.location), headers=OCTET_HEADERS, body=body)
        # Without a second try of its own: after an early 401 the session may be gone, too.
        self._check_closed(self._server.once(request, self._grants))

    def _send_chunks(self, opened: Session, chunk: int) -> None:
        blob = self._blob.descriptor
        with self._blob.reading() as stream:
            found, size = digest_stream(stream)
            place = getattr(stream, "name", None)
        if found != blob.digest or size != blob.size:
            raise DamagedBlobError(blob, found, place)
        chunks = Chunks(self._server, self._grants, self._blob, self._advance)
        location, offset = chunks.send(opened, chunk)
        headers = {
            **OCTET_HEADERS,
            **({"Content-Range": f"{offset}-{blob.size - 1}"} if offset < blob.size else {}),
        }
        body = chunks.piece(offset, blob.size - offset)
        request = Request(method="PUT", url=self._closing(location), headers=headers, body=body)
        with self._server.open(request, self._grants, follow=False) as answer:
            reply = self._server.read(request, answer)
        self._check_closed(reply)
        self._advance(blob.size - offset)

    def _closing(self, location: str) -> str:
        return with_query(location, [("digest", str(self._blob.descriptor.digest))])

    def _check_closed(self, reply: Reply) -> None:
        """Hold the server to what it says at the end of an upload. Raises Refused, Transient, RegistryError."""
        if reply.status == 201:
            check_digest(self._server, reply, self._blob.descriptor.digest)
            return
        error = self._server.refusal(reply)
        if isinstance(error, Transient | Unauthorized):
            raise error
        wrong_bytes = error.code in _WRONG_BYTES and not self._bytes_refused
        self._bytes_refused |= wrong_bytes  # ours were right, so they broke on the way: once more
        is_lost = reply.status < 400 or reply.status in _LOST or error.code.startswith("BLOB_UPLOAD_")
        raise lost(reply, error) if wrong_bytes or is_lost else error

    def _adapt(self, refused: Refused) -> None:
        """Prepare another try that does what the server wants; raises the refusal when there is none."""
        if isinstance(refused, Unauthorized) and refused.renewed and not self._renewed:
            self._renewed = True
            return
        if refused.status in _TOO_LARGE and self._body_went:
            self._chunk = self._smaller_chunk()
            if self._chunk is not None:
                return
            refused.hint = "the registry, or a proxy before it, takes no blob of this size"
        raise refused

    def _smaller_chunk(self) -> int | None:
        """A chunk that is smaller than what was refused, which was no more than the blob; None: there is none."""
        limit = self._server.quirks.chunk_limit
        chunk = smaller_chunk(self._chunk, limit)
        while chunk is not None and chunk >= self._blob.descriptor.size:
            chunk = smaller_chunk(chunk, limit)
        return chunk

    def _advance(self, count: int) -> None:
        self._advanced += count
        if count:
            self._progress.advance(self._blob.descriptor, count)

    def _blocks(self) -> Iterator[bytes]:
        """The body, whose last piece goes out only when all of them are the blob's."""
        blob, hasher, held = self._blob.descriptor, Hasher(), b""
        with self._blob.reading() as stream:
            place = getattr(stream, "name", None)
            while block := stream.read(CHUNK):
                if held:
                    yield held
                    self._advance(len(held))
                hasher.write(block)
                held = block
                if hasher.size > blob.size:
                    break
        if (found := hasher.digest()) != blob.digest or hasher.size != blob.size:
            raise DamagedBlobError(blob, found, place)
        if held:
            yield held
            self._advance(len(held))
