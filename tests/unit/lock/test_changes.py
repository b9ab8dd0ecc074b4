"""The patch series: what it may do, what is refused, and in which words."""

import os
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import ArtifactError, LockError
from reprobridge.lock.changes import Refined, apply_changes
from reprobridge.lock.doors import Doors
from reprobridge.lock.folder import read_folder
from reprobridge.lock.kept_tree import tree_blob
from reprobridge.lock.model import LockedChange
from reprobridge.lock.tree import tree_rows
from reprobridge.spec.model import Spec
from support.git_repository import GitRepository
from support.lock_doors import doors, temporary_files
from support.specs import sample_change, sample_spec
from support.tree_dump import dump_tar

RUN = "".join(f"line {number}\n" for number in range(1, 31))


def spec_with(*patches: bytes, exclude: tuple[str, ...] = ()) -> Spec:
    changes = tuple(sample_change(f"C{number}") for number in range(1, len(patches) + 1))
    files = {one.patch: patch for one, patch in zip(changes, patches, strict=True)}
    return sample_spec(changes=changes, files=files, exclude=exclude)


def replace_line(number: int, new: str, *, file: str = "run.py") -> bytes:
    """A patch of one line, without context, as `diff -U0` would write it with one line around."""
    before, after = f"line {number - 1}", f"line {number + 1}"
    head = f"--- a/{file}\n+++ b/{file}\n@@ -{number - 1},3 +{number - 1},3 @@\n"
    return f"{head} {before}\n-line {number}\n+{new}\n {after}\n".encode()


@pytest.fixture
def opened(store_folder: Path) -> Doors:
    return doors(store_folder)


@pytest.fixture
def original(tmp_path: Path) -> GitRepository:
    repository = GitRepository(tmp_path / "work")
    repository.write("run.py", RUN)
    repository.write("tool.sh", "#!/bin/sh\n", mode=0o755)
    repository.write("data.bin", bytes(range(256)))
    repository.write("old/name.py", RUN)
    repository.commit()
    return repository


@pytest.fixture
def tree(opened: Doors, original: GitRepository) -> Digest:
    return read_folder(opened.store, original.folder, (".git",)).kept.tree


def refine(opened: Doors, tree: Digest, *patches: bytes, exclude: tuple[str, ...] = ()) -> Refined:
    return apply_changes(tree, spec_with(*patches, exclude=exclude), opened)


def refusal(opened: Doors, tree: Digest, *patches: bytes, exclude: tuple[str, ...] = ()) -> str:
    with pytest.raises(LockError) as raised:
        refine(opened, tree, *patches, exclude=exclude)
    assert not temporary_files(opened.store.root)
    return str(raised.value)


def test_without_changes_the_refined_tree_is_the_original(opened: Doors, tree: Digest) -> None:
    assert refine(opened, tree) == Refined(tree, ())


def test_a_series_is_applied_in_order_and_each_change_says_what_it_touches(
    opened: Doors, tree: Digest
) -> None:
    second = replace_line(5, "line five and a half").replace(b"-line 5", b"-line five")
    refined = refine(opened, tree, replace_line(5, "line five"), second)
    assert refined.changes == (
        LockedChange(Digest.of(replace_line(5, "line five")), ("run.py",)),
        LockedChange(Digest.of(second), ("run.py",)),
    )
    expected = RUN.replace("line 5\n", "line five and a half\n").encode()
    assert tree_rows(opened.store, refined.tree)["run.py"].sha256 == Digest.of(expected).hex


def test_a_patch_may_rename_delete_add_change_modes_links_and_binary_files(
    opened: Doors, original: GitRepository, tree: Digest
) -> None:
    (original.folder / "new").mkdir()
    (original.folder / "old/name.py").rename(original.folder / "new/name.py")
    original.write("tool.sh", "#!/bin/sh\n", mode=0o644)
    original.write("data.bin", bytes(reversed(range(256))))
    original.write("added é.sh", "#!/bin/sh\necho\n", mode=0o755)
    (original.folder / "link").symlink_to("run.py")
    (original.folder / "run.py").unlink()
    (original.folder / "run.py").symlink_to("new/name.py")
    original.git("add", "--all")
    patch = original.git("diff", "--cached", "--binary", "--find-renames").encode() + b"\n"
    refined = refine(opened, tree, patch)
    assert refined.tree == read_folder(opened.store, original.folder, (".git",)).kept.tree
    assert refined.changes[0].files == (
        "added é.sh", "data.bin", "link", "new/name.py", "old/name.py", "run.py", "tool.sh",
    )  # fmt: skip


def test_what_a_change_touches_is_read_off_the_files_and_not_off_its_text(
    opened: Doors, original: GitRepository
) -> None:
    original.write("a.sql", "-- a/comment in SQL\nselect 1;\n")
    original.write("naïve.py", "1\n")
    tree = read_folder(opened.store, original.folder, (".git",)).kept.tree
    plain = b"--- old/a.sql\t2020-01-01 00:00:00\n+++ new/a.sql\t2020-01-02 00:00:00\n@@ -1,2 +1 @@\n"
    comment = plain + b"--- a/comment in SQL\n select 1;\n"
    quoted = b'diff --git "a/na\\303\\257ve.py" "b/na\\303\\257ve.py"\n'
    quoted += b'--- "a/na\\303\\257ve.py"\n+++ "b/na\\303\\257ve.py"\n@@ -1 +1 @@\n-1\n+2\n'
    refined = refine(opened, tree, comment, quoted)
    assert [one.files for one in refined.changes] == [("a.sql",), ("naïve.py",)]
    assert refine(opened, tree, comment, quoted) == refined  # as it is remembered


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_new_files_do_not_depend_on_the_umask(opened: Doors, tree: Digest, umask: int) -> None:
    patch = b"--- /dev/null\n+++ b/new/file.py\n@@ -0,0 +1 @@\n+new\n"
    before = os.umask(umask)
    try:
        refined = refine(opened, tree, patch)
    finally:
        os.umask(before)
    lines = dump_tar(opened.store.path(tree_blob(opened.store, refined.tree)))
    assert any(line.startswith("file 0644") and line.endswith("new/file.py") for line in lines)


def test_a_patch_that_does_not_fit_names_change_file_hunk_and_line(opened: Doors, tree: Digest) -> None:
    good = replace_line(5, "line five")
    bad = good + b"@@ -20,3 +20,3 @@\n line 20\n-line 21 never existed\n+x\n line 22\n"
    message = refusal(opened, tree, replace_line(12, "line twelve"), bad)
    for part in ("change C2", "patches/C2.patch", "run.py, hunk 2 of 2 (line 20)", "patch does not apply"):
        assert part in message


def test_a_hunk_is_not_placed_by_guessing(opened: Doors, tree: Digest) -> None:
    fuzzy = replace_line(5, "line five").replace(b" line 4\n", b" line four\n")
    assert "hunk 1 of 1" in refusal(opened, tree, fuzzy)


def test_a_failing_series_leaves_nothing_remembered(opened: Doors, tree: Digest) -> None:
    refusal(opened, tree, replace_line(5, "five"), b"--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n")
    assert not list((opened.store.root / "results").glob("refined-tree/*"))


def test_a_patch_of_a_file_that_is_not_there_is_named(opened: Doors, tree: Digest) -> None:
    assert "none.py: No such file" in refusal(opened, tree, replace_line(5, "x", file="none.py"))


@pytest.mark.parametrize("path", ["../outside", "/etc/x", "a/../../outside"])
def test_a_patch_never_reaches_outside_of_the_tree(
    opened: Doors, tree: Digest, tmp_path: Path, path: str
) -> None:
    patch = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+owned\n".encode()
    message = refusal(opened, tree, patch)
    assert "change C1 cannot be applied" in message
    assert f"found: {path}\n" in message
    assert "hint: " in message
    assert not list(tmp_path.rglob("outside"))


def test_a_patch_never_writes_through_a_link(opened: Doors, tree: Digest) -> None:
    link = (
        b"diff --git a/dir b/dir\nnew file mode 120000\n--- /dev/null\n+++ b/dir\n"
        b"@@ -0,0 +1 @@\n+..\n\\ No newline at end of file\n"
    )
    through = b"--- /dev/null\n+++ b/dir/owned\n@@ -0,0 +1 @@\n+owned\n"
    assert "beyond a symbolic link" in refusal(opened, tree, link, through)


@pytest.mark.parametrize("path", ["results/new.csv", ".git/hooks/post-checkout", "sub/.hg/hgrc"])
def test_a_patch_that_makes_an_excluded_file_is_refused(opened: Doors, tree: Digest, path: str) -> None:
    patch = f"--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+1\n".encode()
    message = refusal(opened, tree, patch, exclude=("results/**",))
    assert path in message
    assert "excluded" in message


def test_a_patch_of_an_excluded_file_says_that_it_is_excluded(opened: Doors, tree: Digest) -> None:
    assert "excluded" in refusal(
        opened, tree, replace_line(5, "x", file="results/a.py"), exclude=("results",)
    )


def test_a_change_without_effect_is_refused(opened: Doors, tree: Digest) -> None:
    assert "one without effect" in refusal(opened, tree, replace_line(5, "line 5"))


@pytest.mark.parametrize(
    "patch", [b"", b"no patch at all\n", b"--- a/run.py\n+++ b/run.py\n@@ -1,9 +1 @@\n-x\n"]
)
def test_what_is_no_patch_is_refused_in_gits_words(opened: Doors, tree: Digest, patch: bytes) -> None:
    assert "a unified diff" in refusal(opened, tree, patch)


def test_a_patch_that_leads_a_link_out_of_the_tree_is_refused(opened: Doors, tree: Digest) -> None:
    patch = (
        b"diff --git a/out b/out\nnew file mode 120000\n--- /dev/null\n+++ b/out\n"
        b"@@ -0,0 +1 @@\n+../../x\n\\ No newline at end of file\n"
    )
    with pytest.raises(ArtifactError, match="links that stay in the source"):
        refine(opened, tree, patch)


def test_a_patch_that_makes_a_name_in_another_encoding_is_refused(opened: Doors, tree: Digest) -> None:
    patch = b'--- /dev/null\n+++ "b/caf\\351"\n@@ -0,0 +1 @@\n+x\n'
    with pytest.raises(ArtifactError, match="names in UTF-8"):
        refine(opened, tree, patch)


def test_a_store_inside_of_a_repository_changes_nothing(tmp_path: Path, original: GitRepository) -> None:
    outside = doors(tmp_path / "store")
    inside = doors(original.folder / "cache/store")
    patch = replace_line(5, "line five")
    trees = [
        refine(one, read_folder(one.store, original.folder, ("cache", ".git")).kept.tree, patch).tree
        for one in (outside, inside)
    ]
    assert trees[0] == trees[1]


def test_the_users_git_configuration_changes_nothing(
    store_folder: Path, tmp_path: Path, original: GitRepository
) -> None:
    (tmp_path / ".gitconfig").write_text("[core]\n\tautocrlf = true\n[apply]\n\twhitespace = fix\n")
    surroundings = {"HOME": str(tmp_path), "GIT_DIR": str(original.folder / ".git")}
    opened = doors(store_folder, environment=surroundings)
    tree = read_folder(opened.store, original.folder, (".git",)).kept.tree
    refined = refine(opened, tree, replace_line(5, "line five   "))
    expected = RUN.replace("line 5\n", "line five   \n").encode()
    assert tree_rows(opened.store, refined.tree)["run.py"].sha256 == Digest.of(expected).hex


def test_a_remembered_series_is_not_applied_again(opened: Doors, tree: Digest) -> None:
    first = refine(opened, tree, replace_line(5, "line five"))
    blocked = doors(opened.store.root, environment={"PATH": "/nowhere"})
    assert refine(blocked, tree, replace_line(5, "line five")) == first


def test_a_source_with_a_history_in_it_is_not_patched(opened: Doors, original: GitRepository) -> None:
    tree = read_folder(opened.store, original.folder).kept.tree
    assert "add them to `source.exclude`" in refusal(opened, tree, replace_line(5, "x"))
