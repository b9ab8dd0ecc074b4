"""Claims: no path that two fragments share escapes them, and packages side by side share none."""

from hypothesis import given
from hypothesis import strategies as st

from reprobridge.assemble.claims import DEPTH, Claims, claims_of, suspects
from reprobridge.assemble.conflicts import Owned, settle
from reprobridge.assemble.index import IndexEntry, parents
from reprobridge.oci.tar import EntryKind

SITE = "opt/env/lib/python3.11/site-packages"


def entry(path: str, kind: EntryKind = EntryKind.FILE, content: str = "") -> IndexEntry:
    return IndexEntry(path, kind.value, 0o644, 0, content)


paths = st.lists(st.sampled_from("abA"), min_size=1, max_size=DEPTH + 2).map("/".join)
kinds = st.sampled_from([EntryKind.FILE, EntryKind.SYMLINK, EntryKind.DIRECTORY])
rows = st.builds(entry, paths, kinds)
indexes = st.lists(rows, max_size=4, unique_by=lambda row: row.path)


def suspected(*fragments: list[IndexEntry]) -> list[int]:
    return suspects({number: claims_of(fragment) for number, fragment in enumerate(fragments)})


def meet(first: list[IndexEntry], second: list[IndexEntry]) -> bool:
    """Whether one has a path, other than a folder in both, that the other has or puts something into."""
    folders = {path for row in second for path in parents(row.path)}
    mine = {row.path for row in first if row.kind != EntryKind.DIRECTORY.value}
    return bool(mine & (folders | {row.path for row in second}))


@given(indexes, indexes, indexes)
def test_whoever_meets_another_is_a_suspect(
    first: list[IndexEntry], second: list[IndexEntry], third: list[IndexEntry]
) -> None:
    fragments = [first, second, third]
    found = suspected(*fragments)
    for number, one in enumerate(fragments):
        for other in fragments[number + 1 :]:
            if meet(one, other) or meet(other, one):
                assert number in found


@given(indexes, indexes, indexes)
def test_what_is_settled_among_suspects_is_what_is_settled_among_all(
    first: list[IndexEntry], second: list[IndexEntry], third: list[IndexEntry]
) -> None:
    fragments = {f"package-{number}": rows for number, rows in enumerate((first, second, third))}
    near = suspects({owner: claims_of(rows) for owner, rows in fragments.items()})
    every = settle((Owned(owner, rows) for owner, rows in fragments.items()), {})
    some = settle((Owned(owner, fragments[owner]) for owner in near), {})
    assert some == every


@given(indexes, indexes)
def test_whoever_has_a_path_that_differs_from_anothers_in_case_alone_is_a_suspect(
    first: list[IndexEntry], second: list[IndexEntry]
) -> None:
    lower = [[row._replace(path=row.path.lower()) for row in rows] for rows in (first, second)]
    if meet(*lower) or meet(*reversed(lower)):
        assert suspected(first, second) == [0, 1]


def test_packages_side_by_side_are_no_suspects_however_deep_their_files_are() -> None:
    numpy = [entry(f"{SITE}/numpy/core/include/numpy/{name}.h") for name in "abc"]
    scipy = [entry(f"{SITE}/scipy/{name}.py") for name in "abc"]
    marks = [entry(f"{SITE}/numpy-2.0.dist-info/REQUESTED")]
    numpy.append(entry(f"{SITE}/numpy-2.0.dist-info/RECORD"))
    assert suspected(numpy, scipy, marks) == []


def test_a_package_of_many_files_claims_few_paths() -> None:
    torch = [entry(f"{SITE}/torch/include/{number}/x.h") for number in range(1000)]
    assert claims_of(torch).paths == {f"{SITE}/torch/include"}


def test_a_folder_of_both_is_harmless() -> None:
    var = entry("var/tmp", EntryKind.DIRECTORY)
    assert suspected([var, entry("var/a")], [var, entry("var/b")]) == []


def test_claims_survive_the_store() -> None:
    claims = claims_of([entry("a/b/c"), entry("a/d", EntryKind.DIRECTORY)])
    assert Claims.from_json(claims.to_json()) == claims
    assert claims.folders == {"a", "a/b", "a/d"}


def test_anything_else_from_the_store_is_no_claims() -> None:
    assert Claims.from_json({"paths": 1}) is None
    assert Claims.from_json(None) is None
