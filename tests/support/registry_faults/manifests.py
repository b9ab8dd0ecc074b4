"""Rows: manifests and tags."""

from fakes.registry.content import Content, sha256
from fakes.registry.exchange import Phase, Reply, error
from fakes.registry.faults import (
    Answer,
    Changed,
    Fault,
    LostReply,
    Meanwhile,
    Reset,
    flipped,
    headers,
    html,
    redirect,
    status,
    truncated,
)
from fakes.registry.options import Options
from support.registry_faults.bed import Bed
from support.registry_faults.jobs import IMAGE, LAYER, OTHER_IMAGE, GetManifest, ListTags, PutManifest
from support.registry_faults.model import NAME, Case, GoesOn, Refuses
from support.registry_faults.uploads import OTHER, nobody_asked

PUT, BY_TAG, TAGS = PutManifest(), GetManifest(), ListTags()
BY_DIGEST = GetManifest(sha256(IMAGE), title="read a manifest by its digest")
AGAIN = GoesOn("asks again")
MISSING = {"errors": [{"code": "MANIFEST_BLOB_UNKNOWN", "detail": {"digest": sha256(LAYER)}}]}


def put_once(bed: Bed) -> None:
    """The manifest was written once only."""
    assert bed.registry.phases().count(Phase.MANIFEST_PUT) == 1


def lose(content: Content) -> None:
    """The registry loses a blob of the image."""
    content.repositories[NAME].blobs.remove(sha256(LAYER))


def move_tag(content: Content) -> None:
    """Somebody else's image gets the tag."""
    content.put_manifest(NAME, OTHER_IMAGE, tag="1.0.0")


def another(reply: Reply) -> Reply:
    """Another manifest, honestly described."""
    return Reply(
        status=200,
        headers={**reply.headers, "Docker-Content-Digest": sha256(OTHER_IMAGE)},
        body=OTHER_IMAGE,
    )


WRITING = (
    Case(name="manifest-reset", job=PUT, says="connection reset", then=AGAIN,
         faults=(Fault(Phase.MANIFEST_PUT, Reset()),)),
    Case(name="manifest-reset-body", job=PUT, says="connection reset after the body, which is not kept",
         then=AGAIN, faults=(Fault(Phase.MANIFEST_PUT, Reset(body=len(IMAGE))),)),
    Case(name="manifest-lost", job=PUT, says="the manifest arrives, the answer is lost",
         then=GoesOn("finds it there, and writes nothing again"), besides=put_once,
         faults=(Fault(Phase.MANIFEST_PUT, LostReply()),)),
    Case(name="manifest-lost-twice", job=PUT, says="the answer is lost, and then that of the look whether it is there",
         then=AGAIN, faults=(Fault(Phase.MANIFEST_PUT, LostReply()), Fault(Phase.MANIFEST_HEAD, Reset()))),
    Case(name="manifest-lost-and-moved", job=PUT, says="the answer is lost, and somebody else moves the tag",
         then=GoesOn("sees that the tag is not ours, and writes again"),
         faults=(Fault(Phase.MANIFEST_PUT, LostReply()), Fault(Phase.MANIFEST_HEAD, Meanwhile(move_tag)))),
    Case(name="manifest-reset-always", job=PUT, says="connection reset",
         then=Refuses("the registry does not answer", ("run the same again",)),
         faults=(Fault(Phase.MANIFEST_PUT, Reset(), times=None),)),
    Case(name="manifest-wrong-digest", job=PUT, says="the answer names another digest",
         then=Refuses("the registry names another digest", (sha256(IMAGE), OTHER)),
         faults=(Fault(Phase.MANIFEST_PUT, headers(Docker_Content_Digest=OTHER)),)),
    Case(name="manifest-put-html", job=PUT, says="a page of HTML with status 200",
         then=Refuses("the registry refuses PUT", ("status 200", "an HTML page")),
         faults=(Fault(Phase.MANIFEST_PUT, Answer(html())),)),
    Case(name="manifest-blob-unknown", job=PUT, says="a blob is missing (MANIFEST_BLOB_UNKNOWN)",
         then=Refuses("the registry refuses PUT", ("status 400", "MANIFEST_BLOB_UNKNOWN", "--check-blobs")),
         faults=(Fault(Phase.MANIFEST_PUT, Meanwhile(lose)),),
         besides=lambda bed: bed.content.put_blob(NAME, LAYER)),
    Case(name="manifest-too-large", job=PUT, says="status 413",
         then=Refuses("the registry refuses PUT", ("status 413",)),
         faults=(Fault(Phase.MANIFEST_PUT, Answer(status(413))),)),
    Case(name="manifest-redirect", job=PUT, says="sent to another host",
         then=Refuses("the registry refuses PUT", ("status 307",)), besides=nobody_asked,
         faults=(lambda around: Fault(Phase.MANIFEST_PUT, Answer(redirect(around.elsewhere))),)),
)  # fmt: skip


READING = (
    Case(name="manifest-get-reset", job=BY_TAG, says="connection reset", then=AGAIN,
         faults=(Fault(Phase.MANIFEST_GET, Reset(), times=2),)),
    Case(name="manifest-get-truncated", job=BY_TAG, says="the connection ends in the middle", then=AGAIN,
         faults=(Fault(Phase.MANIFEST_GET, Changed(truncated(20))),)),
    Case(name="manifest-get-html", job=BY_TAG, says="a page of HTML with status 200",
         then=Refuses("", ("found",)), faults=(Fault(Phase.MANIFEST_GET, Answer(html())),)),
    Case(name="manifest-get-html-honest", job=BY_TAG, says="a page of HTML that names its own digest",
         then=Refuses("something that is no manifest", ("a JSON object", "text/html")),
         faults=(Fault(Phase.MANIFEST_GET, Answer(html().with_headers(Docker_Content_Digest=sha256(html().body)))),)),
    Case(name="manifest-get-wrong-bytes", job=BY_TAG, says="one wrong byte",
         then=Refuses("another manifest than the one that it names", (sha256(IMAGE),)),
         faults=(Fault(Phase.MANIFEST_GET, Changed(flipped(30))),)),
    Case(name="manifest-get-wrong-by-digest", job=BY_DIGEST, says="one wrong byte",
         then=Refuses("the registry sends another manifest", (sha256(IMAGE),)),
         faults=(Fault(Phase.MANIFEST_GET, Changed(flipped(30))),)),
    Case(name="manifest-get-another", job=BY_DIGEST, says="another manifest than the digest's",
         then=Refuses("the registry sends another manifest", (sha256(IMAGE), sha256(OTHER_IMAGE))),
         faults=(Fault(Phase.MANIFEST_GET, Changed(another)),)),
    Case(name="manifest-get-no-digest", job=BY_TAG, says="no digest in the answer", then=GoesOn("looks at the bytes"),
         faults=(Fault(Phase.MANIFEST_GET, headers(Docker_Content_Digest=None)),)),
    Case(name="manifest-get-no-type", job=BY_TAG, says="no Content-Type",
         then=GoesOn("reads in the manifest what it is"),
         faults=(Fault(Phase.MANIFEST_GET, headers(Content_Type=None)),)),
    Case(name="manifest-get-endless", job=BY_TAG, says="17 MiB instead of a manifest",
         then=Refuses("the answer is too long", ("at most",)),
         faults=(Fault(Phase.MANIFEST_GET, Answer(Reply(status=200, body=bytes(17 << 20)))),)),
    Case(name="manifest-get-deep", job=BY_TAG, says="JSON that is nested without end",
         then=Refuses("something that is no manifest"),
         faults=(Fault(Phase.MANIFEST_GET, Answer(Reply(status=200, body=b"[" * 100_000))),)),
    Case(name="manifest-get-list", job=BY_TAG, says="JSON that is no object",
         then=Refuses("something that is no manifest"),
         faults=(Fault(Phase.MANIFEST_GET, Answer(Reply(status=200, body=b"[]"))),)),
    Case(name="manifest-get-loop", job=BY_TAG, says="sent round and round", then=Refuses("redirects without end"),
         faults=(Fault(Phase.MANIFEST_GET, Answer(redirect(f"/v2/{NAME}/manifests/1.0.0")), times=None),)),
)  # fmt: skip

LISTING = (
    Case(name="tags-paged", job=TAGS, says="comes in pages of two", where=Phase.TAGS.value,
         then=GoesOn("reads them all"), options=Options(page=2)),
    Case(name="tags-reset", job=TAGS, says="connection reset on the second page", options=Options(page=2),
         then=AGAIN, faults=(Fault(Phase.TAGS, Reset(), skip=1),)),
    Case(name="tags-html", job=TAGS, says="a page of HTML with status 200",
         then=Refuses("sends no list of tags", ("a JSON object with tags", "text/html")),
         faults=(Fault(Phase.TAGS, Answer(html())),)),
    Case(name="tags-circle", job=TAGS, says="the next page is the first one", options=Options(page=2),
         then=Refuses("pages lead nowhere"),
         faults=(Fault(Phase.TAGS, headers(Link=f'</v2/{NAME}/tags/list?n=1000>; rel="next"')),)),
    Case(name="tags-elsewhere", job=TAGS, says="the next page is at another host", besides=nobody_asked,
         then=Refuses("pages lead nowhere"),
         faults=(lambda around: Fault(Phase.TAGS, headers(Link=f'<{around.elsewhere}/v2/>; rel="next"')),)),
    Case(name="tags-numbers", job=TAGS, says="tags that are no texts", then=Refuses("sends no list of tags"),
         faults=(Fault(Phase.TAGS, Changed(lambda _: Reply(status=200, body=b'{"tags": [1]}'))),)),
    Case(name="tags-deep", job=TAGS, says="JSON that is nested without end",
         then=Refuses("sends no list of tags"),
         faults=(Fault(Phase.TAGS, Answer(Reply(status=200, body=b'{"tags":' * 100_000))),)),
    Case(name="tags-denied", job=TAGS, says="status 403", then=Refuses("the registry refuses GET", ("DENIED",)),
         faults=(Fault(Phase.TAGS, Answer(error(403, "DENIED"))),)),
)  # fmt: skip

CASES = (*WRITING, *READING, *LISTING)
