"""Globs of files that must not reach the tree, and version control, which never does."""

import pytest

from reprobridge.lock.exclusion import Exclusion


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("results", "results"),
        ("results", "results/a/b.csv"),
        ("results/", "results/a.csv"),
        ("./results", "results/a.csv"),
        ("results/**", "results/a.csv"),
        ("results/**", "results/a/b.csv"),
        ("**/scores.json", "scores.json"),
        ("**/scores.json", "a/b/scores.json"),
        ("**/cache", "a/cache/b"),
        ("a/**/z", "a/z"),
        ("a/**/z", "a/b/c/z"),
        ("*.csv", "x.csv"),
        ("*.csv", ".csv"),
        ("d/*/x", "d/.hidden/x"),
        ("run?.py", "run1.py"),
        ("run[0-9].py", "run1.py"),
        ("run[!0-9].py", "runx.py"),
        ("run[^0-9].py", "runx.py"),
        ("[]a].py", "].py"),
        ("[a-].py", "-.py"),
        ("a[b", "a[b"),
        ("a.b+c", "a.b+c"),
        ("**", "anything/at/all"),
        ("line\nbreak*", "line\nbreaks"),
        ("*a*b*", "xaaybb"),
        ("*ab*ab", "abcab"),
        ("a*b/*", "axbxb/c"),
        ("**/a*/**/b/**/*.c", "a/a1/b/b/x/y.c"),
        ("**/**/x/**/**", "y/x/z"),
        ("a/**/**/z", "a/z"),
    ],
)
def test_a_glob_covers(glob: str, path: str) -> None:
    assert Exclusion([glob]).covers(path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("results", "my/results"),
        ("results", "results2"),
        ("results/**", "results"),
        ("*.csv", "a/x.csv"),
        ("**/scores.json", "my-scores.json"),
        ("a/**/z", "az"),
        ("run?.py", "run/.py"),
        ("run[!0-9].py", "run/.py"),
        ("run[!0-9].py", "run5.py"),
        ("a.b", "axb"),
        ("[z-a]", "m"),
        ("Results", "results"),
        ("*ab*ab", "abxa"),
        ("**/a/**/b", "b/a"),
        ("**/a/b/**/b", "a/b"),
        ("**/x/**", "y/x"),
    ],
)
def test_a_glob_does_not_cover(glob: str, path: str) -> None:
    assert not Exclusion([glob]).covers(path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [("*a" * 40 + "b", "a" * 250), ("**/a/" * 40 + "b", "a/" * 2000 + "c"), ("a**" * 40 + "b", "a" * 250)],
    ids=["stars", "folders", "double stars"],
)
def test_a_hostile_glob_does_not_take_for_ever(glob: str, path: str) -> None:
    assert not Exclusion([glob]).covers(path)


@pytest.mark.parametrize(
    "path", [".git", "a/.git", "a/.git/config", ".hg/x", "lib/.svn/entries", ".GIT/config", "sub/.Git"]
)
def test_version_control_is_never_part_of_a_tree(path: str) -> None:
    assert Exclusion().covers(path)
    assert Exclusion().covers_folder(path)


@pytest.mark.parametrize(
    "path", [".gitignore", ".gitattributes", ".gitmodules", "a.git", "__pycache__/x.pyc"]
)
def test_everything_else_is_the_authors(path: str) -> None:
    assert not Exclusion().covers(path)


@pytest.mark.parametrize("glob", ["results", "results/**", "**/results", "res*/**"])
def test_a_folder_that_is_excluded_as_a_whole_need_not_be_walked(glob: str) -> None:
    assert Exclusion([glob]).covers_folder("results")


@pytest.mark.parametrize("glob", ["results/*.csv", "results/a/**", "**/a", "results/[!a]"])
def test_a_folder_of_which_something_may_stay_is_walked(glob: str) -> None:
    assert not Exclusion([glob]).covers_folder("results")


def test_globs_that_matched_nothing_are_known() -> None:
    exclusion = Exclusion(["resutls/**", "results/**", "*.log"])
    exclusion.covers_folder("results")
    exclusion.covers("a.log")
    assert exclusion.unused == ("resutls/**",)
