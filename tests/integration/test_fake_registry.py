"""The fake registry is a registry for others, too: skopeo pushes to it and pulls from it."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.registry.access import Access, Users
from fakes.registry.content import MANIFEST, sha256
from fakes.registry.options import Options
from fakes.registry.server import FakeRegistry
from support.require import require_tool

NAME = "lab/paper"
LAYER = b"layer" * 100_000
CONFIG = b'{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[]}}'
USERS = Users()
KINDS = {
    "open": (Options(), None),
    "other-habits": (
        Options(absolute_locations=True, state_in_location=False, mounts=False, referrers=False),
        None,
    ),
    "token": (Options(), True),
    "basic": (Options(), False),
}


@pytest.fixture(params=KINDS.values(), ids=list(KINDS))
def registry(request: pytest.FixtureRequest) -> Iterator[FakeRegistry]:
    options, tokens = request.param
    access = None if tokens is None else Access(USERS, tokens=tokens)
    with FakeRegistry(options, access=access) as server:
        yield server


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    """An OCI layout with one image, 1.0.0."""
    blobs = tmp_path / "layout/blobs/sha256"
    blobs.mkdir(parents=True)

    def keep(data: bytes, media_type: str) -> dict[str, object]:
        digest = sha256(data)
        (blobs / digest.removeprefix("sha256:")).write_bytes(data)
        return {"mediaType": media_type, "digest": digest, "size": len(data)}

    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": keep(CONFIG, "application/vnd.oci.image.config.v1+json"),
        "layers": [keep(LAYER, "application/vnd.oci.image.layer.v1.tar")],
    }
    entry = keep(json.dumps(manifest, indent=3).encode(), MANIFEST)
    entry["annotations"] = {"org.opencontainers.image.ref.name": "1.0.0"}
    (tmp_path / "layout/oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')
    (tmp_path / "layout/index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [entry]}))
    return tmp_path / "layout"


def skopeo(command: str, *words: object) -> str:
    require_tool("skopeo")
    whole = ["skopeo", "--insecure-policy", command, *map(str, words)]
    done = subprocess.run(whole, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_skopeo_copies_an_image_there_and_back_with_its_digests(
    registry: FakeRegistry, layout: Path, tmp_path: Path
) -> None:
    there = f"docker://{registry.host}/{NAME}:1.0.0"
    login = ("author:secret",)
    skopeo("copy", "--preserve-digests", "--dest-tls-verify=false", "--dest-creds", *login,
           f"oci:{layout}:1.0.0", there)  # fmt: skip
    pushed = json.loads((layout / "index.json").read_text())["manifests"][0]["digest"]
    assert registry.content.repositories[NAME].tags == {"1.0.0": pushed}
    assert registry.content.blobs == {sha256(LAYER): LAYER, sha256(CONFIG): CONFIG}
    skopeo("copy", "--preserve-digests", "--src-tls-verify=false", "--src-creds", *login,
           there, f"oci:{tmp_path / 'back'}:1.0.0")  # fmt: skip
    for blob in (layout / "blobs/sha256").iterdir():
        assert (tmp_path / "back/blobs/sha256" / blob.name).read_bytes() == blob.read_bytes()
    tags = skopeo("list-tags", "--tls-verify=false", "--creds", *login, f"docker://{registry.host}/{NAME}")
    assert json.loads(tags)["Tags"] == ["1.0.0"]
