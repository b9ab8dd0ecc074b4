"""`reprobridge publish` into Debian's docker-registry, and what readers' tools make of what stands there."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.lock.file import read_lock
from reprobridge.oci.layout import read_layout
from reprobridge.store.store import Store
from support.artifacts import MINIMAL, WINE, copy_of
from support.command import digest_of, reprobridge, succeed
from support.containerd import Containerd
from support.docker_registry import RunningRegistry, serve_registry
from support.engine import Engine
from support.require import require_tool

REPOSITORY = "papers/probable-error"
TASK = "deviation"


@dataclass(frozen=True)
class Ready:
    """An artifact that was built, validated and measured."""

    folder: Path
    """The artifact."""
    store: Path
    """Where it lies."""
    keys: Path
    """KEYS.key signs, KEYS.pub checks."""

    def publish(self, *words: str | Path, folder: Path | None = None) -> "subprocess.CompletedProcess[str]":
        """Run the command on it."""
        return reprobridge("publish", folder or self.folder, *words, store=self.store)

    @property
    def signed(self) -> tuple[str, Path]:
        """Words that sign."""
        return "--key", self.keys.with_suffix(".key")


def make_ready(artifact: Path, store: Path, *tasks: str) -> None:
    """Build, validate and measure."""
    succeed(reprobridge("build", artifact, store=store))
    succeed(reprobridge("validate", artifact, store=store))
    succeed(reprobridge("run", artifact, *(tasks or ("--all",)), "--out", store / "out", store=store))


@pytest.fixture(scope="module")
def ready(vendored: Path, module_folder: Path) -> Ready:
    """The smallest artifact; tests that change the store take another one."""
    made = Ready(copy_of(MINIMAL, module_folder), module_folder / "store", module_folder / "author")
    make_ready(made.folder, made.store)
    succeed(
        reprobridge("keygen", "-o", made.keys, store=made.store, environment={"REPROBRIDGE_KEY_PASSWORD": ""})
    )
    return made


@pytest.fixture(scope="module")
def registry(module_folder: Path) -> Iterator[RunningRegistry]:
    """One registry for all tests of this module; each uses repositories of its own."""
    with serve_registry(module_folder / "registry") as running:
        yield running


@pytest.fixture(scope="module")
def published(ready: Ready, registry: RunningRegistry) -> str:
    """The artifact's name in the registry, published once."""
    name = f"{registry.host}/{REPOSITORY}"
    printed = succeed(ready.publish(name, *ready.signed, "--also-tag", "latest"))
    assert printed.strip() == f"{name}:1.0.0@{golden(ready)}"
    return name


def golden(ready: Ready) -> str:
    return digest_of(reprobridge("build", ready.folder, store=ready.store))


def writes(registry: RunningRegistry, since: int = 0) -> list[str]:
    """The requests that change something."""
    return [line for line in registry.requests()[since:] if not line.startswith(("GET", "HEAD"))]


class TestPublishing:
    def test_readers_are_told_what_to_type(self, ready: Ready, published: str) -> None:
        done = ready.publish(published, *ready.signed)
        assert f"docker run --rm --network none {published}:1.0.0 run {TASK}" in done.stderr

    def test_publishing_again_changes_nothing_and_asks_for_no_blob(
        self, ready: Ready, published: str, registry: RunningRegistry
    ) -> None:
        before = len(registry.requests())
        succeed(ready.publish(published, *ready.signed, "--also-tag", "latest"))
        assert writes(registry, before) == []
        assert not [line for line in registry.requests()[before:] if line.startswith("HEAD")]

    def test_a_dry_run_says_what_would_move_and_changes_nothing(
        self, ready: Ready, registry: RunningRegistry
    ) -> None:
        before = len(registry.requests())
        done = ready.publish(f"{registry.host}/papers/dry", *ready.signed, "--dry-run", "--json")
        plan = json.loads(succeed(done))
        assert writes(registry, before) == []
        assert plan["bytes"] == sum(blob["size"] for blob in plan["move"]) > 40_000_000
        assert (plan["tag"], len(plan["attach"])) == (["1.0.0"], 6)

    def test_another_repository_of_the_registry_takes_layers_by_mounting(
        self, ready: Ready, published: str, registry: RunningRegistry
    ) -> None:
        done = ready.publish(f"{registry.host}/papers/mounted", "--json")
        moved = json.loads(succeed(done))
        assert (moved["uploaded"], moved["bytes"]) == (0, 0)
        assert moved["mounted"] == 8

    def test_layers_are_mounted_from_a_repository_that_the_user_names(
        self, ready: Ready, published: str, registry: RunningRegistry, tmp_path: Path
    ) -> None:
        layout = tmp_path / "layout"
        succeed(ready.publish(f"oci:{layout}"))
        report = tmp_path / "report.json"
        report.write_text(succeed(reprobridge("validate", ready.folder, "--json", store=ready.store)))
        done = reprobridge(
            "publish",
            f"oci:{layout}:1.0.0",
            f"{registry.host}/papers/named",
            *("--report", report, "--evidence", ready.store / "out", "--mount-from", REPOSITORY, "--json"),
            store=tmp_path / "store",
        )
        moved = json.loads(succeed(done))
        assert (moved["uploaded"], moved["mounted"]) == (0, 8)

    def test_from_a_layout_on_another_machine_with_the_proof_that_it_carries(
        self, ready: Ready, registry: RunningRegistry, tmp_path: Path
    ) -> None:
        layout = f"oci:{tmp_path / 'stick'}"
        succeed(ready.publish(layout, *ready.signed))
        words = ("publish", f"{layout}:1.0.0", f"{registry.host}/papers/carried", *ready.signed)
        without = reprobridge(*words, store=tmp_path / "store")
        assert without.returncode == 11
        done = reprobridge(*words, "--proof-from", layout, "--json", store=tmp_path / "store")
        assert json.loads(succeed(done))["digest"] == golden(ready)

    def test_cosigns_tag_is_set_once_where_it_is_asked_for(
        self, ready: Ready, registry: RunningRegistry
    ) -> None:
        name = f"{registry.host}/papers/cosign"
        for _ in range(2):
            succeed(ready.publish(name, *ready.signed, "--cosign-tag"))
        tag = f"papers/cosign/manifests/sha256-{golden(ready).removeprefix('sha256:')}.sig"
        assert len([line for line in writes(registry) if tag in line]) == 1

    def test_without_a_key_nothing_is_attached_and_that_is_said(
        self, ready: Ready, registry: RunningRegistry
    ) -> None:
        done = ready.publish(f"{registry.host}/papers/unsigned")
        succeed(done)
        assert "note: not signed" in done.stderr
        assert not [line for line in registry.requests() if "papers/unsigned/manifests/sha256-" in line]


class TestReaders:
    def test_docker_pulls_and_runs_a_task_without_network(
        self, published: str, docker_engine: Engine
    ) -> None:
        docker_engine.docker("pull", f"{published}:1.0.0")
        ran = docker_engine.docker(
            "run", "--rm", "--network", "none", f"{published}:1.0.0", "run", TASK, "--json"
        )
        (result,) = json.loads(ran.stdout)["results"]
        assert (result["mode"], result["compatible"]) == ("scored", True)

    def test_containerd_pulls_and_unpacks(
        self, ready: Ready, published: str, containerd: Containerd, tmp_path: Path
    ) -> None:
        image = f"{published}:1.0.0"
        containerd.ctr("images", "pull", "--plain-http", "--snapshotter", "native", image)
        assert golden(ready) in containerd.ctr("images", "ls", f"name=={image}")
        containerd.ctr("images", "mount", "--snapshotter", "native", image, tmp_path)
        try:
            assert (tmp_path / "rra" / "manifest.json").is_file()
        finally:
            containerd.ctr("images", "unmount", tmp_path)

    def test_podman_pulls(self, published: str) -> None:
        podman = require_tool("podman")
        with tempfile.TemporaryDirectory(prefix="rb-") as short:  # podman takes at most 50 characters
            roots = ("--root", f"{short}/root", "--runroot", f"{short}/run", "--storage-driver=vfs")
            pulled = subprocess.run(
                [podman, *roots, "pull", "--quiet", "--tls-verify=false", f"{published}:1.0.0"],
                capture_output=True,
                text=True,
                check=False,
            )
        assert pulled.returncode == 0, pulled.stderr

    def test_skopeo_copies_and_digests_stay(self, ready: Ready, published: str, tmp_path: Path) -> None:
        skopeo = require_tool("skopeo")
        target = f"oci:{tmp_path / 'copy'}:1.0.0"
        copied = subprocess.run(
            [
                skopeo,
                "copy",
                "--preserve-digests",
                "--src-tls-verify=false",
                f"docker://{published}:1.0.0",
                target,
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert copied.returncode == 0, copied.stderr
        assert str(read_layout(tmp_path / "copy").manifest.digest) == golden(ready)

    def test_umoci_unpacks_a_published_layout(self, ready: Ready, tmp_path: Path) -> None:
        umoci = require_tool("umoci")
        succeed(ready.publish(f"oci:{tmp_path / 'layout'}", *ready.signed))
        unpacked = subprocess.run(
            [
                umoci,
                "unpack",
                "--rootless",
                "--image",
                f"{tmp_path / 'layout'}:1.0.0",
                str(tmp_path / "bundle"),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert unpacked.returncode == 0, unpacked.stderr
        assert (tmp_path / "bundle" / "rootfs" / "rra" / "manifest.json").is_file()


class TestRefusals:
    """What is not published, and why; the registry hears of none of it."""

    @pytest.fixture(autouse=True)
    def nothing_is_written(self, registry: RunningRegistry) -> Iterator[None]:
        before = len(registry.requests())
        yield
        assert writes(registry, before) == []

    def refused(self, done: "subprocess.CompletedProcess[str]") -> str:
        assert done.returncode == 11, done.stderr
        assert done.stdout == ""
        return done.stderr

    def test_before_validate(self, ready: Ready, registry: RunningRegistry, tmp_path: Path) -> None:
        succeed(reprobridge("build", ready.folder, store=tmp_path / "store"))
        done = reprobridge("publish", ready.folder, f"{registry.host}/papers/no", store=tmp_path / "store")
        said = self.refused(done)
        assert "found no report" in said
        assert f"tasks.{TASK}: expected scored evidence" in said

    def test_after_one_byte_of_the_source_changed(
        self, ready: Ready, registry: RunningRegistry, tmp_path: Path
    ) -> None:
        changed = copy_of(ready.folder, tmp_path)
        (code,) = (changed / "src").glob("*.py")
        code.write_bytes(code.read_bytes() + b"\n")
        stale = ready.publish(f"{registry.host}/papers/no", folder=changed)
        assert (stale.returncode, stale.stdout) == (3, "")
        succeed(reprobridge("lock", changed, store=ready.store))
        said = self.refused(ready.publish(f"{registry.host}/papers/no", folder=changed))
        assert "found no report" in said
        assert "none from this code and lock" in said

    def test_with_a_report_for_another_digest_or_without_a_check(
        self, ready: Ready, registry: RunningRegistry, tmp_path: Path
    ) -> None:
        report = json.loads(succeed(reprobridge("validate", ready.folder, "--json", store=ready.store)))
        other = f"sha256:{'0' * 64}"
        lacking = [item for item in report["checks"] if item["check"] != "python.imports"]
        for changes, said in (
            ({"image": other}, f"found a report for {other}"),
            ({"checks": lacking}, "found a report without python.imports"),
        ):
            path = tmp_path / "report.json"
            path.write_text(json.dumps({**report, **changes}))
            assert said in self.refused(ready.publish(f"{registry.host}/papers/no", "--report", path))

    def test_a_version_that_is_published_with_another_digest(
        self, ready: Ready, published: str, tmp_path: Path
    ) -> None:
        changed = copy_of(ready.folder, tmp_path)
        (changed / "GUIDE.md").write_text((changed / "GUIDE.md").read_text() + "\nMore.\n")
        succeed(reprobridge("validate", changed, store=ready.store))
        said = self.refused(ready.publish(published, folder=changed))
        assert "published already, with another digest" in said

    def test_a_folder_that_does_not_exist_is_not_taken_for_a_target(self, ready: Ready) -> None:
        done = ready.publish("examples/none")
        assert done.returncode == 2
        assert "no registry's host" in done.stderr


class TestKnownLayers:
    @pytest.fixture
    def fresh(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """An empty store, on a machine that can fetch no package."""
        monkeypatch.delenv("REPROBRIDGE_VENDOR")
        monkeypatch.setenv("REPROBRIDGE_DEBIAN_MIRROR", "http://127.0.0.1:9")
        return tmp_path / "store"

    def build(
        self, ready: Ready, published: str, store: Path, *words: str
    ) -> "subprocess.CompletedProcess[str]":
        known = ("--known", published, "--known-key", ready.keys.with_suffix(".pub"))
        return reprobridge("build", ready.folder, *known, *words, store=store)

    def test_an_image_is_built_and_published_without_its_packages(
        self, ready: Ready, published: str, registry: RunningRegistry, fresh: Path
    ) -> None:
        built = self.build(ready, published, fresh)
        assert digest_of(built) == golden(ready)
        store = Store(fresh)
        debian = read_lock(ready.folder / "reprobridge.lock").platforms["linux/amd64"].debian
        assert not [deb.name for deb in debian.base if store.has(deb.sha256)]
        before = len(registry.requests())
        done = reprobridge(
            "publish",
            ready.folder,
            f"{registry.host}/papers/known",
            *("--proof-from", published, *ready.signed, "--json"),
            store=fresh,
        )
        moved = json.loads(succeed(done))
        assert (moved["uploaded"], moved["mounted"]) == (7, 8)  # what is attached is signed anew
        assert moved["bytes"] < 500_000
        layers = read_layout_layers(ready, fresh)
        fetched = [
            line for line in registry.requests()[before:] if line.startswith("GET") and "/blobs/" in line
        ]
        assert not [line for line in fetched if any(str(layer) in line for layer in layers)]

    def test_a_list_that_another_key_signed_is_refused(
        self, ready: Ready, published: str, fresh: Path, tmp_path: Path
    ) -> None:
        other = tmp_path / "other"
        succeed(reprobridge("keygen", "-o", other, store=fresh, environment={"REPROBRIDGE_KEY_PASSWORD": ""}))
        done = reprobridge(
            "build",
            ready.folder,
            *("--known", published, "--known-key", other.with_suffix(".pub")),
            store=fresh,
        )
        assert done.returncode == 12
        assert "a signature of another key" in done.stderr

    def test_known_layers_are_made_again_and_compared(
        self, ready: Ready, published: str, vendored: Path, tmp_path: Path
    ) -> None:
        built = self.build(ready, published, tmp_path / "store", "--recompute")
        assert digest_of(built) == golden(ready)


def read_layout_layers(ready: Ready, store: Path) -> list[Digest]:
    """The layers whose bytes are not in the store."""
    held = Store(store)
    manifest = json.loads(held.read(Digest.parse(golden(ready))))
    digests = [Digest.parse(layer["digest"]) for layer in manifest["layers"]]
    return [digest for digest in digests if not held.has(digest)]


class TestSecondPaper:
    def test_it_mounts_what_the_first_has_and_says_which_tasks_nobody_measured(
        self, ready: Ready, published: str, registry: RunningRegistry, tmp_path: Path
    ) -> None:
        wine = copy_of(WINE, tmp_path)
        make_ready(wine, ready.store, "lda")
        name = f"{registry.host}/reprobridge/wine-classifiers"
        said = ready.publish(name, *ready.signed, folder=wine)
        assert said.returncode == 11
        assert "tasks.lda" not in said.stderr
        words = (name, *ready.signed, "--accept-unmeasured")
        first = json.loads(succeed(ready.publish(*words, "--json", folder=wine)))
        assert first["mounted"] >= 2
        before = len(registry.requests())
        succeed(ready.publish(*words, folder=wine))
        assert writes(registry, before) == []
