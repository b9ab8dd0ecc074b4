"""Sets, and whose turn it is."""

import pytest

from benchmarks.cases import SETS, Case, PackageSet, orders, until, wheel_platforms
from benchmarks.papers import write_papers
from reprobridge.spec.parse import read_spec


def test_builders_take_turns_there_and_back() -> None:
    assert orders(["a", "b", "c"], 3) == [["a", "b", "c"], ["c", "b", "a"], ["a", "b", "c"]]


def test_cases_are_in_the_order_in_which_they_build_on_each_other() -> None:
    assert [case.name for case in Case] == ["COLD", "NOTHING", "EDIT", "ADD", "SECOND"]


def test_a_round_may_end_early_but_leaves_no_case_out_before() -> None:
    assert until(Case.SECOND) == list(Case)
    assert until(Case.COLD) == [Case.COLD]


@pytest.mark.parametrize("package_set", SETS.values(), ids=list(SETS))
def test_a_set_pins_every_wish_and_its_second_paper_shares_the_biggest(package_set: PackageSet) -> None:
    every = (*package_set.first, package_set.added, *package_set.second)
    assert all("==" in wish for wish in every)
    assert package_set.first[0] in package_set.second
    assert package_set.added not in package_set.first
    assert set(package_set.second) - set(package_set.first)


def test_wheels_are_chosen_for_the_base_systems_library_and_older_ones() -> None:
    platforms = wheel_platforms()
    assert platforms[0] == "manylinux_2_36_x86_64"
    assert {"manylinux_2_17_x86_64", "manylinux2014_x86_64"} <= set(platforms)


def test_the_papers_are_sound_artifacts(tmp_path_factory: pytest.TempPathFactory) -> None:
    papers = write_papers(tmp_path_factory.mktemp("papers") / "of a set", SETS["S"])
    specs = [read_spec(paper.folder) for paper in papers]
    assert [spec.paper.id for spec in specs] == [
        "benchmark-base",
        "benchmark-first",
        "benchmark-first",
        "benchmark-second",
    ]


def test_an_edit_changes_the_source_and_nothing_else(tmp_path_factory: pytest.TempPathFactory) -> None:
    papers = write_papers(tmp_path_factory.mktemp("papers") / "of a set", SETS["S"])
    before = {path: path.read_bytes() for path in papers.first.folder.rglob("*") if path.is_file()}
    papers.first.edit("again")
    changed = [path.name for path, data in before.items() if path.read_bytes() != data]
    assert changed == ["run.py"]
