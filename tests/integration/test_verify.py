"""A published image verified by its readers: right key, another key, a changed manifest, a missing attestation."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.oci.model import MediaType
from reprobridge.registry.connect import connect
from reprobridge.system.http import RealHttp
from support.artifacts import MINIMAL, golden_digest
from support.command import reprobridge, succeed
from support.docker_registry import RunningRegistry, serve_registry

pytestmark = [pytest.mark.slow, pytest.mark.network]

REPOSITORY = "authors/paper"


@dataclass(frozen=True)
class Published:
    """An image that its authors published to a registry and into a layout, signed with their key."""

    registry: RunningRegistry
    folder: Path

    @property
    def name(self) -> str:
        return f"{self.registry.host}/{REPOSITORY}:1.0.0"

    @property
    def key(self) -> Path:
        return self.folder / "authors.pub"

    @property
    def other_key(self) -> Path:
        return self.folder / "other.pub"

    @property
    def layout(self) -> Path:
        return self.folder / "layout"


@pytest.fixture(scope="module")
def published(vendored: Path, module_folder: Path) -> Iterator[Published]:
    del vendored
    store = module_folder / "author"
    for key in ("authors", "other"):
        password = {"REPROBRIDGE_KEY_PASSWORD": ""}
        succeed(reprobridge("keygen", "--output", module_folder / key, store=store, environment=password))
    succeed(reprobridge("validate", MINIMAL, store=store))
    with serve_registry(module_folder / "registry") as registry:
        for target in (f"{registry.host}/{REPOSITORY}", f"oci:{module_folder}/layout"):
            words = ("--key", module_folder / "authors.key", "--accept-unmeasured")
            succeed(reprobridge("publish", MINIMAL, target, *words, store=store))
        yield Published(registry, module_folder)


def answers(text: str) -> dict[str, str]:
    """The first word of each line by its second: what was asked, and whether it holds."""
    return {words[1]: words[0] for line in text.splitlines()[1:] if len(words := line.split()) > 1}


def test_the_right_key_holds_and_no_big_layer_is_fetched(published: Published, tmp_path: Path) -> None:
    said = succeed(reprobridge("verify", published.name, "--key", published.key, store=tmp_path))
    assert said.startswith(f"{published.name}@{golden_digest(MINIMAL)}\n")
    assert answers(said) == dict.fromkeys(
        ("manifest", "contents", "signature", "provenance", "sbom", "validation"), "holds"
    )
    assert sum(path.stat().st_size for path in (tmp_path / "blobs").rglob("*") if path.is_file()) < 1 << 20


def test_every_layer_is_fetched_when_asked_for(published: Published, tmp_path: Path) -> None:
    words = ("--key", published.key, "--all", "--json", "--require", "signature", "measurements")
    value = json.loads(succeed(reprobridge("verify", published.name, *words, store=tmp_path)))
    assert value["held"]
    assert [point["name"] for point in value["points"]] == [
        "manifest",
        "layers",
        "contents",
        "signature",
        "measurements",
    ]


def test_another_key_ends_in_twelve_and_says_so(published: Published, tmp_path: Path) -> None:
    done = reprobridge("verify", published.name, "--key", published.other_key, store=tmp_path)
    assert done.returncode == 12
    assert answers(done.stdout)["signature"] == "FAILS"
    assert answers(done.stdout)["manifest"] == "holds"
    assert "a signature of another key" in done.stdout


def test_a_missing_attestation_is_named(published: Published, tmp_path: Path) -> None:
    words = ("--key", published.key, "--require", "signature", "https://example.org/review/v1")
    done = reprobridge("verify", published.name, *words, store=tmp_path)
    assert done.returncode == 12
    assert answers(done.stdout)["signature"] == "holds"
    assert "missing: no attestation of type https://example.org/review/v1" in done.stdout


def test_a_tag_that_was_moved_to_a_changed_manifest_fails(published: Published, tmp_path: Path) -> None:
    """The attacker has the registry, and pushes everything but what only the authors' key can make."""
    http = RealHttp()
    registry = connect(published.registry.host, http)
    original = registry.manifest(REPOSITORY, "1.0.0")
    assert original is not None
    changed = json.loads(original.data)
    changed["annotations"]["org.opencontainers.image.title"] = "Another paper"
    data = json.dumps(changed).encode()
    registry.put_manifest(REPOSITORY, "moved", data, MediaType.MANIFEST)
    listed = registry.manifest(REPOSITORY, f"sha256-{original.digest.hex}")
    assert listed is not None
    fallback = f"sha256-{Digest.of(data).hex}"
    moved = f"{published.registry.host}/{REPOSITORY}:moved"

    done = reprobridge("verify", moved, "--key", published.key, store=tmp_path / "1")
    assert done.returncode == 12
    assert "missing: no attestation" in done.stdout
    assert str(Digest.of(data)) in done.stdout

    registry.put_manifest(REPOSITORY, fallback, listed.data, listed.media_type)
    done = reprobridge("verify", moved, "--key", published.key, store=tmp_path / "2")
    http.close()
    assert done.returncode == 12
    assert answers(done.stdout)["signature"] == "FAILS"
    assert "the statement is about something else" in done.stdout
    assert golden_digest(MINIMAL) in done.stdout


def test_a_layout_is_verified_without_network(published: Published, tmp_path: Path) -> None:
    words = (f"oci:{published.layout}:1.0.0", "--offline", "--key", published.key, "--all")
    assert set(answers(succeed(reprobridge("verify", *words, store=tmp_path))).values()) == {"holds"}


@pytest.mark.parametrize("title", ["manifest", "layer"])
def test_changed_bytes_of_a_layout_fail(title: str, published: Published, tmp_path: Path) -> None:
    layout = tmp_path / "layout"
    shutil.copytree(published.layout, layout)
    manifest = layout / "blobs" / "sha256" / golden_digest(MINIMAL)[7:]
    layer = json.loads(manifest.read_bytes())["layers"][0]["digest"]
    path = manifest if title == "manifest" else layout / "blobs" / "sha256" / layer[7:]
    data = path.read_bytes()
    path.write_bytes(data.replace(b"Apache-2.0", b"Apache-2.1") if title == "manifest" else data[:-1] + b"x")
    words = ("--offline", "--key", published.key, "--all")
    done = reprobridge("verify", f"oci:{layout}:1.0.0", *words, store=tmp_path / "store")
    assert done.returncode == 12
    failed = [name for name, answer in answers(done.stdout).items() if answer == "FAILS"]
    assert ("manifest" if title == "manifest" else "layers") in failed
    assert "damaged" in done.stdout


def test_bundles_in_files_count_for_an_image_of_the_store(published: Published, tmp_path: Path) -> None:
    store = published.folder / "author"
    blobs = [
        path for path in (published.layout / "blobs" / "sha256").iterdir() if path.stat().st_size < 1 << 20
    ]
    bundles = [path for path in blobs if b"dsseEnvelope" in path.read_bytes()]
    name = f"reprobridge/probable-error@{golden_digest(MINIMAL)}"
    alone = reprobridge("verify", name, "--offline", "--key", published.key, store=store)
    assert alone.returncode == 12
    words: tuple[str | Path, ...] = ("--offline", "--key", published.key, "--bundle", *bundles)
    assert set(answers(succeed(reprobridge("verify", name, *words, store=store))).values()) == {"holds"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [(), ("--identity", "x"), ("--issuer", "x"), ("--key", "k", "--identity", "x", "--issuer", "y")],
    ids=["nobody", "identity without issuer", "issuer without identity", "both"],
)
def test_whom_to_trust_must_be_said(words: tuple[str, ...], published: Published, tmp_path: Path) -> None:
    done = reprobridge("verify", published.name, *words, store=tmp_path)
    assert done.returncode == 2
    assert "whose signature counts must be said" in done.stderr
