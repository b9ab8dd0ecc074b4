"""A blob's body in chunks, for servers that refuse it whole.

Where a chunk ends up is the server's word: `Range` says how much it has, and that is where the next one begins.
"""

import re
from collections.abc import Callable, Iterator

from reprobridge.digest import CHUNK
from reprobridge.errors import RegistryError
from reprobridge.registry.blobs import OCTET_HEADERS, Session, session
from reprobridge.registry.challenge import Grants
from reprobridge.registry.model import Blob
from reprobridge.registry.refusals import Lost, Reply, Transient, lost
from reprobridge.registry.server import Server
from reprobridge.system.http import Body, Request

_SMALLEST = 1 << 20
_LIMIT = re.compile(rb"too large|maximum permissible", re.IGNORECASE)
"""GHCR's way to say that a chunk is too large: 416, where others say 413."""
_RANGE = re.compile(r"(?:bytes=)?0-([0-9]+)")


def smaller_chunk(current: int | None, limit: int | None) -> int | None:
    """The chunk to try when the current one (None: the whole body) is too large; None: there is none."""
    if limit is None:
        return None
    chunk = limit if current is None else current // 2
    return chunk if chunk >= _SMALLEST else None


class Chunks:
    """Sends a blob's chunks into one session."""

    def __init__(self, server: Server, grants: Grants, blob: Blob, advance: Callable[[int], object]) -> None:
        self._server, self._grants, self._blob, self._advance = server, grants, blob, advance
        self._tries = server.tries()

    def send(self, opened: Session, chunk: int) -> tuple[str, int]:
        """Send the chunks. Gives the address that closes the session, and where the bytes left for it begin."""
        offset, size = 0, self._blob.descriptor.size
        chunk = max(chunk, opened.least_chunk)
        location = opened.location
        while offset < size:
            length = min(chunk, size - offset)
            if self._server.quirks.last_chunk_closes and offset + length == size:
                break
            location, arrived = self._send_one(location, offset, length)
            self._advance(arrived - offset)
            offset = arrived
        return location, offset

    def piece(self, offset: int, length: int) -> Body:
        """A stretch of the blob."""
        return Body(length, lambda: self._blocks(offset, length))

    def _send_one(self, location: str, offset: int, length: int) -> tuple[str, int]:
        headers = {**OCTET_HEADERS, "Content-Range": f"{offset}-{offset + length - 1}"}
        body = self.piece(offset, length)
        request = Request(method="PATCH", url=location, headers=headers, body=body)
        try:
            reply = self._server.request_once(request, self._grants, {202, 416})
        except Lost:
            raise
        except Transient as trouble:
            return self._resumed(location, trouble)
        if reply.status == 202:
            return session(self._server, reply).location, self._arrived(reply, offset, length)
        if _LIMIT.search(reply.data):
            raise self._server.refusal(reply)
        return self._resumed(location, self._out_of_step(reply))

    def _arrived(self, reply: Reply, offset: int, length: int) -> int:
        """How much the server has after a chunk: some of it at least, and nothing that we did not send."""
        arrived = _end(reply)
        if arrived is None:
            return offset + length
        if offset < arrived <= offset + length:
            return arrived
        raise self._out_of_step(reply)

    def _resumed(self, location: str, trouble: Transient) -> tuple[str, int]:
        """Where the session stands after a chunk that failed. Raises the trouble when nobody knows."""
        self._tries.after(trouble)
        try:
            reply = self._server.request_once(Request(method="GET", url=location), self._grants, {204})
            address = session(self._server, reply).location if "location" in reply.headers else location
        except RegistryError as error:
            raise trouble from error
        arrived = _end(reply)
        if arrived is None or arrived > self._blob.descriptor.size:
            raise trouble
        return address, arrived

    def _out_of_step(self, reply: Reply) -> Lost:
        return lost(reply, self._server.refusal(reply))

    def _blocks(self, offset: int, length: int) -> Iterator[bytes]:
        with self._blob.reading() as stream:
            stream.seek(offset)
            while length and (block := stream.read(min(CHUNK, length))):
                yield block
                length -= len(block)


def _end(reply: Reply) -> int | None:
    """Bytes that the server says it has. distribution says `0-0` for none, and a chunk is never one byte."""
    found = _RANGE.fullmatch(reply.headers.get("range", "").strip())
    if found is None:
        return None
    last = int(found[1])
    return last + 1 if last else 0
