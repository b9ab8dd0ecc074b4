"""Rows: what refers to an image, by the referrers API or by its fallback tag."""

from fakes.registry.content import INDEX
from fakes.registry.exchange import Phase, json_reply
from fakes.registry.faults import (
    Answer,
    Fault,
    LostReply,
    Meanwhile,
    Reset,
    html,
    redirect,
    status,
)
from fakes.registry.options import Options
from support.registry_faults.bed import Bed
from support.registry_faults.jobs import (
    FALLBACK,
    IMAGE,
    OTHER_IMAGE,
    OURS,
    THEIRS,
    Attach,
    ListReferrers,
    entry,
    put_theirs,
)
from support.registry_faults.model import NAME, Case, GoesOn, Refuses
from support.registry_faults.patience import waited

WITHOUT_API = Options(referrers=False)
ATTACH, ATTACH_BY_API = Attach(), Attach(fallback=False)
BOTH = (entry(THEIRS), entry(OURS))
LIST, LIST_FALLBACK = ListReferrers(), ListReferrers(fallback=BOTH)
EMPTY_TYPE = "application/vnd.oci.empty.v1+json"
EMPTY = json_reply(200, {"schemaVersion": 2, "mediaType": INDEX, "manifests": []}, Content_Type=INDEX)
AGAIN = GoesOn("asks again")
ADDS = GoesOn("adds its entry to those of others")


def once_more(bed: Bed) -> None:
    """Our entry was written again after somebody else's writing had undone it."""
    written = [one for one in bed.registry.requests(Phase.MANIFEST_PUT) if one.reference == FALLBACK]
    assert len(written) == 2


def fallback_put(what: object, times: int | None = 1) -> Fault:
    """A fault of writing the fallback index."""
    assert isinstance(what, Answer | LostReply | Meanwhile | Reset)
    return Fault(Phase.MANIFEST_PUT, what, reference=FALLBACK, times=times)


def free_tag(bed: Bed) -> None:
    """The tag is used as it should be again."""
    put_theirs(bed.content)


WRITING = (
    Case(name="attach-404", job=ATTACH, says="has no referrers API", options=WITHOUT_API, then=ADDS,
         where=Phase.MANIFEST_PUT.value),
    Case(name="attach-api", job=ATTACH_BY_API, says="has a referrers API", where=Phase.MANIFEST_PUT.value,
         then=GoesOn("writes no fallback tag")),
    Case(name="attach-reset", job=ATTACH, says="connection reset", options=WITHOUT_API, then=ADDS,
         faults=(Fault(Phase.MANIFEST_PUT, Reset()),)),
    Case(name="attach-lost", job=ATTACH_BY_API, says="the signature arrives, the answer is lost",
         then=GoesOn("writes it again, to learn whether the registry lists it"),
         faults=(Fault(Phase.MANIFEST_PUT, LostReply()),)),
    Case(name="fallback-lost", job=ATTACH, says="the fallback index arrives, the answer is lost",
         options=WITHOUT_API, then=GoesOn("sees that its entry is there, once"),
         faults=(fallback_put(LostReply()),)),
    Case(name="fallback-500", job=ATTACH, says="status 500 to the fallback index", options=WITHOUT_API,
         then=GoesOn("writes it again"), faults=(fallback_put(Answer(status(500))),)),
    Case(name="fallback-500-always", job=ATTACH, says="status 500 to the fallback index", options=WITHOUT_API,
         then=Refuses("the registry refuses PUT", ("status 500",)),
         faults=(fallback_put(Answer(status(500)), times=None),)),
    Case(name="fallback-lost-update", job=ATTACH, options=WITHOUT_API, besides=once_more,
         says="somebody who did not know ours writes the fallback index after us",
         then=GoesOn("sees that its entry is gone, and adds it again"),
         faults=(fallback_put(Meanwhile(put_theirs, after=True)),)),
    Case(name="fallback-lost-update-always", job=ATTACH, options=WITHOUT_API,
         says="somebody undoes each of our writings of the fallback index",
         then=Refuses("does not stay as it is written", ("somebody else writes",)),
         faults=(fallback_put(Meanwhile(put_theirs, after=True), times=None),)),
    Case(name="fallback-is-an-image", job=ATTACH, says="the fallback tag names an image", options=WITHOUT_API,
         then=Refuses("is used for something else", ("an image index", FALLBACK)), besides=free_tag,
         faults=(Fault(Phase.MANIFEST_GET, Meanwhile(
             lambda content: content.put_manifest(NAME, OTHER_IMAGE, tag=FALLBACK)), reference=FALLBACK),),
         meanwhile=lambda content: content.put_manifest(NAME, OTHER_IMAGE)),
    Case(name="fallback-is-the-subject", job=ATTACH, says="the fallback tag names the image itself",
         options=WITHOUT_API, then=Refuses("is used for something else", ("the image itself",)),
         besides=free_tag, faults=(Fault(Phase.MANIFEST_GET, Meanwhile(
             lambda content: content.put_manifest(NAME, IMAGE, tag=FALLBACK)), reference=FALLBACK),)),
)  # fmt: skip


def no_api(name: str, says: str, answer: Answer) -> Case:
    """A registry without the API that says so in a way of its own."""
    return Case(
        name=f"referrers-{name}",
        job=LIST_FALLBACK,
        says=says,
        then=GoesOn("reads the fallback tag"),
        faults=(Fault(Phase.REFERRERS, answer, times=None),),
    )


READING = (
    Case(name="referrers-404", job=LIST_FALLBACK, says="status 404", where=Phase.REFERRERS.value,
         options=WITHOUT_API, then=GoesOn("reads the fallback tag")),
    Case(name="referrers-404-nothing", job=ListReferrers(found=()), says="status 404, and no fallback tag",
         where=Phase.REFERRERS.value, options=WITHOUT_API, then=GoesOn("finds nothing")),
    no_api("303", "status 303 to a web site", Answer(redirect("https://web.test/packages", 303))),
    no_api("400", "status 400", Answer(status(400))),
    no_api("405", "status 405", Answer(status(405))),
    no_api("429", "status 429 for ever, as GHCR's web site does", Answer(status(429))),
    no_api("html", "a page of HTML with status 200", Answer(html())),
    no_api("deep", "JSON that is nested without end", Answer(status(200, b'{"manifests":' * 100_000))),
    no_api("empty-body", "status 200 without a body", Answer(status(200, b""))),
    no_api("empty-list", "an empty list, though there are some", Answer(EMPTY)),
    Case(name="referrers-empty", job=ListReferrers(found=()), says="an empty list, and no fallback tag",
         then=GoesOn("finds nothing"), faults=(Fault(Phase.REFERRERS, Answer(EMPTY)),)),
    Case(name="referrers-429-nothing", job=LIST, says="status 429, and no fallback tag",
         then=Refuses("the registry refuses GET", ("status 429",)), besides=waited(1, 300),
         faults=(Fault(Phase.REFERRERS, Answer(status(429)), times=None),)),
    Case(name="referrers-reset", job=LIST, says="connection reset", then=AGAIN,
         faults=(Fault(Phase.REFERRERS, Reset()),)),
    Case(name="referrers-500", job=LIST, says="status 500", then=AGAIN,
         faults=(Fault(Phase.REFERRERS, Answer(status(500))),)),
    Case(name="referrers-paged", job=LIST, says="comes in pages of one", options=Options(page=1),
         where=Phase.REFERRERS.value, then=GoesOn("reads them all")),
    Case(name="referrers-page-reset", job=LIST, says="connection reset on the second page",
         options=Options(page=1), then=AGAIN, faults=(Fault(Phase.REFERRERS, Reset(), skip=1),)),
    Case(name="referrers-denied", job=LIST, says="status 403", then=Refuses("the registry refuses GET", ("403",)),
         faults=(Fault(Phase.REFERRERS, Answer(status(403))),)),
    Case(name="fallback-wrong-type", options=WITHOUT_API, where=Phase.MANIFEST_GET.value,
         job=ListReferrers(fallback=(entry(THEIRS, EMPTY_TYPE), entry(OURS))),
         says="an entry of the fallback index names the empty type, as go-containerregistry wrote it",
         then=GoesOn("reads the type in the manifest")),
    Case(name="fallback-doubled", options=WITHOUT_API, where=Phase.MANIFEST_GET.value,
         job=ListReferrers(fallback=(*BOTH, entry(OURS))), says="the fallback index holds an entry twice",
         then=GoesOn("lists it once")),
    Case(name="fallback-html", job=LIST_FALLBACK, options=WITHOUT_API,
         says="a page of HTML instead of the fallback index", then=Refuses("", ("found",)),
         faults=(Fault(Phase.MANIFEST_GET, Answer(html()), reference=FALLBACK),)),
    Case(name="fallback-read-is-an-image", job=ListReferrers(found=()), options=WITHOUT_API,
         says="the fallback tag names an image", then=GoesOn("finds nothing"),
         faults=(Fault(Phase.MANIFEST_GET, Meanwhile(lambda content: content.put_manifest(
             NAME, OTHER_IMAGE, tag=FALLBACK)), reference=FALLBACK),),
         meanwhile=lambda content: content.put_manifest(NAME, OTHER_IMAGE, tag=FALLBACK)),
)  # fmt: skip

CASES = (*WRITING, *READING)
