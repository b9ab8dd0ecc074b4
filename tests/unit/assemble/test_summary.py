"""Summaries of layers: no two layers that share a path are taken for strangers."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from reprobridge.assemble.claims import Claims, claims_of, suspects
from reprobridge.assemble.index import IndexEntry
from reprobridge.assemble.summary import Summary, summarise
from reprobridge.oci.tar import EntryKind

PATHS = st.lists(st.sampled_from("ab\udce9"), min_size=1, max_size=4).map("/".join)
KINDS = st.sampled_from([EntryKind.FILE, EntryKind.SYMLINK, EntryKind.DIRECTORY])
ROWS = st.builds(lambda path, kind: IndexEntry(path, kind.value, 0o644, 0, ""), PATHS, KINDS)
PARTS = st.lists(ROWS, max_size=3, unique_by=lambda row: row.path).map(claims_of)
LAYERS = st.lists(st.lists(PARTS, min_size=1, max_size=3), min_size=1, max_size=4)


@given(LAYERS)
def test_whoever_is_suspected_among_all_parts_is_in_a_suspected_or_a_crowded_layer(
    layers: Sequence[Sequence[Claims]],
) -> None:
    parts = {(row, column): part for row, layer in enumerate(layers) for column, part in enumerate(layer)}
    summaries = {row: summarise(layer, ()) for row, layer in enumerate(layers)}
    close = {*suspects(summaries), *(row for row, summary in summaries.items() if summary.crowded)}
    assert {row for row, _ in suspects(parts)} <= close


@given(st.lists(PARTS, min_size=1, max_size=3), st.lists(st.text(), max_size=2).map(tuple))
def test_a_summary_survives_the_store(parts: Sequence[Claims], notes: tuple[str, ...]) -> None:
    summary = summarise(parts, notes)
    assert Summary.from_json(summary.to_json()) == Summary.from_json({**summary.to_json()}) == summary


def test_anything_else_from_the_store_is_no_summary() -> None:
    whole = summarise([claims_of([])], ()).to_json()
    assert Summary.from_json(None) is None
    assert Summary.from_json({**whole, "rules": 0}) is None
    assert Summary.from_json({**whole, "paths": [[1]]}) is None
    for key in whole:
        assert Summary.from_json({name: value for name, value in whole.items() if name != key}) is None
