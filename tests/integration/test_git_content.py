"""No setting of the user's git reaches the bytes of a source, though each of these changes what a clone gives."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from reprobridge.lock.doors import Doors
from reprobridge.lock.folder import read_folder
from reprobridge.lock.source import lock_source
from reprobridge.spec.model import GitSource
from support.git_repository import DATE, GitRepository
from support.lock_doors import doors
from support.specs import sample_spec


def program(home: Path, name: str) -> Path:
    """A program of the user's that leaves a mark when it runs, and turns all text into capitals."""
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\ntouch {home}/ran\nexec tr a-z A-Z\n")
    path.chmod(0o755)
    return path


def configure(home: Path, section: str, *lines: str) -> None:
    with (home / ".gitconfig").open("a") as file:
        file.write("\n\t".join((f"[{section}]", *lines)) + "\n")


def everything_is_fetched(home: Path) -> None:
    """In protocol 0 a commit below a branch cannot be asked for; fetching branches runs hooks."""
    configure(home, "protocol", "version = 0")


def line_ends(home: Path) -> None:
    configure(home, "core", "autocrlf = true")


def attributes(home: Path) -> None:
    configure(home, "core", f"attributesFile = {home}/attributes")
    (home / "attributes").write_text("*.py text eol=crlf\nversion.txt ident\n")


def attributes_where_git_looks_by_itself(home: Path) -> None:
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/attributes").write_text("*.py text working-tree-encoding=UTF-16\n")


def a_filter_that_the_repository_asks_for(home: Path) -> None:
    configure(home, 'filter "lfs"', f"smudge = {program(home, 'smudge')}", "clean = cat", "required = true")


def links_as_files(home: Path) -> None:
    configure(home, "core", "symlinks = false")


def hooks(home: Path) -> None:
    configure(home, "core", f"hooksPath = {program(home, 'hooks/post-checkout').parent}")
    program(home, "hooks/reference-transaction")
    everything_is_fetched(home)
    program(home, "hooks/post-index-change")


def a_template(home: Path) -> None:
    everything_is_fetched(home)
    configure(home, "init", f"templateDir = {home}/template")
    program(home, "template/hooks/post-checkout")
    program(home, "template/hooks/reference-transaction")
    (home / "template/info").mkdir()
    (home / "template/info/attributes").write_text("*.py text eol=crlf\n")


def a_monitor(home: Path) -> None:
    configure(home, "core", f"fsmonitor = {program(home, 'monitor')}")


SETTINGS = [
    line_ends,
    attributes,
    attributes_where_git_looks_by_itself,
    a_filter_that_the_repository_asks_for,
    links_as_files,
    hooks,
    a_template,
    a_monitor,
]


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    repository = GitRepository(tmp_path / "upstream")
    repository.write("run.py", "print(1)\n")
    repository.write("version.txt", "$Id$\n")
    repository.write("model.bin", "version https://git-lfs.github.com/spec/v1\n")
    repository.write(".gitattributes", "*.bin filter=lfs\n")
    (repository.folder / "link").symlink_to("run.py")
    repository.commit()
    repository.git("commit", "--quiet", "--allow-empty", "--message", "the same once more")
    return repository


def opened(home: Path, store: Path) -> Doors:
    return doors(store, environment={"HOME": str(home)})


def clone(home: Path, repository: GitRepository) -> Path:
    """What the user's own git makes of the repository."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}
    for argv in (["clone", "--quiet", repository.url, "clone"], ["-C", "clone", "status"]):
        subprocess.run(["git", *argv], cwd=home, env=environment, check=True, capture_output=True)
    return home / "clone"


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_setting_that_changes_a_clone_does_not_change_the_source(
    setting: Callable[[Path], None], tmp_path: Path, repository: GitRepository
) -> None:
    home, mark = tmp_path / "home", tmp_path / "home/ran"
    home.mkdir()
    setting(home)
    ours = opened(home, tmp_path / "store")
    committed = read_folder(ours.store, repository.folder, (".git",)).kept.tree
    cloned = read_folder(ours.store, clone(home, repository), (".git",)).kept.tree
    assert cloned != committed or mark.exists()
    mark.unlink(missing_ok=True)
    source = GitSource(repository.url, repository.git("rev-parse", "HEAD~1"))
    locked = lock_source(sample_spec(source=source), Path("/nowhere"), ours).locked
    assert (locked.tree, locked.date) == (committed, DATE)
    assert not mark.exists()


def test_a_configuration_that_leaves_objects_out_of_fetches_is_overruled(
    tmp_path: Path, repository: GitRepository
) -> None:
    repository.git("config", "uploadpack.allowFilter", "true")
    configure(tmp_path, f'remote "{repository.url}"', "promisor = true", "partialCloneFilter = blob:none")
    ours = opened(tmp_path, tmp_path / "store")
    source = GitSource(repository.url, repository.git("rev-parse", "HEAD~1"))
    locked = lock_source(sample_spec(source=source), Path("/nowhere"), ours).locked
    assert locked.tree == read_folder(ours.store, repository.folder, (".git",)).kept.tree
