"""Rows: blobs on their way out."""

from dataclasses import replace

from fakes.registry.content import sha256
from fakes.registry.exchange import Phase, Reply, error
from fakes.registry.faults import (
    Answer,
    Changed,
    Fault,
    LostReply,
    Reset,
    Stall,
    declared,
    flipped,
    headers,
    html,
    redirect,
    status,
    truncated,
)
from support.registry_faults.bed import Bed
from support.registry_faults.jobs import LAYER, MIB, PullBlob
from support.registry_faults.model import NAME, Case, GoesOn, Refuses
from support.registry_faults.uploads import nobody_asked, without_secrets

PULL = PullBlob()
RESUMES = GoesOn("takes the rest, and looks at the whole")
BLOB = f"/v2/{NAME}/blobs/{sha256(LAYER)}"
CUT = Fault(Phase.BLOB_GET, Changed(truncated(MIB + 5)))
DAMAGED = Refuses("the registry sends other bytes", (sha256(LAYER), "run the same again"))


def asked_for_the_rest(bed: Bed) -> None:
    """The second request asked for a part only."""
    assert "range" in bed.registry.requests(Phase.BLOB_GET)[1].headers


def whole(reply: Reply) -> Reply:
    """The whole blob where a part was asked for."""
    return Reply(status=200, body=LAYER)


CASES = (
    Case(name="get-reset", job=PULL, says="connection reset", then=GoesOn("asks again"),
         faults=(Fault(Phase.BLOB_GET, Reset()),)),
    Case(name="get-reset-middle", job=PULL, says="connection reset in the middle", then=RESUMES,
         faults=(Fault(Phase.BLOB_GET, Changed(truncated(MIB + 5, reset=True))),)),
    Case(name="get-truncated", job=PULL, says="the connection ends in the middle", then=RESUMES,
         faults=(CUT,), besides=asked_for_the_rest),
    Case(name="get-truncated-often", job=PULL, says="the connection ends after each MiB", then=RESUMES,
         faults=(Fault(Phase.BLOB_GET, Changed(truncated(MIB)), times=None),)),
    Case(name="get-truncated-always", job=PULL, says="the connection ends before the first byte",
         then=Refuses("the registry does not answer", ("run the same again",)),
         faults=(Fault(Phase.BLOB_GET, Changed(truncated(0)), times=None),)),
    Case(name="get-slow", job=PULL, says="no answer in time", then=GoesOn("asks again"), read_timeout=0.3,
         faults=(Fault(Phase.BLOB_GET, Stall()),)),
    Case(name="get-length-more", job=PULL, says="Content-Length says more than the blob has",
         then=Refuses("the registry sends another size", (f"{len(LAYER)} bytes", f"{len(LAYER) + 5} bytes")),
         faults=(Fault(Phase.BLOB_GET, Changed(declared(5))),)),
    Case(name="get-length-less", job=PULL, says="Content-Length says less than the blob has",
         then=Refuses("the registry sends another size", (f"{len(LAYER)} bytes", f"{len(LAYER) - 5} bytes")),
         faults=(Fault(Phase.BLOB_GET, Changed(declared(-5))),)),
    Case(name="get-wrong-bytes", job=PULL, says="one wrong byte, the right length", then=DAMAGED,
         faults=(Fault(Phase.BLOB_GET, Changed(flipped(MIB))),)),
    Case(name="get-wrong-last-byte", job=PULL, says="the last byte is wrong", then=DAMAGED,
         faults=(Fault(Phase.BLOB_GET, Changed(flipped(-1))),)),
    Case(name="rest-wrong-bytes", job=PULL, says="broken off, then one wrong byte in the rest", then=DAMAGED,
         faults=(CUT, Fault(Phase.BLOB_GET, Changed(flipped(7))))),
    Case(name="rest-whole", job=PULL, says="broken off, then the whole instead of the rest", then=RESUMES,
         faults=(CUT, Fault(Phase.BLOB_GET, Changed(whole)))),
    Case(name="rest-other-part", job=PULL, says="broken off, then another part than the rest",
         then=Refuses("the registry sends another part of the blob", (f"bytes 0-9/{len(LAYER)}",)),
         faults=(CUT, Fault(Phase.BLOB_GET, Answer(replace(
             status(206, LAYER[:10]), headers={"Content-Range": f"bytes 0-9/{len(LAYER)}"}))))),
    Case(name="rest-416", job=PULL, says="broken off, then status 416",
         then=Refuses("the registry refuses GET", ("status 416",)),
         faults=(CUT, Fault(Phase.BLOB_GET, Answer(status(416))))),
    Case(name="get-html", job=PULL, says="a page of HTML with status 200",
         then=Refuses("the registry sends another size"), faults=(Fault(Phase.BLOB_GET, Answer(html())),)),
    Case(name="get-unknown", job=PULL, says="status 404",
         then=Refuses("lost a blob that its manifest names", ("status 404", "BLOB_UNKNOWN")),
         faults=(Fault(Phase.BLOB_GET, Answer(error(404, "BLOB_UNKNOWN"))),)),
    Case(name="redirect-elsewhere", job=PULL, login="basic", says="sent to another host",
         then=GoesOn("follows, without credentials"), besides=without_secrets,
         faults=(lambda around: Fault(Phase.BLOB_GET, Answer(redirect(around.elsewhere + BLOB)), skip=1),)),
    Case(name="redirect-elsewhere-token", job=PULL, login="token", says="sent to another host",
         then=GoesOn("follows, without credentials"), besides=without_secrets,
         faults=(lambda around: Fault(Phase.BLOB_GET, Answer(redirect(around.elsewhere + BLOB)), skip=1),)),
    Case(name="redirect-expired", job=PULL, says="sent to another host, where the link has expired",
         then=Refuses("lost a blob that its manifest names", ("status 404",)),
         faults=(lambda around: Fault(Phase.BLOB_GET, Answer(redirect(f"{around.elsewhere}/expired"))),)),
    Case(name="redirect-downgrade", job=PULL, https=True, says="sent from https to http", besides=nobody_asked,
         then=Refuses("an address that we do not go to", ("https", "http://127.0.0.1")),
         faults=(lambda around: Fault(Phase.BLOB_GET, Answer(redirect(around.elsewhere + BLOB))),)),
    Case(name="redirect-foreign-http", job=PULL, says="sent by http to a host that is not this machine",
         then=Refuses("an address that we do not go to", ("http://storage.test",)),
         faults=(Fault(Phase.BLOB_GET, Answer(redirect("http://storage.test/blob"))),)),
    Case(name="redirect-other-scheme", job=PULL, says="sent to a file",
         then=Refuses("an address that we do not go to"),
         faults=(Fault(Phase.BLOB_GET, Answer(redirect("file:///etc/passwd"))),)),
    Case(name="redirect-loop", job=PULL, says="sent round and round",
         then=Refuses("redirects without end", ("at most",)),
         faults=(Fault(Phase.BLOB_GET, Answer(redirect(BLOB)), times=None),)),
    Case(name="redirect-nowhere", job=PULL, says="a redirect without an address",
         then=Refuses("the registry refuses GET", ("status 307",)),
         faults=(Fault(Phase.BLOB_GET, Answer(status(307))),)),
    Case(name="get-lost", job=PULL, says="the answer is lost", then=GoesOn("asks again"),
         faults=(Fault(Phase.BLOB_GET, LostReply(), times=3),)),
    Case(name="get-other-digest-header", job=PULL, says="names another digest, the bytes are right",
         then=GoesOn("believes the bytes"),
         faults=(Fault(Phase.BLOB_GET, headers(Docker_Content_Digest=f"sha256:{'0' * 64}")),)),
)  # fmt: skip
