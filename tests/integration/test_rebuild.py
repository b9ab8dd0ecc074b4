"""Images made again from what they hold: equal digests from an empty store, and every difference named."""

import json
import subprocess
from pathlib import Path

import pytest

from support.artifacts import MINIMAL, PYGAM, copy_of, golden_digest
from support.command import digest_of, reprobridge, succeed
from support.docker_registry import RunningRegistry
from support.git_repository import GitRepository
from support.require import require_tool
from support.tampering import tampered

pytestmark = [pytest.mark.slow, pytest.mark.network]

PATCH = """\
--- a/run.py
+++ b/run.py
@@ -1,1 +1,2 @@
+# refined
 {first}
"""
CHANGE = """\
changes:
  - {id: C1, patch: patches/0001.patch, class: convenience, why: Says that it is refined., affects_numbers: no}
environment:
"""


def built(artifact: Path, author: Path, layout: Path) -> Path:
    """The artifact's image as a layout."""
    succeed(reprobridge("build", artifact, "--output", f"oci:{layout}", store=author))
    return layout


@pytest.fixture(scope="module")
def author(module_folder: Path) -> Path:
    """The store of all authors: who rebuilds has another one, which is empty."""
    return module_folder / "author"


@pytest.fixture(scope="module")
def minimal(vendored: Path, author: Path, module_folder: Path) -> Path:
    """The smallest artifact's image as a layout."""
    del vendored
    return built(MINIMAL, author, module_folder / "layout")


def pushed(layout: Path, registry: RunningRegistry) -> str:
    """The layout's image in a registry."""
    name = f"{registry.host}/authors/paper:1.0.0"
    skopeo = [str(require_tool("skopeo")), "--insecure-policy", "copy", "--quiet", "--preserve-digests"]
    source, target = f"oci:{layout}:1.0.0", f"docker://{name}"
    subprocess.run([*skopeo, "--dest-tls-verify=false", source, target], check=True)
    registry.log.write_bytes(b"")
    return name


def layers(layout: Path) -> dict[str, str]:
    """Digests of the only image's layers by title, and of its configuration."""
    blobs = layout / "blobs" / "sha256"
    entry = json.loads((layout / "index.json").read_bytes())["manifests"][0]["digest"]
    manifest = json.loads((blobs / entry[7:]).read_bytes())
    config = json.loads((blobs / manifest["config"]["digest"][7:]).read_bytes())
    titles = [line["created_by"] for line in config["history"]]
    found = dict(zip(titles, (layer["digest"] for layer in manifest["layers"]), strict=True))
    return {**found, "configuration": manifest["config"]["digest"]}


def fetched(registry: RunningRegistry, layout: Path) -> set[str]:
    """Titles of the blobs that were fetched from the registry since the image was pushed."""
    asked = {line.split()[1].rpartition("/")[2] for line in registry.requests() if "/blobs/" in line}
    names = {digest: title for title, digest in layers(layout).items()}
    return {names[digest] for digest in asked}


def with_patch(artifact: Path, script: Path) -> None:
    """Give an artifact a change of its source's first line."""
    first = script.read_text().splitlines()[0]
    (artifact / "patches").mkdir()
    (artifact / "patches" / "0001.patch").write_text(PATCH.format(first=first))
    spec = artifact / "reprobridge.yaml"
    spec.write_text(spec.read_text().replace("environment:\n", CHANGE, 1))


@pytest.mark.usefixtures("vendored")
def test_a_rebuild_elsewhere_gives_the_same_digest_and_fetches_only_the_image_s_own_small_layers(
    docker_registry: RunningRegistry, minimal: Path, tmp_path: Path
) -> None:
    image = pushed(minimal, docker_registry)
    setting = {"LC_ALL": "C", "TZ": "Pacific/Kiritimati", "PYTHONHASHSEED": "4242", "HOME": str(tmp_path)}
    done = reprobridge("rebuild", image, store=tmp_path / "reviewer", environment=setting, umask=0o077)
    said = succeed(done)
    assert f"the rebuilt image is the same: {golden_digest(MINIMAL)}" in said
    assert [line.split()[0] for line in said.splitlines()[:7]] == ["equal"] * 7
    assert "code: from the image (the source is a folder of the author's)" in said
    assert fetched(docker_registry, minimal) == {"configuration", "artifact", "code"}
    assert list((tmp_path / "reviewer" / "scratch").iterdir()) == []


@pytest.mark.usefixtures("vendored")
def test_a_published_source_with_patches_is_rebuilt_from_its_origin(
    docker_registry: RunningRegistry, author: Path, tmp_path: Path
) -> None:
    layout = built(PYGAM, author, tmp_path / "layout")
    image = pushed(layout, docker_registry)
    done = reprobridge("rebuild", image, "--json", store=tmp_path / "reviewer")
    value = json.loads(succeed(done))
    assert value["difference"]["equal"]
    assert value["difference"]["after"] == golden_digest(PYGAM)
    assert value["code"]["from"] == "origin"
    assert fetched(docker_registry, layout) == {"configuration", "artifact"}


@pytest.mark.usefixtures("vendored")
def test_where_the_repository_is_gone_the_image_s_own_code_is_taken_and_said_so(
    docker_registry: RunningRegistry, author: Path, tmp_path: Path
) -> None:
    repository = GitRepository(tmp_path / "repository")
    repository.write("run.py", (MINIMAL / "src" / "run.py").read_text())
    commit = repository.commit()
    artifact = copy_of(MINIMAL, tmp_path)
    spec = artifact / "reprobridge.yaml"
    source = f"  git: {repository.url}\n  commit: {commit}\n"
    spec.write_text(spec.read_text().replace("  path: ./src\n", source))
    with_patch(artifact, artifact / "src" / "run.py")
    succeed(reprobridge("lock", artifact, store=author))
    layout = built(artifact, author, tmp_path / "layout")
    image = pushed(layout, docker_registry)

    said = succeed(reprobridge("rebuild", image, store=tmp_path / "first"))
    assert f"code: from the origin ({repository.url}" in said
    assert fetched(docker_registry, layout) == {"configuration", "artifact"}

    repository.folder.rename(tmp_path / "elsewhere")
    said = succeed(reprobridge("rebuild", image, store=tmp_path / "second"))
    assert f"code: from the image ({repository.url} does not give the source any more" in said
    assert "the rebuilt image is the same" in said
    assert fetched(docker_registry, layout) == {"configuration", "artifact", "code"}


@pytest.mark.usefixtures("vendored")
def test_a_folder_with_patches_is_rebuilt_from_the_image_s_own_refined_code(
    author: Path, tmp_path: Path
) -> None:
    artifact = copy_of(MINIMAL, tmp_path)
    with_patch(artifact, artifact / "src" / "run.py")
    succeed(reprobridge("lock", artifact, store=author))
    layout = built(artifact, author, tmp_path / "layout")
    said = succeed(reprobridge("rebuild", f"oci:{layout}", store=tmp_path / "reviewer"))
    assert "the rebuilt image is the same" in said


@pytest.mark.usefixtures("vendored")
def test_a_changed_layer_is_named_with_its_file_and_ends_in_twelve(minimal: Path, tmp_path: Path) -> None:
    def change(files: dict[str, bytes]) -> None:
        files["rra/lib/reprobridge_launcher/judgement.py"] += b"\n# always compatible\n"
        files["rra/lib/reprobridge_launcher/extra.py"] = b"x"

    image = tampered(minimal, "launcher", change, tmp_path / "changed")
    done = reprobridge("rebuild", f"oci:{tmp_path / 'changed'}", store=tmp_path / "reviewer")
    assert done.returncode == 12
    assert "the image is not what its lock gives" in done.stderr
    assert golden_digest(MINIMAL) in done.stderr
    assert str(image.manifest.digest) in done.stderr
    assert "~ rra/lib/reprobridge_launcher/judgement.py" in done.stdout
    assert "- rra/lib/reprobridge_launcher/extra.py" in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()[:7]].count("DIFFERS") == 1


@pytest.mark.usefixtures("vendored")
def test_changed_code_of_a_folder_is_named_by_the_image_s_own_inventory(
    minimal: Path, tmp_path: Path
) -> None:
    def change(files: dict[str, bytes]) -> None:
        files["rra/code/run.py"] = b"print('deviation: 1.1700')\n"

    tampered(minimal, "code", change, tmp_path / "changed")
    done = reprobridge("rebuild", f"oci:{tmp_path / 'changed'}", store=tmp_path / "reviewer")
    assert done.returncode == 12
    assert "/rra/code/run.py not as in /rra/inventory" in done.stderr


@pytest.mark.usefixtures("vendored")
def test_without_its_locked_files_a_rebuild_says_what_cannot_be_had(minimal: Path, tmp_path: Path) -> None:
    setting = {"REPROBRIDGE_VENDOR": ""}
    done = reprobridge(
        "rebuild", f"oci:{minimal}", "--offline", store=tmp_path / "reviewer", environment=setting
    )
    assert done.returncode == 4
    assert ".deb" in done.stderr


@pytest.mark.usefixtures("vendored")
def test_the_digest_does_not_depend_on_what_the_user_s_store_holds(author: Path) -> None:
    digest = digest_of(reprobridge("build", MINIMAL, store=author))
    before = sorted(path for path in (author / "blobs").rglob("*") if path.is_file())
    said = succeed(reprobridge("rebuild", MINIMAL, store=author))
    assert digest in said
    after = sorted(path for path in (author / "blobs").rglob("*") if path.is_file())
    assert after == before
