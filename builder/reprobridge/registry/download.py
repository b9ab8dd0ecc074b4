"""One blob out of a repository, verified.

A broken connection is taken up where it broke. The last piece is held back until all bytes are known to be the
blob's, so that whoever takes the pieces never has the whole of a wrong blob.
"""

import re
from collections.abc import Iterator

from reprobridge.digest import Hasher
from reprobridge.errors import RegistryError
from reprobridge.oci.model import Descriptor
from reprobridge.registry.challenge import pull
from reprobridge.registry.refusals import (
    Refused,
    Transient,
    Unreachable,
    WrongBytesError,
    lost_blob,
    wrong_bytes,
)
from reprobridge.registry.server import Server
from reprobridge.system.http import Answer, Request

_WORTH_A_TRY = 1 << 20
"""Bytes; a try that brought as many was not in vain."""
_CONTENT_RANGE = re.compile(r"bytes ([0-9]+)-[0-9]+/(?:[0-9]+|\*)")


class Download:
    """A blob on its way."""

    def __init__(self, server: Server, repository: str, blob: Descriptor) -> None:
        self._server, self._repository, self._blob = server, repository, blob
        self._hasher = Hasher()

    def blocks(self) -> Iterator[bytes]:
        """The blob's bytes in pieces. Raises RegistryError, before the last piece when they are wrong."""
        held = b""
        for block in self._received():
            if held:
                yield held
            held = block
        if self._hasher.digest() != self._blob.digest:
            raise self._wrong("other bytes than those asked for", str(self._hasher.digest()))
        if held:
            yield held

    def _received(self) -> Iterator[bytes]:
        tries = self._server.tries()
        while True:
            before = self._hasher.size
            try:
                yield from self._rest()
            except Transient as trouble:
                if self._hasher.size - before >= _WORTH_A_TRY:
                    tries = self._server.tries()
                tries.after(trouble)
            else:
                return

    def _rest(self) -> Iterator[bytes]:
        """What is still missing, from one answer. Raises Transient when it does not hold it all."""
        offset = self._hasher.size
        url = self._server.addresses.of(self._repository, "blobs", str(self._blob.digest))
        headers = {"Range": f"bytes={offset}-"} if offset else {}
        request = Request(method="GET", url=url, headers=headers)
        with self._server.open(request, pull(self._repository)) as answer:
            skip = self._check(request, answer, offset)
            for received in answer.blocks():
                block, skip = received[skip:], max(0, skip - len(received))
                if not block:
                    continue
                self._hasher.write(block)
                if self._hasher.size > self._blob.size:
                    raise self._wrong("more bytes than the blob has", "more")
                yield block
        if self._hasher.size < self._blob.size:
            raise Unreachable(
                "the registry's answer is too short",
                where=self._server.host,
                expected=f"{self._blob.size} bytes",
                found=f"{self._hasher.size} bytes",
                hint="run the same again",
            )

    def _check(self, request: Request, answer: Answer, offset: int) -> int:
        """How many bytes of the answer we have already. Raises RegistryError when it is not the blob's."""
        if answer.status == 206 and offset:
            found = _CONTENT_RANGE.match(answer.headers.get("content-range", ""))
            if found is None or int(found[1]) != offset:
                raise self._wrong("another part of the blob", answer.headers.get("content-range", "none"))
            return 0
        if answer.status != 200:
            raise self._refusal(self._server.refusal(self._server.read(request, answer)))
        length = answer.headers.get("content-length", "")
        if length.isdecimal() and int(length) != self._blob.size:
            raise self._wrong("another size", f"{length} bytes")
        return offset

    def _refusal(self, refused: Refused) -> RegistryError:
        if refused.status != 404:
            return refused
        what, digest = "a blob that its manifest names", self._blob.digest
        return lost_blob(digest, what, where=self._place, found=refused.found or "status 404")

    def _wrong(self, what: str, found: str) -> WrongBytesError:
        digest = self._blob.digest
        return wrong_bytes(
            what, where=f"{self._place}@{digest}", wanted=digest, found=found, size=self._blob.size
        )

    @property
    def _place(self) -> str:
        return f"{self._server.host}/{self._repository}"
