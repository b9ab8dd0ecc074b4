"""Rows: authentication."""

import json

from fakes.registry.exchange import Phase, Reply, error, json_reply
from fakes.registry.faults import Answer, Changed, Fault, LostReply, Meanwhile, Reset, html, redirect, status
from support.registry_faults.bed import SECRET, Bed
from support.registry_faults.jobs import BIG, MIB, PullBlob, PushBlob, PutManifest
from support.registry_faults.model import Case, GoesOn, Refuses
from support.registry_faults.uploads import BY_MIB, SMALL, nobody_asked

PUSH, PUSH_BIG = PushBlob(), PushBlob(data=BIG, title="push a big blob")
RENEWS = GoesOn("gets a new token, and goes on")


def not_sent_twice(bed: Bed) -> None:
    """The blob's body went out once, and a piece of it before."""
    assert bed.registry.received() < 2 * len(BIG)


def within_reason(bed: Bed) -> None:
    """The registry was not asked again and again."""
    assert len(bed.registry.log) < 10


def short_lived(reply: Reply) -> Reply:
    """A token that ends after a second."""
    return json_reply(200, json.loads(reply.body) | {"expires_in": 1})


CASES = (
    Case(name="expires-before-put", job=PUSH_BIG, login="token", besides=not_sent_twice,
         says="the token ends after the session began: status 401 early in the body", then=RENEWS,
         faults=(lambda around: Fault(Phase.UPLOAD_START, Meanwhile(lambda _: around.expire(), after=True)),)),
    Case(name="early-401", job=PUSH_BIG, login="token", then=RENEWS, besides=not_sent_twice,
         says="status 401 in the middle of a big body; the session is dead",
         faults=(lambda around: Fault(Phase.UPLOAD_END, Answer(
             status(401, WWW_Authenticate=f'Bearer realm="{around.registry}/token",service="fake"'),
             early=4 * MIB)),)),
    Case(name="expires-between-chunks", job=PUSH, login="token", options=SMALL, quirks=BY_MIB, then=RENEWS,
         says="the token ends in the middle of a chunked upload",
         faults=(lambda around: Fault(Phase.UPLOAD_CHUNK, Meanwhile(lambda _: around.expire(), after=True), skip=1),)),
    Case(name="expires-before-close", job=PUSH, login="token", options=SMALL, quirks=BY_MIB, then=RENEWS,
         says="the token ends before a chunked upload is closed",
         faults=(lambda around: Fault(Phase.UPLOAD_CHUNK, Meanwhile(lambda _: around.expire(), after=True), skip=3),)),
    Case(name="expires-before-manifest", job=PutManifest(), login="token", then=RENEWS,
         says="status 401: the token has ended",
         faults=(lambda around: Fault(Phase.MANIFEST_PUT, Answer(
             status(401, WWW_Authenticate=f'Bearer realm="{around.registry}/token",service="fake"'))),)),
    Case(name="expires-in-download", job=PullBlob(), login="token", then=RENEWS,
         says="the token ends, and the connection breaks",
         faults=(lambda around: Fault(Phase.BLOB_GET, Meanwhile(lambda _: around.expire())),
                 Fault(Phase.BLOB_GET, Reset()))),
    Case(name="token-reset", job=PUSH, login="token", says="connection reset", then=GoesOn("asks again"),
         faults=(Fault(Phase.TOKEN, Reset()),)),
    Case(name="token-lost", job=PUSH, login="token", says="the answer is lost", then=GoesOn("asks again"),
         faults=(Fault(Phase.TOKEN, LostReply()),)),
    Case(name="token-503", job=PUSH, login="token", says="status 503", then=GoesOn("waits, then asks again"),
         faults=(Fault(Phase.TOKEN, Answer(status(503)), times=2),)),
    Case(name="token-429", job=PUSH, login="token", says="status 429", then=GoesOn("waits, then asks again"),
         faults=(Fault(Phase.TOKEN, Answer(status(429, Retry_After="2"))),)),
    Case(name="token-reset-always", job=PUSH, login="token", says="connection reset",
         then=Refuses("the registry does not answer"), faults=(Fault(Phase.TOKEN, Reset(), times=None),)),
    Case(name="token-html", job=PUSH, login="token", says="a page of HTML with status 200",
         then=Refuses("does not answer with a token", ("a JSON object with a token", "text/html")),
         faults=(Fault(Phase.TOKEN, Answer(html())),)),
    Case(name="token-empty", job=PUSH, login="token", says="JSON without a token",
         then=Refuses("does not answer with a token"), faults=(Fault(Phase.TOKEN, Answer(json_reply(200, {}))),)),
    Case(name="token-denied", job=PUSH, login="token", says="status 401: the password is wrong",
         then=Refuses("the registry refuses", ("status 401", "docker login")), besides=within_reason,
         faults=(Fault(Phase.TOKEN, Answer(status(401)), times=None),)),
    Case(name="token-redirect", job=PUSH, login="token", says="sends us to another host",
         then=Refuses("the registry refuses", ("status 307",)), besides=nobody_asked,
         faults=(lambda around: Fault(Phase.TOKEN, Answer(redirect(f"{around.elsewhere}/token"))),)),
    Case(name="token-for-a-second", job=PUSH, login="token", says="tokens end after a second",
         then=GoesOn("uses each as long as it lasts"),
         faults=(Fault(Phase.TOKEN, Changed(short_lived), times=None),)),
    Case(name="realm-downgrade", job=PUSH, https=True, besides=nobody_asked,
         says="status 401 that names a token server by http, where the registry is https",
         then=Refuses("an address that we do not go to", ("https", "http://127.0.0.1")),
         faults=(lambda around: Fault(Phase.BLOB_HEAD, Answer(
             status(401, WWW_Authenticate=f'Bearer realm="{around.elsewhere}/token"'))),)),
    Case(name="realm-foreign-http", job=PUSH, besides=within_reason,
         says="status 401 that names a token server by http at a host that is not this machine",
         then=Refuses("an address that we do not go to", ("http://token.test",)),
         faults=(Fault(Phase.BLOB_HEAD, Answer(
             status(401, WWW_Authenticate='Bearer realm="http://token.test/token"'))),)),
    Case(name="401-without-challenge", job=PUSH, says="status 401 without a challenge",
         then=Refuses("the registry refuses", ("status 401", "docker login")), besides=within_reason,
         faults=(Fault(Phase.BLOB_HEAD, Answer(status(401))),)),
    Case(name="401-unknown-challenge", job=PUSH, says="status 401 with a challenge that nobody can meet",
         then=Refuses("the registry refuses", ("status 401",)), besides=within_reason,
         faults=(Fault(Phase.UPLOAD_START, Answer(status(401, WWW_Authenticate="Negotiate"))),)),
    Case(name="401-broken-challenge", job=PUSH, says="status 401 with a challenge that is no grammar",
         then=Refuses("the registry refuses", ("status 401",)), besides=within_reason,
         faults=(Fault(Phase.UPLOAD_START, Answer(status(401, WWW_Authenticate='Bearer realm="'))),)),
    Case(name="401-always", job=PUSH, login="token", says="status 401 however new the token is",
         then=Refuses("the registry refuses", ("status 401", "docker login")), besides=within_reason,
         faults=(lambda around: Fault(Phase.UPLOAD_START, Answer(
             status(401, WWW_Authenticate=f'Bearer realm="{around.registry}/token",service="fake"')),
             times=None),)),
    Case(name="403-echo", job=PUSH, login="basic", says="status 403 that repeats our password",
         then=Refuses("the registry refuses POST", ("status 403", "DENIED")),
         faults=(Fault(Phase.UPLOAD_START, Answer(error(403, "DENIED", f"not with {SECRET}"))),)),
    Case(name="wrong-password", job=PUSH, login="basic", says="status 401 to the password",
         then=Refuses("the registry refuses", ("status 401", "docker login")), besides=within_reason,
         faults=(Fault(Phase.BLOB_HEAD, Answer(status(401, WWW_Authenticate='Basic realm="x"')), times=None),)),
)  # fmt: skip
