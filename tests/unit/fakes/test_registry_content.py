"""The fake registry gives blobs, manifests and tags as the distribution specification says."""

import http.client

import pytest

from fakes.registry.content import INDEX, MANIFEST, sha256
from fakes.registry.options import Options
from fakes.registry.server import FakeRegistry
from fakes.registry.speaker import ask, push, put

NAME = "lab/paper"
DATA = b"0123456789"
DOCKER = "application/vnd.docker.distribution.manifest.v2+json"


def image(registry: FakeRegistry, name: str = NAME) -> bytes:
    """The bytes of a manifest whose blobs are there; spaced as no library would write it."""
    config, layer = push(registry, name, b"{}"), push(registry, name, DATA)
    parts = f'"config": {{"digest":"{config}", "size": 2}}, "layers":  [{{"digest":"{layer}", "size":10}}]'
    return f'{{"schemaVersion": 2,\n "mediaType": "{MANIFEST}", {parts}}}'.encode()


class TestBlobs:
    def test_a_blob_is_given_whole_and_its_head_says_how_long_it_is(
        self, fake_registry: FakeRegistry
    ) -> None:
        target = f"/v2/{NAME}/blobs/{push(fake_registry, NAME, DATA)}"
        whole, head = ask(fake_registry, "GET", target), ask(fake_registry, "HEAD", target)
        assert (whole.status, whole.body, head.status, head.body) == (200, DATA, 200, b"")
        assert head.headers["content-length"] == str(len(DATA))
        assert head.headers["docker-content-digest"] == whole.headers["docker-content-digest"] == sha256(DATA)

    @pytest.mark.parametrize(
        ("asked", "status", "body", "told"),
        [
            ("bytes=3-", 206, DATA[3:], "bytes 3-9/10"),
            ("bytes=3-5", 206, DATA[3:6], "bytes 3-5/10"),
            ("bytes=3-99", 206, DATA[3:], "bytes 3-9/10"),
            ("bytes=10-", 416, b"", "bytes */10"),
        ],
    )
    def test_a_part_is_given(
        self, fake_registry: FakeRegistry, asked: str, status: int, body: bytes, told: str
    ) -> None:
        target = f"/v2/{NAME}/blobs/{push(fake_registry, NAME, DATA)}"
        part = ask(fake_registry, "GET", target, headers={"Range": asked})
        assert (part.status, part.body, part.headers["content-range"]) == (status, body, told)

    def test_a_blob_is_only_in_the_repositories_that_it_was_put_in(self, fake_registry: FakeRegistry) -> None:
        digest = push(fake_registry, NAME, DATA)
        missing = ask(fake_registry, "GET", f"/v2/other/name/blobs/{digest}")
        assert (missing.status, missing.codes()) == (404, ["BLOB_UNKNOWN"])
        assert ask(fake_registry, "HEAD", f"/v2/other/name/blobs/{digest}").status == 404

    def test_a_blob_is_deleted_once(self, fake_registry: FakeRegistry) -> None:
        target = f"/v2/{NAME}/blobs/{push(fake_registry, NAME, DATA)}"
        assert [ask(fake_registry, "DELETE", target).status for _ in range(2)] == [202, 404]


class TestManifests:
    @pytest.mark.parametrize("reference", ["1.0.0", "digest"])
    def test_the_exact_bytes_come_back_by_tag_and_digest(
        self, fake_registry: FakeRegistry, reference: str
    ) -> None:
        data = image(fake_registry)
        stored = put(fake_registry, NAME, sha256(data) if reference == "digest" else reference, data)
        assert (stored.status, stored.headers["docker-content-digest"]) == (201, sha256(data))
        assert "oci-subject" not in stored.headers
        for asked in {reference, "digest"}:
            target = f"/v2/{NAME}/manifests/{sha256(data) if asked == 'digest' else asked}"
            got = ask(fake_registry, "GET", target, headers={"Accept": f"{INDEX}, {MANIFEST}"})
            assert (got.status, got.body, got.headers["content-type"]) == (200, data, MANIFEST)
            assert got.headers["docker-content-digest"] == sha256(data)
            assert ask(fake_registry, "HEAD", target).headers["content-length"] == str(len(data))

    def test_a_type_that_is_not_accepted_is_not_found(self, fake_registry: FakeRegistry) -> None:
        put(fake_registry, NAME, "1", image(fake_registry))
        got = ask(fake_registry, "GET", f"/v2/{NAME}/manifests/1", headers={"Accept": DOCKER})
        assert (got.status, got.codes()) == (404, ["MANIFEST_UNKNOWN"])

    def test_types_are_accepted_in_several_headers(self, fake_registry: FakeRegistry) -> None:
        put(fake_registry, NAME, "1", image(fake_registry))
        connection = http.client.HTTPConnection(fake_registry.host)
        connection.putrequest("GET", f"/v2/{NAME}/manifests/1")
        for media_type in (MANIFEST, DOCKER):
            connection.putheader("Accept", media_type)
        connection.endheaders()
        assert connection.getresponse().read() == image(fake_registry)
        connection.close()

    def test_parts_that_are_missing_are_named_each(self, fake_registry: FakeRegistry) -> None:
        refused = put(fake_registry, "other/name", "1", image(fake_registry))
        assert refused.status == 400
        assert [one["detail"]["digest"] for one in refused.json()["errors"]] == [sha256(b"{}"), sha256(DATA)]
        assert set(refused.codes()) == {"MANIFEST_BLOB_UNKNOWN"}

    def test_an_index_needs_its_manifests(self, fake_registry: FakeRegistry) -> None:
        data = image(fake_registry)
        index = {"schemaVersion": 2, "mediaType": INDEX, "manifests": [{"digest": sha256(data)}]}
        assert put(fake_registry, NAME, "1", index, INDEX).codes() == ["MANIFEST_BLOB_UNKNOWN"]
        put(fake_registry, NAME, sha256(data), data)
        assert put(fake_registry, NAME, "1", index, INDEX).status == 201

    @pytest.mark.parametrize(
        ("reference", "manifest", "code"),
        [
            (sha256(b"other"), b"{}", "DIGEST_INVALID"),
            ("-tag", b"{}", "TAG_INVALID"),
            ("1", b"<html>", "MANIFEST_INVALID"),
            ("1", b"[]", "MANIFEST_INVALID"),
            ("1", b'{"mediaType": "text/plain"}', "MANIFEST_INVALID"),
        ],
    )
    def test_what_is_wrong_is_refused(
        self, fake_registry: FakeRegistry, reference: str, manifest: bytes, code: str
    ) -> None:
        refused = put(fake_registry, NAME, reference, manifest)
        assert (refused.status, refused.codes()) == (400, [code])
        assert fake_registry.content.state() == {}

    def test_a_manifest_that_is_too_big_is_refused(self) -> None:
        with FakeRegistry(Options(manifest_limit=10)) as registry:
            assert put(registry, NAME, "1", b" " * 11).status == 413

    def test_a_tag_moves_and_the_manifest_stays(self, fake_registry: FakeRegistry) -> None:
        first = image(fake_registry)
        second = first + b"\n"
        put(fake_registry, NAME, "1", first)
        put(fake_registry, NAME, "1", second)
        state = fake_registry.content.state()[NAME]
        assert state["tags"] == {"1": sha256(second)}
        assert set(fake_registry.content.repositories[NAME].manifests) == {sha256(first), sha256(second)}

    def test_deleting_a_tag_keeps_the_manifest_and_deleting_that_takes_its_tags(
        self, fake_registry: FakeRegistry
    ) -> None:
        data = image(fake_registry)
        for tag in ("1", "2", "3"):
            put(fake_registry, NAME, tag, data)
        repository = fake_registry.content.repositories[NAME]
        assert ask(fake_registry, "DELETE", f"/v2/{NAME}/manifests/1").status == 202
        assert set(repository.tags) == {"2", "3"}
        assert ask(fake_registry, "DELETE", f"/v2/{NAME}/manifests/{sha256(data)}").status == 202
        assert (repository.tags, repository.manifests) == ({}, {})
        assert ask(fake_registry, "DELETE", f"/v2/{NAME}/manifests/{sha256(data)}").status == 404


class TestTags:
    @pytest.fixture
    def tagged(self, fake_registry: FakeRegistry) -> FakeRegistry:
        data = image(fake_registry)
        for tag in ("b", "a", "d", "c"):
            put(fake_registry, NAME, tag, data)
        return fake_registry

    def test_tags_are_sorted(self, tagged: FakeRegistry) -> None:
        assert ask(tagged, "GET", f"/v2/{NAME}/tags/list").json() == {"name": NAME, "tags": list("abcd")}

    def test_pages_lead_to_the_next_one(self, tagged: FakeRegistry) -> None:
        first = ask(tagged, "GET", f"/v2/{NAME}/tags/list?n=3")
        assert first.json()["tags"] == list("abc")
        link, _, relation = first.headers["link"].partition("; ")
        assert relation == 'rel="next"'
        rest = ask(tagged, "GET", link.strip("<>"))
        assert (rest.json()["tags"], "link" in rest.headers) == (["d"], False)

    def test_none_are_given_when_none_are_asked_for(self, tagged: FakeRegistry) -> None:
        none = ask(tagged, "GET", f"/v2/{NAME}/tags/list?n=0")
        assert (none.json()["tags"], "link" in none.headers) == ([], False)

    def test_a_repository_that_is_not_there_is_unknown(self, tagged: FakeRegistry) -> None:
        assert ask(tagged, "GET", "/v2/other/tags/list").codes() == ["NAME_UNKNOWN"]


def test_the_version_check_and_what_is_no_endpoint(fake_registry: FakeRegistry) -> None:
    assert ask(fake_registry, "GET", "/v2/").status == 200
    assert ask(fake_registry, "GET", "/v1/").status == 404
    assert ask(fake_registry, "GET", "/token").status == 404
