"""The table of pushes, and its place in the guide."""

from pathlib import Path

import pytest

from benchmarks.measure import Cost
from benchmarks.page import with_tables
from benchmarks.publishing import HEADINGS, rows
from benchmarks.pushes import OURS, SKOPEO, Push
from support.source_tree import ROOT


def push(title: str, wall: float, moved: int | None = 1_000_000) -> Push:
    return Push(title, Cost(wall=wall, cpu=wall / 2, memory=42_000_000, written=0), moved)


def test_rows_hold_medians_and_compare_with_skopeo() -> None:
    done = [push(SKOPEO, 4.0), push(OURS, 2.0), push(SKOPEO, 6.0), push(OURS, 1.0), push(OURS, 9.0)]
    assert list(rows(done, 100_000_000)) == [
        [SKOPEO, "5.00 (2.50)", "42", "1.000", "1.00 %", "1.0x"],
        [OURS, "2.00 (1.00)", "42", "1.000", "1.00 %", "2.5x"],
    ]


def test_what_nobody_counted_is_a_dash() -> None:
    (_, row) = rows([push(SKOPEO, 1.0), push("build", 1.0, None)], 1)
    assert row[3:5] == ["-", "-"]


def test_without_the_peer_there_is_no_table() -> None:
    with pytest.raises(LookupError, match=SKOPEO):
        list(rows([push(OURS, 1.0)], 1))


def test_the_guide_has_the_place() -> None:
    text = Path(ROOT / "guides" / "explanation" / "performance.md").read_text()
    assert HEADINGS[0] in with_tables(text, "", HEADINGS)
