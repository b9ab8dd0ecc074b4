"""Who owns a path that two fragments have."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reprobridge.assemble.conflicts import Owned, Settlement, settle
from reprobridge.assemble.index import IndexEntry
from reprobridge.oci.tar import EntryKind


def file(path: str, content: str = "a", mode: int = 0o644) -> IndexEntry:
    """An index's row of a file."""
    return IndexEntry(path, EntryKind.FILE.value, mode, 1, content)


def link(path: str, target: str) -> IndexEntry:
    """An index's row of a symbolic link."""
    return IndexEntry(path, EntryKind.SYMLINK.value, 0o777, 0, target)


def folder(path: str, mode: int) -> IndexEntry:
    """An index's row of a folder with a mode of its own."""
    return IndexEntry(path, EntryKind.DIRECTORY.value, mode, 0, "")


def settled(*fragments: tuple[str, IndexEntry], owners: dict[str, str] | None = None) -> Settlement:
    """What becomes of fragments of one path each."""
    return settle([Owned(owner, [row]) for owner, row in fragments], owners or {})


def test_equal_files_may_stand_in_two_fragments() -> None:
    found = settled(("a", file("x/y")), ("b", file("x/y")))
    assert (found.omit, found.notes, found.problems) == ({}, [], [])


def test_of_different_files_the_package_whose_name_sorts_last_wins_and_it_is_said() -> None:
    found = settled(("b", file("x/y", "2")), ("a", file("x/y", "1")))
    assert found.omit == {"a": {"x/y"}}
    assert found.notes == ["/x/y: b wins over a, its name sorts last"]


def test_paths_that_differ_in_case_alone_are_noted_once_for_two_packages() -> None:
    one = Owned("one", [file("p/README"), file("p/a.py"), file("p/x/y")])
    two = Owned("two", [file("P/A.py"), file("p/readme"), file("p/z"), file("q/W")])
    found = settle([two, one], {})
    assert found.notes == [
        "one and two: /P/A.py and /p/a.py are one path where case doesn't count (macOS, Windows), and 1 path more"
    ]
    assert (found.omit, found.problems) == ({}, [])


def test_a_file_that_is_anothers_folder_where_case_does_not_count_is_noted() -> None:
    (note,) = settled(("a", file("x/Y")), ("b", file("x/y/z"))).notes
    assert note.startswith("a and b: /x/Y and /x/y are one path")


def test_folders_that_differ_in_case_alone_and_paths_of_one_package_are_not_noted() -> None:
    own = Owned("a", [file("x/Y"), file("x/y"), file("D/1")])
    assert settle([own, Owned("b", [file("d/2")])], {}).notes == []


@pytest.mark.parametrize("path", ["p/lib.so", "p/lib.so.1", "p-1.0.dist-info/METADATA"])
def test_native_libraries_and_metadata_need_the_authors_word(path: str) -> None:
    problem = settled(("a", file(path, "1")), ("b", file(path, "2"))).problems[0]
    assert problem.where == f"/{path}"
    assert "environment.python.owners" in str(problem.hint)


def test_the_hint_can_be_put_into_the_spec_as_it_is() -> None:
    path = "opt/env/lib/python3.11/site-packages/p/x.so"
    problem = settled(("a", file(path, "1")), ("b", file(path, "2"))).problems[0]
    assert "environment.python.owners: {p/x.so: b}" in str(problem.hint)


def test_the_authors_word_settles_a_native_library() -> None:
    found = settled(("a", file("p/x.so", "1")), ("b", file("p/x.so", "2")), owners={"p/x.so": "a"})
    assert (found.omit, found.problems) == ({"b": {"p/x.so"}}, [])


def test_a_file_where_another_has_a_folder_is_a_problem() -> None:
    found = settled(("a", file("x/y")), ("b", file("x/y/z")))
    assert [problem.where for problem in found.problems] == ["/x/y"]


def test_content_below_anothers_link_is_a_problem() -> None:
    found = settled(("a", link("lib64", "lib")), ("b", file("lib64/z")))
    assert "symbolic link of a" in found.problems[0].found


def test_a_folder_with_a_mode_of_its_own_may_hold_anothers_files() -> None:
    found = settled(("a", folder("out", 0o1777)), ("b", file("out/z")))
    assert found.problems == []


@pytest.mark.parametrize("named", [None, "a", "b", "c", "elsewhere"])
@pytest.mark.parametrize("contents", sorted({"".join(one) for one in permutations("XXY")}))
def test_of_three_packages_each_whose_file_is_another_than_the_winners_loses_it(
    contents: str, named: str | None
) -> None:
    fragments = [(name, file("p/x.py", content)) for name, content in zip("abc", contents, strict=True)]
    found = settled(*fragments, owners={"p/x.py": named} if named else {})
    winner = named if named in {"a", "b", "c"} else "c"
    kept = contents["abc".index(winner)]
    losers = [name for name, content in zip("abc", contents, strict=True) if content != kept]
    assert found.omit == {loser: {"p/x.py"} for loser in losers}
    reason = "the spec says so" if winner == named else "its name sorts last"
    assert found.notes == [f"/p/x.py: {winner} wins over {' and '.join(losers)}, {reason}"]


def test_a_word_for_a_package_without_the_path_settles_no_native_library() -> None:
    rows = (("a", file("p/x.so", "1")), ("b", file("p/x.so", "1")), ("c", file("p/x.so", "2")))
    (problem,) = settled(*rows, owners={"p/x.so": "elsewhere"}).problems
    assert problem.found == "different ones in a and b and c, and none in elsewhere, which the spec names"


@given(st.permutations(["a", "b", "c"]), st.lists(st.sampled_from("123"), min_size=3, max_size=3))
def test_the_order_of_fragments_does_not_matter(order: list[str], contents: list[str]) -> None:
    rows = {name: file("p/data.txt", content) for name, content in zip("abc", contents, strict=True)}
    first = settled(*((name, rows[name]) for name in "abc"))
    other = settled(*((name, rows[name]) for name in order))
    assert (first.omit, first.notes) == (other.omit, other.notes)
