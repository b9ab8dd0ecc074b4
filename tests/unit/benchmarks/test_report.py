"""The report's tables, and their place in the page."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from benchmarks.builders.model import Built
from benchmarks.cases import Case
from benchmarks.figures import Run, Series
from benchmarks.machine import Machine
from benchmarks.measure import Cost
from benchmarks.page import BEGIN, END, with_tables
from benchmarks.report import OURS, Report, StartUp
from support.source_tree import ROOT


def run(case: Case, column: str, wall: float) -> Run:
    cost = Cost(wall=wall, cpu=wall / 2, memory=150_000_000, written=2_500_000)
    built = Built(costs=(cost,), digest="sha256:a", layers=13, size=289_000_000)
    return Run(case=case, columns=(column,), built=built)


def report(cases: Iterable[Case] = Case) -> Report:
    runs = [run(case, *costs) for costs in ((OURS, 0.1), ("umoci + uv", 12.0)) for case in cases]
    runs.append(run(Case.COLD, "reprobridge, cold base", 9.0))
    floor = Cost(wall=0.1, cpu=0.04, memory=0, written=0)
    series = Series(title="M: torch", wheels=14, wheel_bytes=219_000_000, runs=tuple(runs), floors=(floor,))
    return Report(
        date="2026-11-29",
        machine=Machine(processor="A processor", cores=2, memory=24 << 30, kernel="Linux 6.1"),
        programs=["umoci 0.4.7"],
        series=[series],
        start_up=StartUp(python=0.015, help=0.1),
    )


def rows(text: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    for table in re.findall(r"(?:^\|.*\n)+", report().tables(), flags=re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1


def test_every_case_has_a_row_with_times_and_ratios() -> None:
    found = {row[0]: row for row in rows(report().tables())}
    assert found["one package added"] == [
        "one package added",
        "0.10 (0.05)",
        "12.00 (6.00)",
        "-",
        "120x",
    ]


def test_cases_that_were_not_run_have_no_row() -> None:
    found = {row[0] for row in rows(report([Case.COLD]).tables())}
    assert "cold" in found
    assert not found & {case.value for case in Case if case is not Case.COLD}
    assert "written to disk, second paper, MB" not in found


def test_the_cold_cpu_is_compared_with_the_floor() -> None:
    assert "takes 1.2x its CPU" in report().tables()


def test_what_was_not_measured_is_a_dash() -> None:
    found = {row[0]: row[1] for row in rows(report().tables())}
    assert found["in an image: `python3 -c pass`"] == "-"
    assert found["`reprobridge --help`"] == "100"


def test_tables_replace_those_before_and_nothing_else() -> None:
    page = f"before\n{BEGIN}\nold\n\n{END}\nafter\n"
    assert with_tables(page, "new\n") == f"before\n{BEGIN}\nnew\n\n{END}\nafter\n"


@pytest.mark.parametrize("page", ["", f"{BEGIN}\n", f"{END}\n{BEGIN}\n"])
def test_a_page_without_its_place_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="expected a page"):
        with_tables(page, "new\n")


def test_the_guide_has_the_place() -> None:
    text = Path(ROOT / "guides" / "explanation" / "performance.md").read_text()
    assert with_tables(text, "").count(BEGIN) == 1
