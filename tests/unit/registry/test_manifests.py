"""Manifests and tags: exact bytes, digests that hold, lists that end."""

import json

import pytest

from fakes.scripted_http import Canned, ScriptedHttp, Sent, broken_connection
from reprobridge.digest import Digest
from reprobridge.errors import RegistryError
from reprobridge.oci.model import MediaType
from reprobridge.registry.refusals import WrongBytesError
from reprobridge.system.http import NoAnswerError
from support.registries import client, described, image_manifest, referring_manifest

MANIFEST = image_manifest() + b" \n"
DIGEST = Digest.of(MANIFEST)
OTHER = Digest.of(b"other")


def always(answer: Canned) -> ScriptedHttp:
    return ScriptedHttp(lambda _: answer)


class TestReading:
    @pytest.mark.parametrize("reference", ["1.0.0", str(DIGEST)])
    def test_the_bytes_come_as_they_are(self, reference: str) -> None:
        headers = {"docker-content-digest": str(DIGEST), "content-type": "application/json; charset=utf-8"}
        received = client("ghcr.io", always(Canned(data=MANIFEST, headers=headers))).manifest(
            "a/b", reference
        )
        assert received is not None
        assert (received.data, received.digest, received.media_type) == (MANIFEST, DIGEST, MediaType.MANIFEST)

    def test_the_server_says_what_the_document_does_not(self) -> None:
        headers = {"content-type": f"{MediaType.INDEX}; charset=utf-8"}
        received = client("ghcr.io", always(Canned(data=b'{"manifests":[]}', headers=headers))).manifest(
            "a", "1"
        )
        assert received is not None
        assert received.media_type == MediaType.INDEX

    def test_nothing_is_none(self) -> None:
        ours = client("ghcr.io", always(Canned(404)))
        assert ours.manifest("a/b", "1") is None
        assert ours.manifest_digest("a/b", "1") is None

    def test_another_manifest_than_asked_for_is_refused(self) -> None:
        with pytest.raises(RegistryError, match="sends another manifest"):
            client("ghcr.io", always(Canned(data=MANIFEST))).manifest("a/b", str(OTHER))
        ours = client("ghcr.io", always(Canned(headers={"docker-content-digest": str(DIGEST)})))
        with pytest.raises(RegistryError, match="names another manifest"):
            ours.manifest_digest("a/b", str(OTHER))

    def test_a_digest_that_is_not_of_the_bytes_is_refused(self) -> None:
        headers = {"docker-content-digest": str(OTHER)}
        with pytest.raises(WrongBytesError, match="than the one that it names") as caught:
            client("ghcr.io", always(Canned(data=MANIFEST, headers=headers))).manifest("a/b", "1")
        error = caught.value
        assert (error.where, error.wanted) == ("ghcr.io/a/b:1", OTHER)
        assert (error.expected, error.found) == (str(OTHER), str(DIGEST))
        assert error.hint

    def test_a_digest_that_is_none_is_refused_for_that(self) -> None:
        headers = {"docker-content-digest": "sha256:zz"}
        with pytest.raises(RegistryError, match="names no digest"):
            client("ghcr.io", always(Canned(data=MANIFEST, headers=headers))).manifest("a/b", "1")

    @pytest.mark.parametrize("data", [b"<html>sign in", b"", b"[]", b'"text"', b"\xff"])
    def test_what_is_no_manifest_is_refused(self, data: bytes) -> None:
        with pytest.raises(RegistryError, match="something that is no manifest"):
            client("ghcr.io", always(Canned(data=data))).manifest("a/b", "1")

    def test_a_server_that_names_no_digest_is_asked_for_the_bytes(self) -> None:
        http = ScriptedHttp(lambda sent: Canned(data=MANIFEST if sent.method == "GET" else b""))
        assert client("ghcr.io", http).manifest_digest("a/b", "1") == DIGEST
        assert http.asked() == ["HEAD /v2/a/b/manifests/1", "GET /v2/a/b/manifests/1"]


class TestWriting:
    def test_the_bytes_go_as_they_are(self) -> None:
        http = always(Canned(201, headers={"docker-content-digest": str(DIGEST)}))
        assert client("ghcr.io", http).put_manifest("a/b", "1", MANIFEST, MediaType.MANIFEST) is False
        (sent,) = http.sent
        assert (sent.body, sent.headers["Content-Type"]) == (MANIFEST, MediaType.MANIFEST)

    def test_another_digest_back_is_an_error(self) -> None:
        http = always(Canned(201, headers={"docker-content-digest": str(OTHER)}))
        with pytest.raises(RegistryError, match="names another digest"):
            client("ghcr.io", http).put_manifest("a/b", "1", MANIFEST, MediaType.MANIFEST)

    @pytest.mark.parametrize(
        ("subject", "processed"), [(str(DIGEST), True), (str(OTHER), False), (None, False)]
    )
    def test_the_server_says_whether_it_processed_the_subject(
        self, subject: str | None, processed: bool
    ) -> None:
        attachment = referring_manifest(described(MANIFEST), "test/kind")
        http = always(Canned(201, headers={"oci-subject": subject} if subject else {}))
        assert client("ghcr.io", http).put_manifest("a/b", "1", attachment, MediaType.MANIFEST) is processed

    def test_a_lost_answer_is_no_reason_to_write_again(self) -> None:
        def servers(sent: Sent) -> Canned | NoAnswerError:
            if sent.method == "PUT":
                return broken_connection()
            return Canned(headers={"docker-content-digest": str(DIGEST)})

        http = ScriptedHttp(servers)
        client("ghcr.io", http).put_manifest("a/b", "1", MANIFEST, MediaType.MANIFEST)
        assert [sent.method for sent in http.sent] == ["PUT", "HEAD"]

    def test_a_lost_answer_about_the_subject_is_asked_for_again(self) -> None:
        attachment = referring_manifest(described(MANIFEST), "test/kind")
        answers: list[Canned | NoAnswerError] = [
            broken_connection(),
            Canned(201, headers={"oci-subject": str(DIGEST)}),
        ]
        http = ScriptedHttp(lambda _: answers.pop(0))
        assert client("ghcr.io", http).put_manifest("a/b", "1", attachment, MediaType.MANIFEST)

    def test_what_registries_do_not_take_is_not_sent(self) -> None:
        http = always(Canned(201))
        with pytest.raises(RegistryError, match="larger than registries take"):
            client("ghcr.io", http).put_manifest("a/b", "1", b" " * ((4 << 20) + 1), MediaType.MANIFEST)
        assert http.sent == []


class TestTags:
    def test_pages_are_followed_and_tags_sorted(self) -> None:
        def servers(sent: Sent) -> Canned:
            if "last=b" in sent.url:
                return Canned(data=b'{"tags": ["c", "a"]}')
            link = '</v2/a/b/tags/list?n=1000&last=b>; rel="next"'
            return Canned(data=b'{"tags": ["b"]}', headers={"link": link})

        assert client("ghcr.io", ScriptedHttp(servers)).tags("a/b") == ("a", "b", "c")

    @pytest.mark.parametrize(
        "link",
        ["<?n=1000>; rel=next", "<https://else.example/v2/a/b/tags/list>; rel=next"],
        ids=["itself", "elsewhere"],
    )
    def test_pages_that_lead_nowhere_are_refused(self, link: str) -> None:
        http = always(Canned(data=b'{"tags": ["b"]}', headers={"link": link}))
        with pytest.raises(RegistryError, match="lead nowhere"):
            client("ghcr.io", http).tags("a/b")
        assert len(http.sent) <= 2

    @pytest.mark.parametrize(("body", "tags"), [('{"tags": null}', ()), ('{"tags": []}', ())])
    def test_an_empty_repository_has_none(self, body: str, tags: tuple[str, ...]) -> None:
        assert client("ghcr.io", always(Canned(data=body.encode()))).tags("a/b") == tags

    @pytest.mark.parametrize(
        "body", ["<html>", "", json.dumps({"name": "x"}), '{"tags": [1]}', '{"tags": {}}']
    )
    def test_what_is_no_list_is_refused(self, body: str) -> None:
        with pytest.raises(RegistryError, match="no list of tags"):
            client("ghcr.io", always(Canned(data=body.encode()))).tags("a/b")
