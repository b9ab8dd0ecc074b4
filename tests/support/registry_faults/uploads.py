"""Rows: blobs on their way in."""

from collections.abc import Callable

from fakes.registry.content import Content, sha256
from fakes.registry.exchange import Phase, error
from fakes.registry.faults import (
    Answer,
    Changed,
    Fault,
    LostReply,
    Meanwhile,
    Reset,
    Stall,
    declared,
    headers,
    html,
    redirect,
    status,
)
from fakes.registry.options import Options
from reprobridge.registry.options import Quirks
from support.registry_faults.bed import SECRET, Bed
from support.registry_faults.jobs import BASE, LAYER, MIB, PushBlob
from support.registry_faults.model import NAME, Case, GoesOn, Refuses

PUSH, MOUNT = PushBlob(), PushBlob(sources=(BASE,), title="mount a blob")
OTHER = f"sha256:{'0' * 64}"
GONE = error(404, "BLOB_UPLOAD_UNKNOWN", "blob upload unknown to registry")
INVALID = error(400, "DIGEST_INVALID", "provided digest did not match uploaded content")
AGAIN = GoesOn("looks what arrived, and sends the rest again")
INSTEAD = GoesOn("uploads instead")
GIVES_UP = GoesOn("asks twice more, then uploads instead")
MIDDLE = len(LAYER) // 2


def sent_once(bed: Bed) -> None:
    """The body of the blob went to the registry once only."""
    assert bed.registry.received() == len(LAYER)


def nothing_sent(bed: Bed) -> None:
    """No body went to the registry."""
    assert bed.registry.received() == 0


def sent_at_once(bed: Bed) -> None:
    """The body went to the registry once, and nothing was waited for or asked for twice before."""
    sent_once(bed)
    assert bed.clock.pauses == []
    assert bed.registry.phases().count(Phase.MOUNT) == 1


def given_up(bed: Bed) -> None:
    """The body went to the registry once, after the mount had been asked for three times within some seconds."""
    sent_once(bed)
    assert bed.registry.phases().count(Phase.MOUNT) == 3
    assert 0 < sum(bed.clock.pauses) < 5


def sent_here_only(bed: Bed) -> None:
    """The body went to the registry at once, and nobody else was asked for anything."""
    sent_at_once(bed)
    nobody_asked(bed)


def arrived(content: Content) -> None:
    """Somebody else has pushed the blob, and the registry has thrown all sessions away."""
    content.put_blob(NAME, LAYER)
    content.sessions.clear()


def nobody_asked(bed: Bed) -> None:
    """The other host was not asked, and got nothing."""
    assert bed.elsewhere.log == []


def forget(content: Content) -> None:
    """The last half MiB of every session is lost."""
    for session in content.sessions.values():
        del session.data[-MIB // 2 :]


def enlarge(bed: Bed) -> None:
    """The registry's operator lifts the limit."""
    bed.registry.service.options = Options()


def without_secrets(bed: Bed) -> None:
    """The registry knows us; the other host was asked, and saw nothing that proves who we are."""
    assert [one for one in bed.registry.log if "authorization" in one.request.headers]
    assert bed.elsewhere.log
    assert [one for one in bed.elsewhere.log if "authorization" in one.request.headers] == []


CONNECTIONS = (
    Case(name="reset-head", job=PUSH, says="connection reset", then=AGAIN,
         faults=(Fault(Phase.BLOB_HEAD, Reset()),), besides=sent_once),
    Case(name="reset-post", job=PUSH, says="connection reset", then=AGAIN,
         faults=(Fault(Phase.UPLOAD_START, Reset()),), besides=sent_once),
    Case(name="lost-post", job=PUSH, says="the session begins, the answer is lost", then=AGAIN,
         faults=(Fault(Phase.UPLOAD_START, LostReply()),), besides=sent_once),
    Case(name="reset-put-start", job=PUSH, says="connection reset before the body", then=AGAIN,
         faults=(Fault(Phase.UPLOAD_END, Reset()),)),
    Case(name="reset-put-middle", job=PUSH, says="connection reset in the middle of the body", then=AGAIN,
         faults=(Fault(Phase.UPLOAD_END, Reset(body=MIDDLE)),)),
    Case(name="reset-put-end", job=PUSH, says="connection reset after the body, which is not kept", then=AGAIN,
         faults=(Fault(Phase.UPLOAD_END, Reset(body=len(LAYER))),)),
    Case(name="lost-put", job=PUSH, says="the blob arrives, the answer is lost",
         then=GoesOn("finds the blob there, and sends nothing again"),
         faults=(Fault(Phase.UPLOAD_END, LostReply()),), besides=sent_once),
    Case(name="reset-put-always", job=PUSH, says="connection reset in the middle of the body",
         then=Refuses("the registry does not answer", ("run the same again",)),
         faults=(Fault(Phase.UPLOAD_END, Reset(body=MIDDLE), times=None),)),
    Case(name="reset-four-places", job=PUSH, says="connection reset at each step, one after the other", then=AGAIN,
         faults=(Fault(Phase.BLOB_HEAD, Reset()), Fault(Phase.UPLOAD_START, Reset()),
                 Fault(Phase.UPLOAD_END, Reset(body=MIDDLE)), Fault(Phase.UPLOAD_END, LostReply()))),
    Case(name="slow-put", job=PUSH, says="no answer in time", then=AGAIN, read_timeout=0.3,
         faults=(Fault(Phase.UPLOAD_END, Stall()),)),
    Case(name="slow-head", job=PUSH, says="no answer in time", then=AGAIN, read_timeout=0.3,
         faults=(Fault(Phase.BLOB_HEAD, Stall()),)),
)  # fmt: skip

MOUNTS = (
    Case(name="reset-mount", job=MOUNT, says="connection reset", then=GoesOn("asks for the mount again"),
         faults=(Fault(Phase.MOUNT, Reset()),), besides=nothing_sent),
    Case(name="lost-mount", job=MOUNT, says="the blob is mounted, the answer is lost",
         then=GoesOn("asks again, and nothing is sent"),
         faults=(Fault(Phase.MOUNT, LostReply()),), besides=nothing_sent),
    Case(name="mount-500", job=MOUNT, says="status 500", then=GoesOn("asks for the mount again"),
         faults=(Fault(Phase.MOUNT, Answer(status(500))),), besides=nothing_sent),
    *(Case(name=f"mount-{name}-always", job=MOUNT, says=says, then=GIVES_UP, besides=given_up,
           faults=(Fault(Phase.MOUNT, what, times=None),))
      for name, says, what in (
          ("500", "status 500", Answer(status(500))),
          ("429", "status 429", Answer(status(429))),
          ("504", "status 504 with a page of HTML", Answer(html(504))),
          ("reset", "connection reset", Reset()))),
    Case(name="mount-slow", job=MOUNT, says="no answer in time", then=INSTEAD, besides=sent_at_once,
         read_timeout=0.3, faults=(Fault(Phase.MOUNT, Stall(), times=None),)),
    Case(name="mount-503-an-hour", job=MOUNT, says="status 503, Retry-After: 3600", then=INSTEAD,
         besides=sent_at_once, faults=(Fault(Phase.MOUNT, Answer(status(503, Retry_After="3600"))),)),
    Case(name="mount-202", job=MOUNT, says="answers a mount with an upload session", where=Phase.MOUNT.value,
         then=GoesOn("uploads in that session"), options=Options(mounts=False), besides=sent_once),
    Case(name="mount-202-without-location", job=MOUNT, says="status 202 without a Location", then=INSTEAD,
         besides=sent_at_once, options=Options(mounts=False),
         faults=(Fault(Phase.MOUNT, headers(Location=None)),)),
    *(Case(name=f"mount-{code}", job=MOUNT, says=f"status {code}", then=INSTEAD,
           faults=(Fault(Phase.MOUNT, Answer(status(code)), times=None),), besides=sent_at_once)
      for code in (400, 403, 404, 405, 409, 415, 422, 501)),
    Case(name="mount-html", job=MOUNT, says="a page of HTML with status 200", then=INSTEAD,
         besides=sent_at_once, faults=(Fault(Phase.MOUNT, Answer(html()), times=None),)),
    Case(name="mount-redirect", job=MOUNT, says="sends us to another host", then=INSTEAD, besides=sent_here_only,
         faults=(lambda around: Fault(Phase.MOUNT, Answer(redirect(f"{around.elsewhere}/v2/mount"))),)),
    Case(name="mount-401", job=MOUNT, login="token", then=INSTEAD, besides=sent_once,
         says="status 401 to a source that we may not read, whatever the token",
         faults=(Fault(Phase.MOUNT, Answer(status(401, WWW_Authenticate='Basic realm="other"')), times=None),)),
    Case(name="mount-wrong-digest", job=MOUNT, says="names another digest",
         then=Refuses("the registry names another digest", (OTHER,)),
         faults=(Fault(Phase.MOUNT, headers(Docker_Content_Digest=OTHER)),)),
)  # fmt: skip

SESSIONS = (
    Case(name="session-gone", job=PUSH, says="the upload session is gone (BLOB_UPLOAD_UNKNOWN)",
         then=GoesOn("begins another session"),
         faults=(Fault(Phase.UPLOAD_END, Meanwhile(lambda content: content.sessions.clear())),)),
    Case(name="session-always-gone", job=PUSH, says="the upload session is gone (BLOB_UPLOAD_UNKNOWN)",
         then=Refuses("the registry refuses PUT", ("status 404", "BLOB_UPLOAD_UNKNOWN")),
         faults=(Fault(Phase.UPLOAD_END, Answer(GONE), times=None),)),
    Case(name="arrived-meanwhile", job=PUSH, says="somebody else pushes the same blob, and our session is gone",
         then=GoesOn("finds the blob there"),
         faults=(Fault(Phase.UPLOAD_END, Meanwhile(arrived)),), besides=sent_once),
    Case(name="put-wrong-digest", job=PUSH, says="the answer names another digest",
         then=Refuses("the registry names another digest", (OTHER,)),
         faults=(Fault(Phase.UPLOAD_END, headers(Docker_Content_Digest=OTHER)),)),
    Case(name="digest-invalid", job=PUSH, says="says that the bytes have another digest (DIGEST_INVALID)",
         then=GoesOn("looks at its own bytes, and sends them once more"),
         faults=(Fault(Phase.UPLOAD_END, Answer(INVALID)),)),
    Case(name="digest-always-invalid", job=PUSH, says="says that the bytes have another digest (DIGEST_INVALID)",
         then=Refuses("the registry refuses PUT", ("DIGEST_INVALID",)),
         faults=(Fault(Phase.UPLOAD_END, Answer(INVALID), times=None),)),
    Case(name="head-lies-about-size", job=PushBlob(present=True), says="Content-Length says another size",
         then=Refuses("with another size", (f"{len(LAYER)} bytes", f"{len(LAYER) + 5} bytes")),
         faults=(Fault(Phase.BLOB_HEAD, Changed(declared(5))),)),
    Case(name="head-html", job=PUSH, says="a page of HTML with status 200",
         then=Refuses("with another size", (f"{len(LAYER)} bytes",)),
         faults=(Fault(Phase.BLOB_HEAD, Answer(html())),)),
    Case(name="head-elsewhere", job=PushBlob(present=True), says="sent to another host", login="basic",
         then=GoesOn("follows, without credentials"), besides=without_secrets,
         faults=(lambda around: Fault(Phase.BLOB_HEAD, Answer(redirect(
             f"{around.elsewhere}/v2/{NAME}/blobs/{sha256(LAYER)}")), skip=1),)),
    Case(name="post-html", job=PUSH, says="a page of HTML with status 200",
         then=Refuses("the registry refuses POST", ("status 200", "an HTML page")),
         faults=(Fault(Phase.UPLOAD_START, Answer(html())),)),
    Case(name="put-html", job=PUSH, says="a page of HTML with status 200",
         then=Refuses("the registry refuses PUT", ("status 200", "an HTML page")),
         faults=(Fault(Phase.UPLOAD_END, Answer(html()), times=None),)),
)  # fmt: skip


LOCATIONS = (
    Case(name="location-absolute", job=PUSH, says="Location is absolute", then=GoesOn("follows"),
         where=Phase.UPLOAD_START.value, options=Options(absolute_locations=True), besides=sent_once),
    Case(name="location-without-query", job=PUSH, says="Location has no query", then=GoesOn("follows"),
         where=Phase.UPLOAD_START.value, options=Options(state_in_location=False), besides=sent_once),
    Case(name="location-relative-path", job=PUSH, says="Location is relative to the request's path",
         then=GoesOn("follows"), besides=sent_once,
         faults=(Fault(Phase.UPLOAD_START, headers(Location="session-1?_state=0")),)),
    Case(name="location-missing", job=PUSH, says="no Location",
         then=Refuses("an upload has no address", ("a Location header", "none")),
         faults=(Fault(Phase.UPLOAD_START, headers(Location=None)),)),
    Case(name="location-elsewhere", job=PUSH, says="Location leads to another host", login="basic",
         then=GoesOn("uploads there, without credentials"), besides=without_secrets,
         faults=(lambda around: Fault(Phase.UPLOAD_START, headers(
             Location=f"{around.elsewhere}/v2/{NAME}/blobs/uploads/session-1?_state=0")),)),
    Case(name="location-with-a-secret", job=PUSH, says="Location holds a secret, and nothing is there",
         then=Refuses("the registry refuses PUT", ("status 404", "BLOB_UPLOAD_UNKNOWN")),
         faults=(Fault(Phase.UPLOAD_START, headers(
             Location=f"/v2/{NAME}/blobs/uploads/nothing?signature={SECRET}"), times=None),)),
    Case(name="location-downgrade", job=PUSH, says="Location leads from https to http", https=True,
         then=Refuses("an address that we do not go to", ("https", "http://127.0.0.1")),
         besides=nobody_asked,
         faults=(lambda around: Fault(Phase.UPLOAD_START, headers(Location=f"{around.elsewhere}/upload")),)),
)  # fmt: skip


SMALL = Options(body_limit=MIB)
BY_MIB = Quirks(chunk_limit=MIB)
IN_PLACE = Options(body_limit=MIB, state_in_location=False)


def no_size_twice(bed: Bed) -> None:
    """Each size was refused once, not sent again."""
    refused = [one.received for one in bed.registry.log if one.status in (413, 416)]
    assert len(refused) == len(set(refused)) > 0


def sessions(count: int) -> Callable[[Bed], None]:
    """So many upload sessions were begun: one for the whole body, which is refused, and one for the chunks."""

    def check(bed: Bed) -> None:
        assert bed.registry.phases().count(Phase.UPLOAD_START) == count

    return check


GOES_ON, BEGINS_AGAIN = sessions(2), sessions(3)


CHUNKS = (
    Case(name="413", job=PUSH, says="status 413: a proxy takes no more than 1 MiB", where=Phase.UPLOAD_END.value,
         then=GoesOn("sends chunks, smaller until they pass"), options=SMALL, besides=no_size_twice),
    Case(name="413-always", job=PUSH, says="status 413, whatever the size", options=Options(body_limit=1000),
         where=Phase.UPLOAD_END.value, besides=enlarge,
         then=Refuses("the registry refuses", ("status 413", "takes no blob of this size"))),
    Case(name="416-ghcr", job=PUSH, says="status 416 with GHCR's words about a limit of 1 MiB",
         options=Options(body_limit=2 * MIB, chunk_limit=MIB), where=Phase.UPLOAD_CHUNK.value,
         then=GoesOn("sends smaller chunks"), besides=no_size_twice),
    Case(name="416-ghcr-always", job=PUSH, says="status 416 with GHCR's words, whatever the size",
         options=Options(body_limit=MIB, chunk_limit=1000), where=Phase.UPLOAD_CHUNK.value,
         then=Refuses("the registry refuses", ("maximum permissible limit", "takes no blob of this size")),
         besides=enlarge),
    Case(name="chunk-reset", job=PUSH, says="connection reset in the middle of a chunk; the session is dead",
         options=SMALL, quirks=BY_MIB, then=GoesOn("begins another session"), besides=BEGINS_AGAIN,
         faults=(Fault(Phase.UPLOAD_CHUNK, Reset(body=1000), skip=1),)),
    Case(name="chunk-lost-reply", job=PUSH, says="a chunk arrives, the answer is lost", options=IN_PLACE, quirks=BY_MIB,
         then=GoesOn("asks how much there is, and goes on behind it"), besides=GOES_ON,
         faults=(Fault(Phase.UPLOAD_CHUNK, LostReply(), skip=1),)),
    Case(name="chunk-lost-reply-and-location", job=PUSH, options=SMALL, quirks=BY_MIB,
         says="a chunk arrives, the answer with the next Location is lost", then=GoesOn("begins another session"), besides=BEGINS_AGAIN,
         faults=(Fault(Phase.UPLOAD_CHUNK, LostReply(), skip=1),)),
    Case(name="chunk-forgotten", job=PUSH, says="the registry has forgotten a chunk (416 with Range)",
         options=SMALL, quirks=BY_MIB, then=GoesOn("goes on where the registry stands"), besides=GOES_ON,
         faults=(Fault(Phase.UPLOAD_CHUNK, Meanwhile(forget), skip=1),)),
    Case(name="chunk-range-too-small", job=PUSH, says="Range says less than has arrived", options=SMALL, quirks=BY_MIB,
         then=GoesOn("goes on where the registry says, which ends right or begins again"),
         faults=(Fault(Phase.UPLOAD_CHUNK, headers(Range=f"0-{MIB // 2 - 1}")),)),
    Case(name="chunk-range-too-large", job=PUSH, says="Range says more than was sent", options=SMALL, quirks=BY_MIB,
         then=GoesOn("does not believe it, and begins another session"), besides=BEGINS_AGAIN,
         faults=(Fault(Phase.UPLOAD_CHUNK, headers(Range=f"0-{2 * len(LAYER)}")),)),
    Case(name="chunk-range-missing", job=PUSH, says="no Range", options=SMALL, quirks=BY_MIB,
         then=GoesOn("takes it that the chunk has arrived"),
         faults=(Fault(Phase.UPLOAD_CHUNK, headers(Range=None), times=None),)),
    Case(name="chunk-location-missing", job=PUSH, says="no Location", options=SMALL, quirks=BY_MIB,
         then=Refuses("an upload has no address"),
         faults=(Fault(Phase.UPLOAD_CHUNK, headers(Location=None)),)),
    Case(name="chunk-502", job=PUSH, says="status 502", options=SMALL, quirks=BY_MIB,
         then=GoesOn("asks how much there is, and goes on behind it"), besides=GOES_ON,
         faults=(Fault(Phase.UPLOAD_CHUNK, Answer(html(502)), skip=1),)),
    Case(name="chunks-close-lost-reply", job=PUSH, says="the closing answer of a chunked upload is lost",
         options=SMALL, quirks=BY_MIB, then=GoesOn("finds the blob there"), besides=GOES_ON,
         faults=(Fault(Phase.UPLOAD_END, LostReply(), skip=1),)),
)  # fmt: skip


CASES = (*CONNECTIONS, *MOUNTS, *SESSIONS, *LOCATIONS, *CHUNKS)
