"""Rows: servers that stumble or are overrun."""

from collections.abc import Callable
from email.utils import formatdate

from fakes.registry.exchange import Phase, error
from fakes.registry.faults import Answer, Fault, html, status
from support.registry_faults.bed import START, Bed
from support.registry_faults.jobs import GetManifest, PullBlob, PushBlob, PutManifest
from support.registry_faults.model import Case, GoesOn, Refuses

PUSH = PushBlob()
WAITS = GoesOn("waits, then goes on")
GHCR = b'{"errors":[{"code":"TOOMANYREQUESTS","message":"retry-after: 2500ms, allowed: 2000/minute"}]}'
SECONDARY = b"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


def waited(least: float, most: float = 60) -> Callable[[Bed], None]:
    """All waits together are of this length."""

    def check(bed: Bed) -> None:
        assert least <= sum(bed.clock.pauses) <= most

    return check


def at_once(bed: Bed) -> None:
    """Nothing was waited for."""
    assert bed.clock.pauses == []


CASES = (
    Case(name="500-post", job=PUSH, says="status 500", then=WAITS, besides=waited(0.1),
         faults=(Fault(Phase.UPLOAD_START, Answer(status(500))),)),
    Case(name="502-put", job=PUSH, says="status 502 with a page of HTML", then=WAITS,
         faults=(Fault(Phase.UPLOAD_END, Answer(html(502))),)),
    Case(name="502-put-early", job=PUSH, says="status 502 in the middle of the body", then=WAITS,
         faults=(Fault(Phase.UPLOAD_END, Answer(html(502), early=1000)),)),
    Case(name="503-retry-after", job=PUSH, says="status 503, Retry-After: 7", then=WAITS, besides=waited(7, 10),
         faults=(Fault(Phase.UPLOAD_END, Answer(status(503, Retry_After="7"))),)),
    Case(name="504-head", job=PUSH, says="status 504", then=WAITS,
         faults=(Fault(Phase.BLOB_HEAD, Answer(html(504)), times=2),)),
    Case(name="500-always", job=PUSH, says="status 500",
         then=Refuses("the registry refuses PUT", ("status 500", "run the same again")),
         faults=(Fault(Phase.UPLOAD_END, Answer(status(500)), times=None),)),
    Case(name="500-manifest", job=PutManifest(), says="status 500", then=WAITS,
         faults=(Fault(Phase.MANIFEST_PUT, Answer(status(500)), times=2),)),
    Case(name="500-get", job=PullBlob(), says="status 500", then=WAITS,
         faults=(Fault(Phase.BLOB_GET, Answer(status(500))),)),
    Case(name="503-manifest-get", job=GetManifest(), says="status 503, Retry-After: 3", then=WAITS,
         besides=waited(3, 5), faults=(Fault(Phase.MANIFEST_GET, Answer(status(503, Retry_After="3"))),)),
    Case(name="429-seconds", job=PUSH, says="status 429, Retry-After in seconds", then=WAITS,
         besides=waited(11, 15), faults=(Fault(Phase.UPLOAD_START, Answer(status(429, Retry_After="11"))),)),
    Case(name="429-date", job=PUSH, says="status 429, Retry-After as a date", then=WAITS,
         besides=waited(30, 35), faults=(Fault(Phase.UPLOAD_START, Answer(
             status(429, Retry_After=formatdate(START + 30, usegmt=True)))),)),
    Case(name="429-ghcr", job=PUSH, says="status 429, the time in the body as GHCR writes it", then=WAITS,
         besides=waited(2.5, 5), faults=(Fault(Phase.UPLOAD_END, Answer(status(429, GHCR))),)),
    Case(name="429-nothing-said", job=PUSH, says="status 429 without a time", then=WAITS, besides=waited(1),
         faults=(Fault(Phase.BLOB_HEAD, Answer(status(429, b"")), times=3),)),
    Case(name="429-nonsense", job=PUSH, says="status 429, Retry-After: soon", then=WAITS, besides=waited(1),
         faults=(Fault(Phase.BLOB_HEAD, Answer(status(429, Retry_After="soon"))),)),
    Case(name="429-always", job=PUSH, says="status 429",
         then=Refuses("the registry refuses", ("status 429", "TOOMANYREQUESTS", "wait")), besides=waited(5, 300),
         faults=(Fault(Phase.UPLOAD_START, Answer(status(429, GHCR)), times=None),)),
    Case(name="429-an-hour", job=PUSH, says="status 429, Retry-After: 3600",
         then=Refuses("the registry refuses", ("status 429",)), besides=at_once,
         faults=(Fault(Phase.UPLOAD_START, Answer(status(429, Retry_After="3600"))),)),
    Case(name="429-manifest", job=PutManifest(), says="status 429, Retry-After: 5", then=WAITS,
         besides=waited(5, 8), faults=(Fault(Phase.MANIFEST_PUT, Answer(status(429, Retry_After="5"))),)),
    Case(name="429-get", job=PullBlob(), says="status 429, Retry-After: 5", then=WAITS,
         besides=waited(5, 8), faults=(Fault(Phase.BLOB_GET, Answer(status(429, Retry_After="5"))),)),
    Case(name="403-rate", job=PUSH, says="status 403 that means a rate limit, as GitHub sends it", then=WAITS,
         besides=waited(1), faults=(Fault(Phase.UPLOAD_START, Answer(status(403, SECONDARY))),)),
    Case(name="403", job=PUSH, says="status 403", besides=at_once,
         then=Refuses("the registry refuses POST", ("status 403", "DENIED", "docker login")),
         faults=(Fault(Phase.UPLOAD_START, Answer(error(403, "DENIED", "permission_denied"))),)),
    Case(name="403-manifest", job=PutManifest(), says="status 403", besides=at_once,
         then=Refuses("the registry refuses PUT", ("status 403", "DENIED", "docker login")),
         faults=(Fault(Phase.MANIFEST_PUT, Answer(error(403, "DENIED", "permission_denied"))),)),
)  # fmt: skip
