"""The fake registry lists referrers as the distribution specification says (1.1, "Listing Referrers")."""

import json
from collections.abc import Mapping

import pytest

from fakes.registry.content import INDEX, MANIFEST, sha256
from fakes.registry.options import Options
from fakes.registry.server import FakeRegistry
from fakes.registry.speaker import Heard, ask, push, put

NAME = "lab/paper"
SUBJECT = sha256(b"the subject need not be there")


def referrer(registry: FakeRegistry, **fields: object) -> tuple[str, Heard]:
    empty = push(registry, NAME, b"{}")
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": empty, "size": 2},
        "layers": [],
        "subject": {"mediaType": MANIFEST, "digest": SUBJECT, "size": 29},
        **fields,
    }
    data = json.dumps(manifest).encode()
    return sha256(data), put(registry, NAME, sha256(data), data)


def listed(answer: Heard) -> list[Mapping[str, object]]:
    assert (answer.status, answer.headers["content-type"]) == (200, INDEX)
    value = answer.json()
    assert (value["schemaVersion"], value["mediaType"]) == (2, INDEX)
    return list(value["manifests"])


def test_a_subject_without_referrers_has_an_empty_index(fake_registry: FakeRegistry) -> None:
    assert listed(ask(fake_registry, "GET", f"/v2/{NAME}/referrers/{SUBJECT}")) == []


def test_a_digest_that_is_none_is_refused(fake_registry: FakeRegistry) -> None:
    assert ask(fake_registry, "GET", f"/v2/{NAME}/referrers/sha256:12").status == 400


def test_a_referrer_is_acknowledged_and_listed_with_type_and_annotations(fake_registry: FakeRegistry) -> None:
    digest, stored = referrer(fake_registry, artifactType="text/signature", annotations={"a": "b"})
    assert stored.headers["oci-subject"] == SUBJECT
    size = len(fake_registry.content.repositories[NAME].manifests[digest].data)
    assert listed(ask(fake_registry, "GET", f"/v2/{NAME}/referrers/{SUBJECT}")) == [
        {
            "mediaType": MANIFEST,
            "digest": digest,
            "size": size,
            "artifactType": "text/signature",
            "annotations": {"a": "b"},
        }
    ]


def test_without_a_type_the_configs_stands_in(fake_registry: FakeRegistry) -> None:
    referrer(fake_registry)
    (one,) = listed(ask(fake_registry, "GET", f"/v2/{NAME}/referrers/{SUBJECT}"))
    assert one["artifactType"] == "application/vnd.oci.empty.v1+json"


@pytest.mark.parametrize("filters", [True, False])
def test_a_filter_is_applied_and_said_or_neither(filters: bool) -> None:
    with FakeRegistry(Options(filters=filters)) as registry:
        wanted, _ = referrer(registry, artifactType="a/b")
        referrer(registry, artifactType="c/d")
        answer = ask(registry, "GET", f"/v2/{NAME}/referrers/{SUBJECT}?artifactType=a%2Fb")
        found = [one["digest"] for one in listed(answer)]
        assert (found == [wanted]) is filters
        assert answer.headers.get("oci-filters-applied") == ("artifactType" if filters else None)


def test_pages_lead_through_all_referrers_of_a_type() -> None:
    with FakeRegistry(Options(page=2)) as registry:
        made = {referrer(registry, artifactType="a/b", annotations={"n": str(n)})[0] for n in range(5)}
        referrer(registry, artifactType="c/d")
        target: str | None = f"/v2/{NAME}/referrers/{SUBJECT}?artifactType=a%2Fb"
        pages = []
        while target is not None:
            answer = ask(registry, "GET", target)
            pages.append([str(one["digest"]) for one in listed(answer)])
            target = answer.headers["link"].partition(">")[0][1:] if "link" in answer.headers else None
        assert [len(page) for page in pages] == [2, 2, 1]
        assert {digest for page in pages for digest in page} == made


def test_a_registry_without_the_api_says_nothing_of_subjects() -> None:
    with FakeRegistry(Options(referrers=False)) as registry:
        _, stored = referrer(registry)
        assert (stored.status, "oci-subject" in stored.headers) == (201, False)
        assert ask(registry, "GET", f"/v2/{NAME}/referrers/{SUBJECT}").status == 404
