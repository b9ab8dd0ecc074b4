"""The registry client against Debian's docker-registry, and other clients on what it pushed."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import RegistryError
from reprobridge.oci.layout import read_layout
from reprobridge.oci.model import MediaType
from reprobridge.registry.connect import connect
from reprobridge.registry.credentials import IdentityToken, Password
from reprobridge.registry.fallback import fallback_tag
from reprobridge.registry.model import Outcome, Wanted
from reprobridge.registry.referrers import attach_all, referrers
from reprobridge.registry.refusals import Refused, Unauthorized
from reprobridge.registry.transfer import Moved, pull_blobs, push_blobs
from reprobridge.system.http import RealHttp
from support.docker_registry import RunningRegistry, password_file, serve_registry
from support.registries import blob_of, client, described, image_manifest, referring_manifest
from support.require import require_tool
from support.token_server import Asked, TokenServer, User

LAYERS = (b"first layer " * 200_000, b"second layer", b"")
BLOBS = (b"{}", *LAYERS)
PUSH_AND_PULL = """
import re, sys
from pathlib import Path
from reprobridge.digest import digest_stream
from reprobridge.oci.model import Descriptor
from reprobridge.registry.connect import connect
from reprobridge.registry.model import Blob, Wanted
from reprobridge.registry.transfer import pull_blobs, push_blobs
from reprobridge.system.http import RealHttp

host, path = sys.argv[1], Path(sys.argv[2])
with path.open("rb") as stream:
    blob = Descriptor("application/octet-stream", *digest_stream(stream))
ours = connect(host, RealHttp())
assert push_blobs(ours, "lab/demo", [Blob(blob, lambda: path.open("rb"))]).bytes == blob.size
got = []
pull_blobs(ours, "lab/demo", [Wanted(blob, lambda blocks: got.append(sum(map(len, blocks))))])
assert got == [blob.size]
print(re.search(r"VmHWM:\\s+([0-9]+) kB", Path("/proc/self/status").read_text())[1])
"""
"""Pushes a file, pulls it again, and prints the most memory that this took, in KiB."""
SECRET = "correct horse"
ANN = User(SECRET, {"lab/*": {"pull", "push"}, "base/open": {"pull"}}, identity_token="ann-refreshes")


@pytest.fixture(params=[False, True], ids=["absolute", "relative"])
def registry(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[RunningRegistry]:
    """An open registry that names absolute or relative addresses."""
    with serve_registry(tmp_path / "registry", relative_locations=request.param) as running:
        yield running


@pytest.fixture
def tokens(tmp_path: Path) -> Iterator[TokenServer]:
    with TokenServer(tmp_path / "tokens") as server:
        server.users["ann"] = ANN
        yield server


@pytest.fixture
def guarded(tokens: TokenServer, tmp_path: Path) -> Iterator[RunningRegistry]:
    """A registry that asks for tokens."""
    with serve_registry(tmp_path / "registry", auth=tokens.auth()) as running:
        yield running


class TestOpenRegistry:
    def test_what_was_pushed_is_pulled_and_not_pushed_again(
        self, registry: RunningRegistry, real_http: RealHttp
    ) -> None:
        ours = client(registry.host, real_http)
        size = sum(map(len, BLOBS))
        assert push_blobs(ours, "lab/demo", map(blob_of, BLOBS)) == Moved(bytes=size, uploaded=4)
        assert push_blobs(ours, "lab/demo", map(blob_of, BLOBS)) == Moved(present=4)
        got: dict[Digest, bytes] = {}

        def wanted(data: bytes) -> Wanted:
            digest = Digest.of(data)
            return Wanted(blob_of(data).descriptor, lambda blocks: got.update({digest: b"".join(blocks)}))

        assert pull_blobs(ours, "lab/demo", map(wanted, BLOBS)) == Moved(bytes=size, uploaded=4)
        assert got == {Digest.of(data): data for data in BLOBS}

    def test_a_blob_of_another_repository_is_mounted(
        self, registry: RunningRegistry, real_http: RealHttp
    ) -> None:
        ours = client(registry.host, real_http)
        ours.push_blob("lab/first", blob_of(LAYERS[0]))
        blob = blob_of(LAYERS[0], mount_from=("lab/none", "lab/first"))
        assert ours.push_blob("lab/second", blob) is Outcome.MOUNTED
        assert ours.blob_size("lab/second", blob.descriptor.digest) == blob.descriptor.size

    def test_a_mount_that_is_not_made_becomes_an_upload(
        self, registry: RunningRegistry, real_http: RealHttp
    ) -> None:
        blob = blob_of(b"new", mount_from=("lab/none",))
        assert client(registry.host, real_http).push_blob("lab/demo", blob) is Outcome.UPLOADED
        posts = [line for line in registry.requests() if line.startswith("POST")]
        assert len(posts) == 1, "the session that the mount opened is used"

    def test_manifests_come_back_byte_by_byte(self, registry: RunningRegistry, real_http: RealHttp) -> None:
        ours = client(registry.host, real_http)
        push_blobs(ours, "lab/demo", map(blob_of, BLOBS))
        manifest = image_manifest(*BLOBS) + b"\n"
        assert ours.manifest("lab/demo", "1.0.0") is None
        assert ours.manifest_digest("lab/demo", "1.0.0") is None
        assert ours.tags("lab/demo") == ()
        assert ours.put_manifest("lab/demo", "1.0.0", manifest, MediaType.MANIFEST) is False
        received = ours.manifest("lab/demo", "1.0.0")
        assert received is not None
        assert (received.data, received.media_type) == (manifest, MediaType.MANIFEST)
        assert ours.manifest_digest("lab/demo", "1.0.0") == received.digest
        assert ours.manifest("lab/demo", str(received.digest)) == received
        assert ours.tags("lab/demo") == ("1.0.0",)

    def test_a_manifest_of_missing_blobs_is_refused_with_their_digests(
        self, registry: RunningRegistry, real_http: RealHttp
    ) -> None:
        ours = client(registry.host, real_http)
        ours.push_blob("lab/demo", blob_of(b"{}"))
        with pytest.raises(Refused, match="MANIFEST_BLOB_UNKNOWN") as raised:
            ours.put_manifest("lab/demo", "1", image_manifest(b"{}", b"gone"), MediaType.MANIFEST)
        assert raised.value.missing == (blob_of(b"gone").descriptor.digest,)
        assert raised.value.where == registry.host

    def test_referrers_are_kept_under_the_fallback_tag(
        self, registry: RunningRegistry, real_http: RealHttp
    ) -> None:
        ours = client(registry.host, real_http)
        push_blobs(ours, "lab/demo", map(blob_of, BLOBS))
        manifest = image_manifest(*BLOBS)
        ours.put_manifest("lab/demo", "1.0.0", manifest, MediaType.MANIFEST)
        subject = described(manifest)
        attachments = [referring_manifest(subject, kind) for kind in ("test/one", "test/two")]
        for _ in range(2):
            assert attach_all(ours, "lab/demo", subject, attachments) == tuple(map(described, attachments))
        found = referrers(ours, "lab/demo", subject.digest)
        assert {(one.descriptor, one.artifact_type, one.annotations["about"]) for one in found} == {
            (described(attachments[0]), "test/one", "test/one"),
            (described(attachments[1]), "test/two", "test/two"),
        }
        assert ours.tags("lab/demo") == ("1.0.0", fallback_tag(subject.digest))

    def test_pages_of_tags_are_followed(self, registry: RunningRegistry, real_http: RealHttp) -> None:
        ours = client(registry.host, real_http)
        ours.push_blob("lab/demo", blob_of(b"{}"))
        wanted = sorted(f"v{number}" for number in range(1005))
        for tag in wanted[:3]:
            ours.put_manifest("lab/demo", tag, image_manifest(b"{}"), MediaType.MANIFEST)
        folder = next(registry.storage.rglob("_manifests/tags"))
        for tag in wanted[3:]:  # as the registry would make them, without a thousand requests
            (folder / tag).symlink_to(wanted[0])
        assert ours.tags("lab/demo") == tuple(wanted)

    def test_skopeo_reads_what_we_pushed_and_keeps_its_digest(
        self, registry: RunningRegistry, real_http: RealHttp, tmp_path: Path
    ) -> None:
        skopeo = require_tool("skopeo")
        ours = connect(registry.host, real_http)
        config = json.dumps(
            {"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": []}}
        )
        push_blobs(ours, "lab/demo", map(blob_of, (config.encode(), b"layer")))
        manifest = image_manifest(config.encode(), b"layer")
        ours.put_manifest("lab/demo", "1.0.0", manifest, MediaType.MANIFEST)
        target = tmp_path / "layout"
        places = [f"docker://{registry.host}/lab/demo:1.0.0", f"oci:{target}:1.0.0"]
        copied = subprocess.run(
            [str(skopeo), "copy", "--quiet", "--preserve-digests", "--src-tls-verify=false", *places],
            capture_output=True,
            text=True,
            check=False,
        )
        assert copied.returncode == 0, copied.stderr
        assert read_layout(target).manifest.digest == described(manifest).digest


@pytest.mark.slow
def test_memory_does_not_grow_with_a_blob(docker_registry: RunningRegistry, tmp_path: Path) -> None:
    with (tmp_path / "zeros").open("wb") as sparse:
        sparse.truncate(200 << 20)
    program = [sys.executable, "-c", PUSH_AND_PULL, docker_registry.host, str(tmp_path / "zeros")]
    result = subprocess.run(program, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert 0 < int(result.stdout) < 100 << 10, "kibibytes"


class TestPasswords:
    def test_a_login_opens_what_nobody_else_may_read(self, real_http: RealHttp, tmp_path: Path) -> None:
        auth = password_file(tmp_path / "registry", {"ann": SECRET})
        with serve_registry(tmp_path / "registry", auth=auth) as running:
            ours = client(running.host, real_http, login=Password("ann", SECRET))
            assert ours.push_blob("lab/demo", blob_of(b"blob")) is Outcome.UPLOADED
            for login in (None, Password("ann", "wrong guess"), IdentityToken("no password")):
                with pytest.raises(Unauthorized) as raised:
                    client(running.host, real_http, login=login).blob_size(
                        "lab/demo", blob_of(b"blob").descriptor.digest
                    )
                assert f"docker login {running.host}" in str(raised.value)
                assert "wrong guess" not in str(raised.value)

    def test_the_login_comes_from_dockers_configuration(
        self, real_http: RealHttp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        auth = password_file(tmp_path / "registry", {"ann": SECRET})
        with serve_registry(tmp_path / "registry", auth=auth) as running:
            monkeypatch.delenv("REGISTRY_AUTH_FILE", raising=False)
            monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
            encoded = "YW5uOmNvcnJlY3QgaG9yc2U="  # ann:correct horse
            configuration = {"auths": {running.host: {"auth": encoded}}}
            (tmp_path / "config.json").write_text(json.dumps(configuration))
            assert (
                connect(running.host, real_http).push_blob("lab/demo", blob_of(b"blob")) is Outcome.UPLOADED
            )


class TestTokens:
    def test_one_token_for_reading_and_writing_serves_a_whole_push(
        self, guarded: RunningRegistry, tokens: TokenServer, real_http: RealHttp
    ) -> None:
        ours = client(guarded.host, real_http, login=Password("ann", SECRET))
        assert push_blobs(ours, "lab/demo", map(blob_of, BLOBS)).uploaded == 4
        ours.put_manifest("lab/demo", "1.0.0", image_manifest(*BLOBS), MediaType.MANIFEST)
        assert ours.manifest("lab/demo", "1.0.0") is not None
        assert tokens.asked == [Asked("GET", "ann", ("repository:lab/demo:pull,push",))]

    def test_a_mount_gets_a_token_for_both_repositories(
        self, guarded: RunningRegistry, tokens: TokenServer, real_http: RealHttp
    ) -> None:
        ours = client(guarded.host, real_http, login=Password("ann", SECRET))
        ours.push_blob("lab/first", blob_of(b"blob"))
        blob = blob_of(b"blob", mount_from=("lab/first",))
        assert ours.push_blob("lab/second", blob) is Outcome.MOUNTED
        assert tokens.asked[-1].scopes == ("repository:lab/first:pull", "repository:lab/second:pull,push")

    def test_a_mount_from_what_may_not_be_read_becomes_an_upload(
        self, guarded: RunningRegistry, real_http: RealHttp
    ) -> None:
        ours = client(guarded.host, real_http, login=Password("ann", SECRET))
        blob = blob_of(b"blob", mount_from=("secret/repository",))
        assert ours.push_blob("lab/demo", blob) is Outcome.UPLOADED

    @pytest.mark.parametrize("knows_post", [True, False])
    def test_an_identity_token_is_exchanged(
        self, guarded: RunningRegistry, tokens: TokenServer, real_http: RealHttp, knows_post: bool
    ) -> None:
        tokens.knows_post = knows_post
        ours = client(guarded.host, real_http, login=IdentityToken("ann-refreshes"))
        assert ours.push_blob("lab/demo", blob_of(b"blob")) is Outcome.UPLOADED
        assert [asked.method for asked in tokens.asked] == ["POST" if knows_post else "GET"]

    def test_public_images_are_read_by_nobody_in_particular(
        self, guarded: RunningRegistry, tokens: TokenServer, real_http: RealHttp
    ) -> None:
        client(guarded.host, real_http, login=Password("ann", SECRET)).push_blob("lab/demo", blob_of(b"blob"))
        tokens.public["lab/demo"] = {"pull"}
        anybody = client(guarded.host, real_http)
        assert b"".join(anybody.blob_blocks("lab/demo", blob_of(b"blob").descriptor)) == b"blob"
        with pytest.raises(RegistryError, match="docker login") as raised:
            anybody.push_blob("lab/demo", blob_of(b"other"))
        assert "anonymously" in str(raised.value)

    def test_a_token_that_the_registry_finds_too_old_is_renewed(
        self, guarded: RunningRegistry, tokens: TokenServer, real_http: RealHttp
    ) -> None:
        tokens.valid_for = -90  # the registry forgives 60 s, and the client was told 300
        ours = client(guarded.host, real_http, login=Password("ann", SECRET))
        with pytest.raises(Unauthorized):
            ours.push_blob("lab/demo", blob_of(b"blob"))
        tokens.valid_for = 300
        assert ours.push_blob("lab/demo", blob_of(b"blob")) is Outcome.UPLOADED

    def test_a_wrong_password_is_told_without_the_password(
        self, guarded: RunningRegistry, real_http: RealHttp
    ) -> None:
        ours = client(guarded.host, real_http, login=Password("ann", "wrong guess"))
        with pytest.raises(Unauthorized, match="docker login") as raised:
            ours.push_blob("lab/demo", blob_of(b"blob"))
        assert "wrong guess" not in str(raised.value)
