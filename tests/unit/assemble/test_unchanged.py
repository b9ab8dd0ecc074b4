"""Recognising an artifact in which nothing changed, and noticing every change that could matter."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from reprobridge.assemble.artifact import builds_folders, looked_at
from reprobridge.assemble.image_memory import remember_image
from reprobridge.assemble.model import BuiltImage
from reprobridge.assemble.unchanged import recognised, remember_looked
from reprobridge.digest import Digest
from reprobridge.frozen import replace
from reprobridge.lock.doors import Doors
from reprobridge.lock.model import LockedBuild
from reprobridge.store.store import Store
from support.artifact_on_disk import FILES, ArtifactOnDisk
from support.file_times import let_it_tick
from support.lock_doors import doors
from support.specs import PLATFORM, digest, sample_lock

TOOL, KEY = Digest.of(b"this installation"), Digest.of(b"the image's key")


@pytest.fixture
def surroundings(store_folder: Path) -> Doors:
    return doors(store_folder)


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    """An artifact with every kind of file, a checkpoint among what is left out of its source, and some lock."""
    made = ArtifactOnDisk(tmp_path / "artifact")
    for name, data in FILES.items():
        made.write(name, data)
    made.write("src/results/old.csv", b"1")
    made.write("reprobridge.lock", b"{}")
    (made.folder / "src/link").symlink_to("run.py")
    made.spec["source"]["exclude"] += ["models/**"]
    made.task["references"] = "references.yaml"
    made.read()
    return made.folder


@pytest.fixture
def built(artifact: Path, surroundings: Doors) -> BuiltImage:
    """What a build of the artifact leaves in the store."""
    store = surroundings.store
    layer, config = store.add(b"a layer"), store.add(b"a configuration")
    parts = [{"digest": str(digest), "size": store.size(digest)} for digest in (config, layer)]
    manifest = {"config": parts[0], "layers": parts[1:]}
    digest = store.add(json.dumps(manifest).encode())
    image = BuiltImage(name="reprobridge/a-paper", version="1.0.0", manifest=digest, notes=("a note",))
    remember_image(store, KEY, image, elsewhere=False)
    written = [Digest.of((artifact / f"reprobridge.{name}").read_bytes()) for name in ("yaml", "lock")]
    spec = ArtifactOnDisk(artifact).read((artifact / "reprobridge.yaml").read_bytes())
    looked = looked_at(spec, artifact, surroundings)
    remember_looked(surroundings, (written[0], written[1]), TOOL, looked, KEY)
    return image


def found(artifact: Path, surroundings: Doors, tool: Digest = TOOL) -> BuiltImage | None:
    return recognised(artifact, surroundings, tool, elsewhere=False)


def test_an_unchanged_artifact_is_recognised(artifact: Path, surroundings: Doors, built: BuiltImage) -> None:
    assert found(artifact, surroundings) == built


def test_an_artifact_that_nobody_built_is_not_recognised(artifact: Path, surroundings: Doors) -> None:
    assert found(artifact, surroundings) is None


def test_a_copy_elsewhere_is_recognised(
    artifact: Path, surroundings: Doors, built: BuiltImage, tmp_path: Path
) -> None:
    shutil.copytree(artifact, tmp_path / "copy", symlinks=True)
    assert found(tmp_path / "copy", surroundings) == built


def test_what_is_left_out_of_the_source_does_not_count(
    artifact: Path, surroundings: Doors, built: BuiltImage
) -> None:
    (artifact / "src/results/new.csv").write_text("2")
    (artifact / "notes.txt").write_text("not named by the specification")
    assert found(artifact, surroundings) == built


def appended(name: str) -> Callable[[Path], object]:
    """An edit that adds a byte."""
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes() + b"\n")


def rewritten(folder: Path) -> None:
    """An edit that keeps length and modification time."""
    path = folder / "src/run.py"
    before = path.stat()
    let_it_tick(folder.parent)
    path.write_bytes(path.read_bytes().replace(b"1", b"2"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def linked_out(name: str) -> Callable[[Path], object]:
    """The same bytes, but through a link that leads out of the artifact's folder."""

    def change(folder: Path) -> None:
        (folder / name).rename(folder.parent / "outside")
        (folder / name).symlink_to(folder.parent / "outside")

    return change


def piped(folder: Path) -> None:
    """A pipe in the place of a file: who opens it like a file waits forever."""
    (folder / "GUIDE.md").unlink()
    os.mkfifo(folder / "GUIDE.md")


def relinked(folder: Path) -> None:
    """A link of the source that leads elsewhere."""
    (folder / "src/link").unlink()
    (folder / "src/link").symlink_to("models")


CHANGES: dict[str, Callable[[Path], object]] = {
    "the specification": appended("reprobridge.yaml"),
    "the lock": appended("reprobridge.lock"),
    "the requirements": appended("requirements.in"),
    "the constraints": appended("constraints.txt"),
    "the guide": appended("GUIDE.md"),
    "a patch": appended("patches/one.patch"),
    "the references": appended("references.yaml"),
    "a file of the source": appended("src/run.py"),
    "a file of the source behind its times": rewritten,
    "the mode of a file of the source": lambda folder: (folder / "src/run.py").chmod(0o755),
    "a link of the source": relinked,
    "a new file of the source": lambda folder: (folder / "src/new.py").write_text(""),
    "a file of the source that is gone": lambda folder: (folder / "src/run.py").unlink(),
    "a file of the source with another name": lambda folder: (folder / "src/run.py").rename(
        folder / "src/go.py"
    ),
    "no source": lambda folder: shutil.rmtree(folder / "src"),
    "no checkpoint, which is no part of the source": lambda folder: (folder / "src/models/best.bin").unlink(),
    "no guide": lambda folder: (folder / "GUIDE.md").unlink(),
    "no lock": lambda folder: (folder / "reprobridge.lock").unlink(),
    "a pipe for a guide": piped,
    "a guide outside": linked_out("GUIDE.md"),
    "a source outside": linked_out("src"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.usefixtures("built")
def test_each_change_is_noticed(
    change: Callable[[Path], object], artifact: Path, surroundings: Doors
) -> None:
    assert found(artifact, surroundings) is not None
    change(artifact)
    assert found(artifact, surroundings) is None


@pytest.mark.usefixtures("built")
def test_another_state_of_the_installation_is_noticed(artifact: Path, surroundings: Doors) -> None:
    assert found(artifact, surroundings, Digest.of(b"another installation")) is None


def blobs(store: Store, image: BuiltImage) -> list[Digest]:
    manifest = json.loads(store.read(image.manifest))
    parts = [manifest["config"], *manifest["layers"]]
    return [image.manifest, *(Digest.parse(part["digest"]) for part in parts)]


@pytest.mark.parametrize("number", range(3), ids=["manifest", "configuration", "layer"])
def test_a_blob_that_the_store_lost_is_noticed(
    number: int, artifact: Path, surroundings: Doors, built: BuiltImage
) -> None:
    surroundings.store.path(blobs(surroundings.store, built)[number]).unlink()
    assert found(artifact, surroundings) is None


@pytest.mark.parametrize("number", range(3), ids=["manifest", "configuration", "layer"])
def test_a_blob_that_was_cut_off_is_noticed(
    number: int, artifact: Path, surroundings: Doors, built: BuiltImage
) -> None:
    path = surroundings.store.path(blobs(surroundings.store, built)[number])
    path.write_bytes(path.read_bytes()[:-1])
    assert found(artifact, surroundings) is None


@pytest.mark.usefixtures("built")
def test_a_damaged_memory_is_none(artifact: Path, surroundings: Doors) -> None:
    damaged: list[object] = [None, {}, {"files": [], "places": [], "source": None, "image": "x"}]
    for value in damaged:
        for path in (surroundings.store.root / "results/unchanged").iterdir():
            path.write_text(json.dumps(value))
        assert found(artifact, surroundings) is None


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("content", [b"{}", b"[]", b'{"config": 1, "layers": 2}', b"\xff\xfe"])
def test_a_memory_that_names_something_else_than_an_image_is_none(
    content: bytes, artifact: Path, surroundings: Doors
) -> None:
    wrong = surroundings.store.add(content)
    for path in (surroundings.store.root / "results/image").iterdir():
        path.write_text(json.dumps({**json.loads(path.read_bytes()), "manifest": str(wrong)}))
    assert found(artifact, surroundings) is None


@pytest.mark.parametrize(("kind", "expected"), [("path", True), ("git", False), ("sdist", False)])
def test_an_artifact_with_packages_built_from_folders_is_not_remembered(kind: str, expected: bool) -> None:
    lock = sample_lock()
    platform = lock.platforms[PLATFORM]
    build = LockedBuild(
        name="numpy",
        kind=kind,
        origin="numpy",
        index=None,
        commit=None,
        subdirectory=None,
        file=None,
        tree=digest("tree"),
        requires=(),
        base=digest("base"),
        repeatable=True,
    )
    built = replace(platform, python=replace(platform.python, builds=(build,)))
    assert not builds_folders(lock)
    assert builds_folders(replace(lock, platforms={PLATFORM: built})) is expected
