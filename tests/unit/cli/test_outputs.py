"""Outputs are looked at before anything is fetched or built for them."""

from pathlib import Path

import pytest

from reprobridge.cli.outputs import (
    parse_output,
    require_apart,
    require_beside_artifact,
    require_place,
    require_writable,
)
from reprobridge.errors import ArtifactError, AssembleError, UsageError
from reprobridge.oci.layout import write_layout
from reprobridge.store.store import Store
from support.artifact_on_disk import FILES, ArtifactOnDisk
from support.command import reprobridge
from support.ordinary_user import as_ordinary_user, ordinary_folder
from support.reviewed_image import reviewed_image


@pytest.mark.parametrize("kind", ["oci", "oci-archive", "docker-archive"])
def test_a_new_path_in_a_folder_is_fine(kind: str, tmp_path: Path) -> None:
    require_writable(parse_output(f"{kind}:{tmp_path}/new"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("text", ["store", "docker:", "podman:"])
def test_where_nothing_is_written_nothing_is_refused(text: str) -> None:
    require_writable(parse_output(text))


def test_a_layout_may_be_added_to_and_archives_replaced(tmp_path: Path) -> None:
    write_layout(tmp_path / "layout", reviewed_image().build(Store(tmp_path / "store")))
    (tmp_path / "old.tar").touch()
    for text in (f"oci:{tmp_path}/layout", f"oci:{tmp_path}/a/b/c", f"oci-archive:{tmp_path}/old.tar"):
        require_writable(parse_output(text))
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("output", "found"),
    [
        ("oci:{}/file", "something else"),
        ("oci:{}/file/below", "is no folder"),
        ("oci:{}", "something else"),
        ("oci-archive:{}", "a folder"),
        ("oci-archive:{}/nowhere/a.tar", "no folder"),
        ("docker-archive:{}/nowhere/a.tar", "no folder"),
        ("docker-archive:{}/file/a.tar", "is no folder"),
    ],
)
def test_a_place_where_it_cannot_be_written_is_refused(output: str, found: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(AssembleError, match=found):
        require_writable(parse_output(output.format(tmp_path)))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("name", "found", "hint"),
    [
        ("", "a folder", "name a new file"),
        ("nowhere/digest", "no folder", "mkdir -p"),
        ("file/digest", "is no folder", "name a path in a folder"),
        ("link", "a link to file", "name a new file"),
        ("x" * 300, "too long", "name a path"),
    ],
)
def test_a_place_where_no_file_can_be_written_is_refused_with_a_way_out(
    name: str, found: str, hint: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to("file")
    with pytest.raises(AssembleError, match=found) as caught:
        require_place(tmp_path / name)
    assert hint in str(caught.value.hint)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


@pytest.mark.parametrize("kind", ["oci", "oci-archive", "docker-archive"])
def test_a_home_that_no_shell_read_makes_no_folder_of_that_name(kind: str) -> None:
    with pytest.raises(UsageError, match="~ written out"):
        parse_output(f"{kind}:~/image")


@pytest.mark.parametrize(
    ("output", "file"),
    [("oci-archive:{}/a", "a"), ("docker-archive:{}/a", "link/a"), ("oci:{}/a", "a/digest")],
)
def test_a_digest_is_not_written_over_the_image(output: str, file: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(".")
    with pytest.raises(UsageError, match="the same place"):
        require_apart(parse_output(output.format(tmp_path)), tmp_path / file)
    for beside in ("oci-archive:{}/b", "oci:{}/b", "store", "docker:"):
        require_apart(parse_output(beside.format(tmp_path)), tmp_path / file)


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    """An artifact's folder, with a package that is built from a folder of it, and a file that nothing names."""
    made = ArtifactOnDisk(tmp_path / "artifact")
    more = {"requirements.in": b"numpy\n./solver\n", "solver/pyproject.toml": b"", "earlier.tar": b"mine"}
    for name, data in (FILES | more).items():
        made.write(name, data)
    made.read()
    return made.folder


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("reprobridge.yaml", "the artifact's reprobridge.yaml"),
        ("reprobridge.lock", "the artifact's reprobridge.lock"),  # which `--relock` may yet write
        ("GUIDE.md", "which reprobridge.yaml names"),
        ("patches/../requirements.in", "which reprobridge.yaml names"),
        ("patches/one.patch", "which reprobridge.yaml names"),
        ("src/run.py", "a file of src"),
        ("link/models/best.bin", "a file of src"),
        ("solver/pyproject.toml", "a file of solver"),
    ],
)
def test_no_output_takes_the_place_of_what_the_artifact_is_made_of(
    name: str, found: str, artifact: Path, tmp_path: Path
) -> None:
    (artifact / "link").symlink_to("src")
    with pytest.raises(UsageError, match="made of") as caught:
        require_beside_artifact(artifact / name, "--output", artifact, Store(tmp_path / "store"))
    assert found in str(caught.value.found)
    assert "--output" in str(caught.value.hint)


@pytest.mark.parametrize("name", ["new.tar", "src/new.tar", "earlier.tar", "../artifact.tar"])
def test_a_new_file_or_an_earlier_output_in_the_artifact_is_fine(
    name: str, artifact: Path, tmp_path: Path
) -> None:
    require_beside_artifact(artifact / name, "--output", artifact, Store(tmp_path / "store"))


@pytest.mark.parametrize(
    "words",
    [("--output", "oci-archive:{}"), ("--output", "docker-archive:{}"), ("--digest-file", "{}")],
)
def test_a_build_leaves_the_specification_alone(
    words: tuple[str, str], artifact: Path, tmp_path: Path
) -> None:
    spec = artifact / "reprobridge.yaml"
    before = spec.read_bytes()
    option, place = words
    done = reprobridge("build", artifact, option, place.format(spec), store=tmp_path / "store")
    assert "would take the place of a file that the artifact is made of" in done.stderr
    assert f"name another file with {option}" in done.stderr
    assert spec.read_bytes() == before


def test_a_broken_layout_is_refused(tmp_path: Path) -> None:
    (tmp_path / "oci-layout").touch()
    (tmp_path / "index.json").write_text("{")
    with pytest.raises(ArtifactError, match="the layout is broken"):
        require_writable(parse_output(f"oci:{tmp_path}"))


@pytest.mark.parametrize("kind", ["oci", "oci-archive"])
def test_a_folder_that_may_not_be_written_is_refused(kind: str) -> None:
    def refused(text: str) -> str:
        with pytest.raises(AssembleError) as caught:
            require_writable(parse_output(text))
        return str(caught.value.found)

    with ordinary_folder() as folder:
        folder.chmod(0o555)
        assert as_ordinary_user(lambda: refused(f"{kind}:{folder}/new")) == f"{folder} may not be written"
