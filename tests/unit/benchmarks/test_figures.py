"""Medians, ratios and agreement of digests."""

import pytest

from benchmarks.builders.model import Built
from benchmarks.cases import Case
from benchmarks.figures import Run, Series, median_cost, ratio
from benchmarks.measure import Cost


def cost(wall: float, cpu: float = 1.0, memory: int = 1, written: int = 1) -> Cost:
    return Cost(wall=wall, cpu=cpu, memory=memory, written=written)


def run(case: Case, digest: str, *costs: Cost, columns: tuple[str, ...] = ("ours",)) -> Run:
    built = Built(costs=costs, digest=digest, layers=3, size=5)
    return Run(case=case, columns=columns, built=built)


def series(*runs: Run) -> Series:
    return Series(title="S", wheels=1, wheel_bytes=1, runs=runs, floors=())


def test_each_figure_has_a_median_of_its_own() -> None:
    found = median_cost([cost(1, 9, 30, 4), cost(3, 1, 10, 6), cost(2, 5, 20, 5)])
    assert found == cost(2, 5, 20, 5)


def test_nothing_has_no_median() -> None:
    assert median_cost([]) is None


@pytest.mark.parametrize(
    ("theirs", "ours", "shown"),
    [(126.4, 1.0, "126x"), (2.94, 1.0, "2.9x"), (0.5, 1.0, "0.5x"), (9.96, 1.0, "10x"), (1.0, 0.0, "-")],
)
def test_a_ratio_shows_two_digits_or_more(theirs: float, ours: float, shown: str) -> None:
    assert ratio(theirs, ours) == shown


def test_costs_of_two_commands_add_up_but_memory_is_the_larger() -> None:
    assert cost(1, 2, 30, 4) + cost(5, 6, 7, 8) == cost(6, 8, 30, 12)


def test_a_builder_with_two_results_has_two_columns() -> None:
    built = run(Case.COLD, "a", cost(1), cost(4), columns=("build", "build + push"))
    found = series(built, run(Case.COLD, "b", cost(2)))
    assert found.columns() == ["build", "build + push", "ours"]
    assert [found.cost(Case.COLD, column) for column in found.columns()] == [cost(1), cost(4), cost(2)]
    assert found.cost(Case.ADD, "ours") is None


def test_digests_agree_only_when_all_cold_builds_gave_one() -> None:
    cold = run(Case.COLD, "a", cost(1))
    other = run(Case.ADD, "b", cost(1))
    assert series(cold, cold, other).is_repeatable("ours")
    assert not series(cold, run(Case.COLD, "b", cost(1))).is_repeatable("ours")
    assert not series(cold).is_repeatable("ours")
