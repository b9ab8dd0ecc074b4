"""Locking sources and bringing them back, whatever kind they are of."""

import shutil
from pathlib import Path, PurePosixPath

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError, LockError
from reprobridge.lock.doors import Doors
from reprobridge.lock.kept_tree import has_tree
from reprobridge.lock.source import (
    UNDATED,
    lock_source,
    obtain_refined,
    obtain_tree,
    source_wish,
)
from reprobridge.lock.tree import tree_rows
from reprobridge.spec.model import (
    ArchiveSource,
    FolderSource,
    GitSource,
    PypiSource,
    Spec,
)
from support.file_server import FileServer
from support.lock_doors import doors, impatient
from support.sdists import build_sdist
from support.specs import sample_change, sample_spec

PATCH = b"--- a/run.py\n+++ b/run.py\n@@ -1 +1 @@\n-print(1)\n+print(2)\n"
CHANGE = sample_change()
SDIST = build_sdist("pkg", files={"run.py": "print(1)\n", "results/score.csv": "98.9\n"})
SHA256 = Digest(SDIST.sha256)


def folder_spec(patch: bytes = PATCH, exclude: tuple[str, ...] = ()) -> Spec:
    source = FolderSource(PurePosixPath("src"))
    return sample_spec(source=source, changes=(CHANGE,), files={CHANGE.patch: patch}, exclude=exclude)


@pytest.fixture
def opened(store_folder: Path) -> Doors:
    return doors(store_folder, network=impatient())


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    (tmp_path / "artifact/src").mkdir(parents=True)
    (tmp_path / "artifact/src/run.py").write_text("print(1)\n")
    return tmp_path / "artifact"


def test_a_folder_is_locked_with_its_original_and_its_refined_tree(opened: Doors, artifact: Path) -> None:
    resolved = lock_source(folder_spec(), artifact, opened)
    locked = resolved.locked
    assert (locked.kind, locked.origin, locked.commit, locked.file) == ("path", "src", None, None)
    assert locked.date == UNDATED
    assert tree_rows(opened.store, locked.tree)["run.py"].sha256 == Digest.of(b"print(1)\n").hex
    assert tree_rows(opened.store, locked.refined)["run.py"].sha256 == Digest.of(b"print(2)\n").hex
    assert [one.files for one in locked.changes] == [("run.py",)]


def test_locking_does_not_depend_on_the_store_or_on_where_the_artifact_lies(
    opened: Doors, artifact: Path, tmp_path: Path
) -> None:
    first = lock_source(folder_spec(), artifact, opened)
    elsewhere = artifact.rename(tmp_path / "elsewhere")
    assert lock_source(folder_spec(), elsewhere, doors(tmp_path / "another store")) == first


@pytest.mark.parametrize("edit", ["file", "patch", "exclude"])
def test_an_edit_shows_in_the_wish(opened: Doors, artifact: Path, edit: str) -> None:
    spec = folder_spec()
    before = source_wish(spec, artifact, opened)
    assert source_wish(spec, artifact, opened) == before
    match edit:
        case "file":
            (artifact / "src/run.py").write_text("print(3)\n")
        case "patch":
            spec = folder_spec(PATCH.replace(b"2", b"3"))
        case _:
            spec = folder_spec(exclude=("*.csv",))
    assert source_wish(spec, artifact, opened) != before


def test_every_field_of_a_source_is_part_of_the_wish(opened: Doors, artifact: Path) -> None:
    commit, other = "1" * 40, "2" * 40
    sources = [
        GitSource("https://h/a", commit),
        GitSource("https://h/b", commit),
        GitSource("https://h/a", other),
        GitSource("https://h/a", commit, submodules=True),
        GitSource("https://h/a", commit, subdirectory="sub"),
        ArchiveSource("https://h/a", SHA256),
        ArchiveSource("https://h/b", SHA256),
        ArchiveSource("https://h/a", Digest.of(b"")),
        ArchiveSource("https://h/a", SHA256, subdirectory="sub"),
        PypiSource("a", "1"),
        PypiSource("a", "2"),
        PypiSource("b", "1"),
    ]
    wishes = {source_wish(sample_spec(source=source), artifact, opened) for source in sources}
    assert len(wishes) == len(sources)


def test_an_archive_is_locked_by_name_digest_and_size(
    opened: Doors, artifact: Path, file_server: FileServer
) -> None:
    url = file_server.put("/files/pkg%201.tar.gz".replace("%20", " "), SDIST.data).replace(" ", "%20")
    spec = sample_spec(source=ArchiveSource(url, SHA256), exclude=("results/**",))
    locked = lock_source(spec, artifact, opened).locked
    assert (locked.kind, locked.origin, locked.date) == ("archive", url, UNDATED)
    assert locked.file is not None
    assert (locked.file.name, locked.file.sha256, locked.file.size) == (
        "pkg 1.tar.gz",
        SHA256,
        len(SDIST.data),
    )
    assert set(tree_rows(opened.store, locked.tree)) == {"PKG-INFO", "pyproject.toml", "run.py"}


@pytest.mark.parametrize("last", ["%2e%2e", ".", "a%00b", "%1b[2J", ""])
def test_an_archive_whose_address_ends_in_no_file_name_gets_one(
    opened: Doors, artifact: Path, last: str
) -> None:
    opened.store.add(SDIST.data)
    spec = sample_spec(source=ArchiveSource(f"https://h.example.org/x/{last}", SHA256))
    locked = lock_source(spec, artifact, opened).locked
    assert locked.file is not None
    assert locked.file.name == "archive"


def test_an_archives_subdirectory_is_counted_from_its_stripped_top(
    opened: Doors, artifact: Path, file_server: FileServer
) -> None:
    url = file_server.put("/pkg.tar.gz", SDIST.data)
    spec = sample_spec(source=ArchiveSource(url, SHA256, subdirectory="results"))
    assert set(tree_rows(opened.store, lock_source(spec, artifact, opened).locked.tree)) == {"score.csv"}
    missing = sample_spec(source=ArchiveSource(url, SHA256, subdirectory="none"))
    with pytest.raises(LockError, match="a folder none"):
        lock_source(missing, artifact, opened)


def test_an_archive_with_other_bytes_is_refused(
    opened: Doors, artifact: Path, file_server: FileServer
) -> None:
    url = file_server.put("/pkg.tar.gz", SDIST.data + b"\0")
    with pytest.raises(ArtifactError, match="not the file that was locked"):
        lock_source(sample_spec(source=ArchiveSource(url, SHA256)), artifact, opened)


def test_exclusions_that_match_nothing_are_warned_of_each_time(
    opened: Doors, artifact: Path, file_server: FileServer
) -> None:
    url = file_server.put("/pkg.tar.gz", SDIST.data)
    for source in (ArchiveSource(url, SHA256), FolderSource(PurePosixPath("src"))):
        for _ in range(2):
            resolved = lock_source(sample_spec(source=source, exclude=("typo/**",)), artifact, opened)
            assert resolved.warnings == ("source.exclude: 'typo/**' matches nothing",)


def test_secrets_are_warned_of_unless_they_are_excluded_or_patched_away(
    opened: Doors, artifact: Path
) -> None:
    (artifact / "src/keys").mkdir()
    (artifact / "src/keys/id_rsa").write_text("anything")
    (artifact / "src/keys/deploy.pem").write_text("\n-----BEGIN " + "RSA PRIVATE KEY-----\nMIIE\n")
    (artifact / "src/run.py").write_text("token = '" + "gh" + f"p_{'a1B2' * 9}'\n")
    advice = "is part of the source, and `validate` refuses such an image: add the file to `source.exclude`"
    source = FolderSource(PurePosixPath("src"))
    assert lock_source(sample_spec(source=source), artifact, opened).warnings == (
        f"keys/deploy.pem, line 2: a private key {advice}",
        f"keys/id_rsa: a file of passwords or keys by its name {advice}",
        f"run.py, line 1: a GitHub token {advice}",
    )
    patch = f"--- a/run.py\n+++ b/run.py\n@@ -1 +1 @@\n-{(artifact / 'src/run.py').read_text()}+token = ''\n".encode()
    assert lock_source(folder_spec(patch, exclude=("keys",)), artifact, opened).warnings == ()


def test_both_trees_come_back_into_an_empty_store(
    artifact: Path, tmp_path: Path, file_server: FileServer
) -> None:
    url = file_server.put("/pkg.tar.gz", SDIST.data)
    archive = sample_spec(source=ArchiveSource(url, SHA256), changes=(CHANGE,), files={CHANGE.patch: PATCH})
    for number, spec in enumerate((archive, folder_spec())):
        first = doors(tmp_path / f"first {number}", network=impatient())
        locked = lock_source(spec, artifact, first).locked
        empty = doors(tmp_path / f"second {number}", network=impatient())
        assert obtain_refined(spec, locked, artifact, empty) == locked.refined
        assert has_tree(empty.store, locked.tree)
        assert has_tree(empty.store, locked.refined)


def test_an_edited_folder_is_an_error_that_names_the_files(opened: Doors, artifact: Path) -> None:
    spec = folder_spec()
    locked = lock_source(spec, artifact, opened).locked
    (artifact / "src/run.py").write_text("print(3)\n")
    (artifact / "src/new.py").write_text("")
    with pytest.raises(LockError, match=r"new\.py \(new\), run\.py \(changed\)") as raised:
        obtain_tree(spec, locked, artifact, opened)
    assert "reprobridge lock" in str(raised.value)


def test_an_edited_patch_is_an_error_that_names_the_files(opened: Doors, artifact: Path) -> None:
    locked = lock_source(folder_spec(), artifact, opened).locked
    with pytest.raises(LockError, match=r"run\.py \(changed\)"):
        obtain_refined(folder_spec(PATCH.replace(b"2", b"3")), locked, artifact, opened)


def test_a_missing_source_folder_is_an_error(opened: Doors, artifact: Path) -> None:
    shutil.rmtree(artifact / "src")
    with pytest.raises(LockError, match="no such source folder"):
        lock_source(folder_spec(), artifact, opened)
