"""Built images in real engines and tools: what we write, they take, and it runs."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from reprobridge.cli.doors import Doors
from reprobridge.cli.images import open_image
from reprobridge.sandbox.bubblewrap import BubblewrapSandbox
from reprobridge.sandbox.model import STRANGER
from reprobridge.validate.shell import ANY_USER, CleanShell
from reprobridge.validate.subject import open_subject
from support.artifacts import MINIMAL, WINE, copy_of, golden_digest
from support.command import digest_of, reprobridge, succeed
from support.containerd import Containerd
from support.engine import Engine
from support.require import require_tool

pytestmark = [pytest.mark.slow, pytest.mark.network]


@pytest.fixture(scope="module")
def store(vendored: Path, module_folder: Path) -> Path:
    """One store for the module: what is built once is not built again."""
    assert vendored.is_dir()
    return module_folder / "store"


def run(*argv: str | Path, cwd: Path | None = None) -> str:
    """Standard output of another tool that must succeed."""
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded(artifact: Path, store: Path, engine: Engine, folder: Path) -> str:
    """The artifact's image in the engine, by an archive; gives its name, which is this test's own."""
    archive = folder / "image.tar"
    succeed(
        reprobridge(
            "build", artifact, "-o", f"docker-archive:{archive}", "--relock", "--offline", store=store
        )
    )
    name = engine.docker("load", "-i", str(archive)).stdout.strip().rpartition(" ")[2]
    mine = f"{name}-{os.getpid()}-{folder.name.lower()}"
    engine.docker("tag", name, mine)
    return mine


def test_docker_runs_a_task_of_the_worked_paper(store: Path, docker_engine: Engine, tmp_path: Path) -> None:
    image = loaded(WINE, store, docker_engine, tmp_path)
    shown = docker_engine.docker("run", "--rm", "--network", "none", image, "run", "lda", "--json").stdout
    result = json.loads(shown)["results"][0]
    assert result["value"] == pytest.approx(98.8764)
    assert result["published"] == 98.9
    assert result["compatible"] is True
    low, high = result["interval"]
    assert low <= result["value"] <= high


def test_any_uid_and_a_read_only_root_do(store: Path, docker_engine: Engine, tmp_path: Path) -> None:
    image = loaded(WINE, store, docker_engine, tmp_path)
    flags = (
        "--user",
        "12345:12345",
        "--read-only",
        "--tmpfs",
        "/tmp",
        "--tmpfs",
        "/out",
        "--network",
        "none",
    )
    shown = docker_engine.docker("run", "--rm", *flags, image, "run", "lda", "--json").stdout
    assert json.loads(shown)["results"][0]["compatible"] is True


def test_the_value_follows_the_shipped_code(store: Path, docker_engine: Engine, tmp_path: Path) -> None:
    artifact = copy_of(WINE, tmp_path)
    script = artifact / "src" / "run.py"
    text = script.read_text()
    printed = "accuracy: {"
    assert printed in text
    script.write_text(text.replace(printed, "accuracy: 1{"))
    image = loaded(artifact, store, docker_engine, tmp_path)
    shown = docker_engine.docker("run", "--rm", "--network", "none", image, "run", "lda", "--json").stdout
    result = json.loads(shown)["results"][0]
    assert result["value"] == pytest.approx(198.8764)
    assert result["compatible"] is False


FOUND = "command -v python; command -v rra; echo $PATH; cd /rra/code && ls"
"""What tells a shell with the image's PATH from others."""


def test_a_login_shell_finds_what_every_shell_finds(store: Path) -> None:
    image = succeed(reprobridge("build", MINIMAL, "--relock", "--offline", store=store)).strip()
    doors = Doors(store_root=store, offline=True, quiet=True)
    subject = open_subject(open_image(image, doors), doors.store)
    sandbox = BubblewrapSandbox(doors.store, doors.processes, as_root=os.geteuid() == 0)
    for user in (STRANGER, ANY_USER):
        usual, *logins = (
            CleanShell(subject, sandbox).run((shell, flags, FOUND), user=user, more={"HOME": "/tmp"})
            for shell, flags in (("bash", "-c"), ("bash", "-lc"), ("sh", "-lc"))
        )
        assert usual.stdout.decode().splitlines()[:2] == ["/opt/env/bin/python", "/rra/bin/rra"]
        assert [(login.returncode, login.stdout) for login in logins] == [(0, usual.stdout)] * 2


def test_a_login_shell_in_docker_finds_the_environment(
    store: Path, docker_engine: Engine, tmp_path: Path
) -> None:
    image = loaded(MINIMAL, store, docker_engine, tmp_path)
    words = ("run", "--rm", "--network", "none", "--entrypoint", "bash", image, "-lc", FOUND)
    found = docker_engine.docker(*words).stdout.splitlines()
    assert found[:2] == ["/opt/env/bin/python", "/rra/bin/rra"]


def test_a_task_in_docker_reads_nothing_and_a_shell_what_is_piped(
    store: Path, docker_engine: Engine, tmp_path: Path
) -> None:
    artifact = copy_of(MINIMAL, tmp_path)
    script = artifact / "src" / "run.py"
    script.write_text("import sys\nprint('read', [sys.stdin.read()])\n" + script.read_text())
    image = loaded(artifact, store, docker_engine, tmp_path)
    words = ["docker", "run", "--rm", "--interactive", "--network", "none", image]

    def shown(*more: str) -> str:
        piped = subprocess.run(
            [*words, *more],
            env=docker_engine.environment,
            input="typed",
            text=True,
            check=True,
            capture_output=True,
        )
        return piped.stdout

    assert "read ['']" in shown("run", "deviation")
    assert shown("shell", "--", "cat") == "typed"


def test_docker_takes_the_image_through_a_pipe(store: Path, docker_engine: Engine) -> None:
    done = reprobridge(
        "build", MINIMAL, "-o", "docker:", store=store, environment=dict(docker_engine.environment)
    )
    assert digest_of(done) == golden_digest(MINIMAL)
    assert "Loaded image" in done.stderr


def test_skopeo_reads_the_layout_and_keeps_its_digest(store: Path, tmp_path: Path) -> None:
    skopeo = require_tool("skopeo")
    done = reprobridge("build", MINIMAL, "-o", f"oci:{tmp_path / 'layout'}", store=store)
    shown = run(skopeo, "inspect", f"oci:{tmp_path / 'layout'}:1.0.0")
    assert json.loads(shown)["Digest"] == digest_of(done)
    run(
        skopeo,
        "copy",
        "--insecure-policy",
        "--preserve-digests",
        "oci:layout:1.0.0",
        "dir:copied",
        cwd=tmp_path,
    )


def test_umoci_unpacks_the_layout_into_the_files_that_the_inventory_lists(
    store: Path, tmp_path: Path
) -> None:
    umoci = require_tool("umoci")
    succeed(reprobridge("build", MINIMAL, "-o", f"oci:{tmp_path / 'layout'}", store=store))
    run(umoci, "unpack", "--rootless", "--image", f"{tmp_path / 'layout'}:1.0.0", tmp_path / "bundle")
    root = tmp_path / "bundle" / "rootfs"
    listed = (root / "rra" / "inventory").read_text().splitlines()[1:]
    assert listed
    for line in listed:
        assert os.path.lexists(root / line.split(" ", 2)[2].lstrip("/"))


def test_podman_takes_the_hybrid_archive(store: Path, tmp_path: Path) -> None:
    podman = require_tool("podman")
    archive = tmp_path / "image.tar"
    succeed(reprobridge("build", MINIMAL, "-o", f"docker-archive:{archive}", store=store))
    with tempfile.TemporaryDirectory(prefix="rb-") as short:  # podman takes at most 50 characters
        where = ("--root", tmp_path / "root", "--runroot", short, "--storage-driver", "vfs")
        assert "Loaded image" in run(podman, *where, "load", "-i", archive)


def test_containerd_takes_the_hybrid_archive(store: Path, tmp_path: Path, containerd: Containerd) -> None:
    archive = tmp_path / "image.tar"
    digest = digest_of(reprobridge("build", MINIMAL, "--output", f"docker-archive:{archive}", store=store))
    containerd.ctr("images", "import", "--snapshotter", "native", archive)
    assert digest in containerd.ctr("images", "ls")


def test_an_oci_archive_is_the_layout_as_a_tar(store: Path, tmp_path: Path) -> None:
    archive = tmp_path / "image.tar"
    done = reprobridge("build", MINIMAL, "-o", f"oci-archive:{archive}", store=store)
    shown = run(require_tool("skopeo"), "inspect", f"oci-archive:{archive}:1.0.0")
    assert json.loads(shown)["Digest"] == digest_of(done)


def test_a_layout_shares_its_blobs_with_the_store_where_the_file_system_allows(
    store: Path, tmp_path: Path
) -> None:
    done = reprobridge("build", MINIMAL, "-o", f"oci:{tmp_path / 'layout'}", store=store)
    name = digest_of(done).partition(":")[2]
    here, there = tmp_path / "layout/blobs/sha256" / name, store / "blobs" / name[:2] / name
    assert here.samefile(there) or here.read_bytes() == there.read_bytes()


@pytest.mark.parametrize("output", ["docker-archive:image.tar", "oci:layout"])
@pytest.mark.usefixtures("vendored")
def test_a_damaged_layer_is_noticed_removed_and_made_again(output: str, tmp_path: Path) -> None:
    store, kind, name = tmp_path / "store", *output.split(":")
    words = ("build", MINIMAL, "-o", f"{kind}:{tmp_path / name}")
    built = digest_of(reprobridge("build", MINIMAL, store=store))
    manifest = json.loads((store / "blobs" / built[7:9] / built[7:]).read_bytes())
    layer = manifest["layers"][0]["digest"].partition(":")[2]
    blob = store / "blobs" / layer[:2] / layer
    blob.write_bytes(blob.read_bytes()[:-1] + b"x")
    refused = reprobridge(*words, store=store)
    assert refused.returncode == 7
    assert f"{blob}: a damaged object was removed" in refused.stderr
    assert not (tmp_path / name).exists()
    assert digest_of(reprobridge(*words, store=store)) == built
