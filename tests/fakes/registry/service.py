"""Requests to replies by the distribution specification, without sockets and without faults."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fakes.registry.access import Access
from fakes.registry.blobs import delete_blob, get_blob
from fakes.registry.content import Content
from fakes.registry.exchange import Phase, Reply, Request, error, json_reply
from fakes.registry.manifests import delete_manifest, get_manifest, list_tags, put_manifest
from fakes.registry.options import Options
from fakes.registry.referrers import list_referrers
from fakes.registry.uploads import Uploads

_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_NAME = re.compile(rf"{_PART}(?:/{_PART})*")

_OF_UPLOADS = frozenset({Phase.MOUNT, Phase.UPLOAD_START, Phase.UPLOAD_STATUS, Phase.UPLOAD_CHUNK,
                         Phase.UPLOAD_END, Phase.UPLOAD_CANCEL})  # fmt: skip
_OF_PARTS: Mapping[Phase, Callable[[Content, Request], Reply]] = {
    Phase.BLOB_GET: get_blob,
    Phase.BLOB_HEAD: get_blob,
    Phase.BLOB_DELETE: delete_blob,
    Phase.MANIFEST_GET: get_manifest,
    Phase.MANIFEST_HEAD: get_manifest,
    Phase.MANIFEST_DELETE: delete_manifest,
}


@dataclass
class Service:
    """A registry: its content, how it differs from others, and who may do what (None: everybody everything)."""

    content: Content
    options: Options
    access: Access | None = None

    def refuse(self, request: Request, base: str) -> Reply | None:
        """What is said to a request by its head alone; None when its body is wanted."""
        denied = self.access.refuse(request, base) if self.access is not None else None
        if denied is None and request.name and not _NAME.fullmatch(request.name):
            return error(400, "NAME_INVALID", "invalid repository name")
        return denied

    def answer(self, request: Request, body: bytes, base: str) -> Reply:
        """Carry out a request that may pass. `base` is the server's own URL."""
        with self.content.lock:
            return self._answer(request, body, base)

    def _answer(self, request: Request, body: bytes, base: str) -> Reply:
        match request.phase:
            case Phase.BASE:
                return json_reply(200, {}, Docker_Distribution_API_Version="registry/2.0")
            case Phase.TOKEN if self.access is not None:
                return self.access.token(request, body)
            case phase if phase in _OF_UPLOADS:
                return self._upload(request, body, base)
            case phase if phase in _OF_PARTS:
                return _OF_PARTS[phase](self.content, request)
            case Phase.MANIFEST_PUT:
                return put_manifest(self.content, self.options, request, body)
            case Phase.TAGS:
                return list_tags(self.content, self.options, request)
            case Phase.REFERRERS:
                return list_referrers(self.content, self.options, request)
            case _:
                return Reply(status=404, headers={"Content-Type": "text/plain"}, body=b"404 page not found\n")

    def _upload(self, request: Request, body: bytes, base: str) -> Reply:
        uploads = Uploads(self.content, self.options)
        if request.method == "POST":
            return uploads.begin(request, body, base)
        return uploads.on_session(request, body, base)
