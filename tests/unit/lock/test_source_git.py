"""Commits as sources, by the real git from local repositories."""

from pathlib import Path

import pytest

from reprobridge.errors import LockError, NetworkError, ReproBridgeError
from reprobridge.lock.doors import Doors
from reprobridge.lock.folder import read_folder
from reprobridge.lock.git import Blob, Repository, is_local, resolve_relative
from reprobridge.lock.kept_tree import tree_blob
from reprobridge.lock.source import UNDATED, ResolvedSource, lock_source
from reprobridge.lock.tree import read_tree
from reprobridge.spec.model import GitSource
from support.file_server import FileServer
from support.git_repository import DATE, GitRepository
from support.lock_doors import doors, impatient, temporary_files
from support.specs import sample_spec


@pytest.fixture
def opened(store_folder: Path) -> Doors:
    return doors(store_folder)


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    repository = GitRepository(tmp_path / "upstream")
    repository.write("run.py", "print(1)\r\n")
    repository.write("tool.sh", "#!/bin/sh\n", mode=0o755)
    repository.write("sub/deep é.txt", "deep")
    (repository.folder / "link").symlink_to("sub")
    return repository


def lock(opened: Doors, source: GitSource, *exclude: str) -> ResolvedSource:
    return lock_source(sample_spec(source=source, exclude=exclude), Path("/nowhere"), opened)


def names(opened: Doors, resolved: ResolvedSource) -> list[str]:
    blob = opened.store.path(tree_blob(opened.store, resolved.locked.tree))
    return [entry.path for entry, _ in read_tree(blob)]


def refusal(opened: Doors, source: GitSource, error: type[ReproBridgeError] = LockError) -> str:
    with pytest.raises(error) as raised:
        lock(opened, source)
    assert not temporary_files(opened.store.root)
    return str(raised.value)


def test_a_commit_is_the_tree_of_its_check_out_with_the_commits_date(
    opened: Doors, repository: GitRepository
) -> None:
    commit = repository.commit()
    resolved = lock(opened, GitSource(repository.url, commit))
    assert resolved.locked.tree == read_folder(opened.store, repository.folder, (".git",)).kept.tree
    assert (resolved.locked.kind, resolved.locked.origin) == ("git", repository.url)
    assert (resolved.locked.commit, resolved.locked.date) == (commit, DATE)
    assert resolved.locked.refined == resolved.locked.tree
    assert not temporary_files(opened.store.root)


def test_attributes_filters_and_line_ends_change_nothing(opened: Doors, repository: GitRepository) -> None:
    repository.write("secret.txt", "part of the source\n")
    repository.write("version.txt", "$Format:%H$ $Id$\n")
    repository.git("add", "--all")
    repository.write(
        ".gitattributes",
        "secret.txt export-ignore\nversion.txt export-subst ident\n*.py text eol=lf working-tree-encoding=UTF-16\n"
        "*.sh filter=lfs\n",
    )
    repository.git("-c", "filter.lfs.clean=cat", "add", ".gitattributes")
    repository.git("commit", "--quiet", "--message", "attributes")
    resolved = lock(opened, GitSource(repository.url, repository.git("rev-parse", "HEAD")))
    assert resolved.locked.tree == read_folder(opened.store, repository.folder, (".git",)).kept.tree


def test_a_subdirectory_is_a_source_of_its_own(opened: Doors, repository: GitRepository) -> None:
    resolved = lock(opened, GitSource(repository.url, repository.commit(), subdirectory="sub"))
    assert names(opened, resolved) == ["deep é.txt"]


def test_a_missing_subdirectory_is_named(opened: Doors, repository: GitRepository) -> None:
    message = refusal(opened, GitSource(repository.url, repository.commit(), subdirectory="none"))
    assert "a folder none" in message


def test_exclusions_are_not_even_read(opened: Doors, repository: GitRepository) -> None:
    repository.write("results/score.csv", "98.9\n")
    resolved = lock(opened, GitSource(repository.url, repository.commit()), "results/**", "typo/**")
    assert names(opened, resolved) == ["link", "run.py", "sub/deep é.txt", "tool.sh"]
    assert resolved.warnings == ("source.exclude: 'typo/**' matches nothing",)


def test_a_commit_inside_of_the_history_is_found(opened: Doors, repository: GitRepository) -> None:
    first = repository.commit()
    repository.write("run.py", "print(2)\n")
    repository.commit()
    assert lock(opened, GitSource(repository.url, first)).locked.commit == first


def test_a_server_that_only_gives_whole_branches_is_asked_for_them(
    store_folder: Path, repository: GitRepository, file_server: FileServer
) -> None:
    first = repository.commit()
    repository.write("run.py", "print(2)\n")
    repository.commit()
    repository.git("update-server-info")
    # Plain files: the "dumb" protocol, which knows no single commits.
    url = file_server.put_folder(repository.folder / ".git", at="/upstream.git")
    resolved = lock(doors(store_folder, network=impatient()), GitSource(url, first))
    assert resolved.locked.tree == lock(doors(store_folder), GitSource(repository.url, first)).locked.tree


def test_a_commit_that_is_not_there_is_named(opened: Doors, repository: GitRepository) -> None:
    repository.commit()
    message = refusal(opened, GitSource(repository.url, "0123456789" * 4))
    assert "0123456789" * 4 in message
    assert "does not have the commit" in message


def test_something_that_is_no_commit_is_refused(opened: Doors, repository: GitRepository) -> None:
    repository.commit()
    assert "commit" in refusal(opened, GitSource(repository.url, repository.git("rev-parse", "HEAD^{tree}")))


def test_a_repository_that_is_not_there_is_named_with_gits_words(opened: Doors, tmp_path: Path) -> None:
    url = (tmp_path / "none").as_uri()
    message = refusal(opened, GitSource(url, "0" * 40), NetworkError)
    assert url in message


@pytest.mark.parametrize("login", ["ann:secret", "ghp_secret"])
def test_a_login_in_the_sources_own_gitmodules_is_warned_about_and_not_shown(
    opened: Doors, repository: GitRepository, tmp_path: Path, login: str
) -> None:
    inner = GitRepository(tmp_path / "inner")
    inner.commit()
    repository.git("submodule", "--quiet", "add", inner.url, "libs/inner")
    address = f"https://{login}@127.0.0.1:9/inner"
    repository.git("config", "--file", ".gitmodules", "submodule.libs/inner.url", address)
    commit = repository.commit()
    warning = ".gitmodules holds a login, and would reach the image: the address of libs/inner"
    assert warning in lock(opened, GitSource(repository.url, commit)).warnings
    message = refusal(opened, GitSource(repository.url, commit, submodules=True), NetworkError)
    assert "secret" not in message


def test_a_submodule_of_a_server_never_leads_to_this_machine(
    store_folder: Path, repository: GitRepository, file_server: FileServer, tmp_path: Path
) -> None:
    own = GitRepository(tmp_path / "own")
    own.write("key.txt", "private\n")
    own.commit()
    repository.git("submodule", "--quiet", "add", own.url, "libs/own")
    repository.git("config", "--file", ".gitmodules", "submodule.libs/own.url", "https://git.example.org/own")
    commit = repository.commit()
    repository.git("update-server-info")
    url = file_server.put_folder(repository.folder / ".git", at="/upstream.git")
    # Not even where the user's own git would be led here for the sake of an address of theirs.
    (tmp_path / ".gitconfig").write_text(
        f'[url "{tmp_path.as_uri()}/"]\n\tinsteadOf = https://git.example.org/\n'
    )
    opened = doors(store_folder, network=impatient(), environment={"HOME": str(tmp_path)})
    message = refusal(opened, GitSource(url, commit, submodules=True), NetworkError)
    assert "transport 'file' not allowed" in message


@pytest.mark.parametrize("url", ["ext::sh -c 'touch owned'", "fd::17/foo", "--upload-pack=touch owned"])
def test_an_address_never_runs_a_command(opened: Doors, tmp_path: Path, url: str) -> None:
    refusal(opened, GitSource(url, "0" * 40), NetworkError)
    assert not list(tmp_path.rglob("owned"))


def test_submodules_are_part_of_the_tree_when_asked_for(
    opened: Doors, repository: GitRepository, tmp_path: Path
) -> None:
    inner = GitRepository(tmp_path / "inner")
    inner.write("deep.py", "deep\n")
    inner.commit()
    middle = GitRepository(tmp_path / "middle")
    middle.write("middle.py", "middle\n")
    middle.git("submodule", "--quiet", "add", inner.url, "libs/inner")
    middle.commit()
    repository.git("submodule", "--quiet", "add", "../middle", "libs/middle")
    commit = repository.commit()
    resolved = lock(opened, GitSource(repository.url, commit, submodules=True))
    assert {"libs/middle/middle.py", "libs/middle/libs/inner/deep.py"} <= set(names(opened, resolved))
    below = lock(opened, GitSource(repository.url, commit, submodules=True, subdirectory="libs"))
    assert "middle/middle.py" in names(opened, below)
    without = lock(opened, GitSource(repository.url, commit))
    assert "libs/middle/middle.py" not in names(opened, without)
    assert without.warnings == ("the submodule libs/middle is not part of the source",)


def test_a_submodule_that_cannot_be_fetched_is_named(opened: Doors, repository: GitRepository) -> None:
    other = "1" * 40
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{other},libs/lost")
    repository.git("commit", "--quiet", "--message", "lost")
    source = GitSource(repository.url, repository.git("rev-parse", "HEAD"), submodules=True)
    message = refusal(opened, source)
    assert "libs/lost" in message
    assert "submodules: false" in message


def test_a_submodule_that_climbs_out_of_its_server_is_refused(
    opened: Doors, repository: GitRepository
) -> None:
    address = "../" * 16 + "x"
    repository.write(".gitmodules", f'[submodule "up"]\n\tpath = up\n\turl = {address}\n')
    repository.git("add", ".gitmodules")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},up")
    repository.git("commit", "--quiet", "--message", "up")
    source = GitSource(repository.url, repository.git("rev-parse", "HEAD"), submodules=True)
    message = refusal(opened, source)
    assert "stays on the server" in message
    assert address in message


@pytest.mark.parametrize("date", ["-5000000", "99999999999999999999"])
def test_a_commit_whose_date_nobody_can_read_is_undated(
    opened: Doors, repository: GitRepository, date: str
) -> None:
    tree = repository.git("rev-parse", f"{repository.commit()}^{{tree}}")
    text = f"tree {tree}\nauthor a <a@b> 0 +0000\ncommitter a <a@b> {date} +0000\n\nodd\n"
    path = repository.folder.parent / "commit"
    path.write_text(text)
    commit = repository.git("hash-object", "-t", "commit", "-w", "--literally", str(path))
    repository.git("update-ref", "refs/heads/odd", commit)
    assert lock(opened, GitSource(repository.url, commit)).locked.date == UNDATED


def test_a_remembered_commit_needs_neither_git_nor_network(opened: Doors, repository: GitRepository) -> None:
    source = GitSource(repository.url, repository.commit())
    first = lock(opened, source)
    assert lock(doors(opened.store.root, environment={"PATH": "/nowhere"}), source) == first


def test_an_empty_commit_is_refused(opened: Doors, tmp_path: Path) -> None:
    empty = GitRepository(tmp_path / "empty")
    with pytest.raises(ReproBridgeError, match="the source is empty"):
        lock(opened, GitSource(empty.url, empty.commit()))


@pytest.mark.parametrize(
    ("base", "url", "expected"),
    [
        ("https://h/a/b.git", "../c.git", "https://h/a/c.git"),
        ("https://h/a/b/", "./c", "https://h/a/b/c"),
        ("https://h/a/b", "../../x/y", "https://h/x/y"),
        ("git@h:a", "../c", "git@h:c"),
        ("git@h:a/b", "../c", "git@h:a/c"),
        ("git@h:/a", "../c", "git@h:/c"),
        ("ssh://git@h:22/a", "../c", "ssh://git@h:22/c"),
        ("/srv/a:b/c", "../d", "/srv/a:b/d"),
        ("https://h/a", "https://other/x", "https://other/x"),
        ("https://h/a", "../../x", None),
        ("ssh://git@h:22/a", "../../x", None),
        ("git@h:a", "../../x", None),
        ("file:///srv", "../.././../x", None),
        ("/srv", "../../x", None),
        ("", "../x", None),
    ],
)
def test_a_relative_submodule_address_is_resolved_as_git_does(
    base: str, url: str, expected: str | None
) -> None:
    assert resolve_relative(base, url) == expected


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("file:///x", True),
        ("/x/y", True),
        ("https://h/x", False),
        ("ssh://h/x", False),
        ("git@h:x/y", False),
        ("h:x", False),
        ("./a:b", True),
        ("FILE:///x", True),
        ("https://[x", False),
    ],
)
def test_what_git_would_read_from_this_machine_is_known(url: str, local: bool) -> None:
    assert is_local(url) == local


def test_a_commit_without_all_of_its_objects_is_refused_with_a_way_out(
    opened: Doors, repository: GitRepository
) -> None:
    gone = Blob("100644", "1" * 40, 5, "gone.txt")
    with (
        Repository.with_commit(opened, repository.url, repository.commit()) as fetched,
        pytest.raises(LockError, match="the commit is incomplete") as caught,
        fetched.contents([gone]),
    ):
        pass
    assert "`git fsck`" in str(caught.value.hint)
