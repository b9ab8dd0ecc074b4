"""Putting repeated measurements together: medians, ratios, and whether digests agree."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.builders.model import Built
from benchmarks.cases import Case
from benchmarks.measure import Cost


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One build of one round."""

    case: Case
    """Which."""
    columns: tuple[str, ...]
    """The builder's columns."""
    built: Built
    """What came out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Series:
    """All rounds of one set."""

    title: str
    """What the set holds, for a heading."""
    wheels: int
    """Number of wheels of the first paper."""
    wheel_bytes: int
    """Their bytes."""
    runs: tuple[Run, ...]
    """Every build."""
    floors: tuple[Cost, ...]
    """The floor, once a round."""

    def columns(self) -> list[str]:
        """Every column, in order of first appearance."""
        return list(dict.fromkeys(column for run in self.runs for column in run.columns))

    def cases(self) -> list[Case]:
        """Every case that was run, in order."""
        return [case for case in Case if any(run.case is case for run in self.runs)]

    def cost(self, case: Case, column: str) -> Cost | None:
        """The median cost, each figure on its own; None when this was never run."""
        return median_cost(cost for run in self._of(case, column) for cost in [_cost(run, column)])

    def image(self, column: str) -> Built:
        """The image of a cold build."""
        return self._of(Case.COLD, column)[0].built

    def is_repeatable(self, column: str) -> bool | None:
        """Whether all clean builds gave the same digest; None where there was one, which proves nothing."""
        runs = self._of(Case.COLD, column)
        return len({run.built.digest for run in runs}) == 1 if len(runs) > 1 else None

    def _of(self, case: Case, column: str) -> list[Run]:
        return [run for run in self.runs if run.case is case and column in run.columns]


def _cost(run: Run, column: str) -> Cost:
    return run.built.costs[run.columns.index(column)]


def median_cost(costs: Iterable[Cost]) -> Cost | None:
    """Median of each figure; None of nothing."""
    found = list(costs)
    if not found:
        return None
    return Cost(
        wall=statistics.median(cost.wall for cost in found),
        cpu=statistics.median(cost.cpu for cost in found),
        memory=int(statistics.median(cost.memory for cost in found)),
        written=int(statistics.median(cost.written for cost in found)),
    )


def ratio(theirs: float, ours: float) -> str:
    """How many times as much, with two digits that mean something: `126x`, `2.9x`."""
    if ours <= 0:
        return "-"
    value = theirs / ours
    return f"{value:.1f}x" if value < 9.95 else f"{value:.0f}x"
