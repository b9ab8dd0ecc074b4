"""The report: its forms, when it is complete, and that nothing but complete and passed counts."""

import io
import json
from pathlib import Path

import pytest

from reprobridge.digest import Digest, canonical_json
from reprobridge.frozen import replace
from reprobridge.store.store import Store
from reprobridge.validate.kept import RESULT, keep_report, kept_report
from reprobridge.validate.model import (
    NEEDS,
    PROMISES,
    SCHEMA,
    CheckId,
    CheckResult,
    Finding,
    Report,
    Verdict,
    passed,
)
from reprobridge.validate.table import checks_table, print_table
from reprobridge.validate.validation import CHECKS
from support.source_tree import ROOT


def report(**findings: Finding) -> Report:
    results = tuple(
        CheckResult(check=check, finding=findings.get(check.name, passed("fine")), milliseconds=12)
        for check in CheckId
    )
    return Report(image=Digest.of(b"image"), artifact="a" * 64, sandbox="bubblewrap", results=results)


FAILED = Finding(Verdict.FAILED, ("one", "two"))
NOT_RUN = Finding(Verdict.NOT_RUN, ("no GPU",))


def test_the_json_form_reads_back_and_has_a_canonical_encoding() -> None:
    made = report(GUIDE=FAILED, SMOKE=NOT_RUN)
    assert Report.from_json(json.loads(canonical_json(made.to_json()))) == made


@pytest.mark.parametrize("notes", [None, (), ("one", "two")])
def test_notes_of_the_build_read_back_and_change_no_verdict(notes: tuple[str, ...] | None) -> None:
    made = replace(report(), notes=notes)
    value = json.loads(canonical_json(made.to_json()))
    assert Report.from_json(value) == made
    assert value["notes"] == (None if notes is None else list(notes))
    assert made.passed


def test_a_report_of_a_release_without_notes_is_read() -> None:
    value = report().to_json()
    del value["notes"]
    assert Report.from_json(value) == report()


@pytest.mark.parametrize("notes", [1, "one", {}])
def test_notes_that_are_no_list_are_refused(notes: object) -> None:
    with pytest.raises(TypeError):
        Report.from_json({**report().to_json(), "notes": notes})


def test_only_a_complete_report_without_any_other_verdict_passes() -> None:
    assert report().passed
    assert not report(GUIDE=FAILED).passed
    assert not report(GUIDE=NOT_RUN).passed


@pytest.mark.parametrize("change", ["without the last", "with one twice", "without any", "in another order"])
def test_a_report_with_other_checks_is_not_complete(change: str) -> None:
    results = report().results
    changed = {
        "without the last": results[:-1],
        "with one twice": (*results, results[0]),
        "without any": (),
        "in another order": results[::-1],
    }[change]
    other = replace(report(), results=changed)
    assert not other.complete
    assert not other.passed


@pytest.mark.parametrize(
    "change",
    [{"schema": "reprobridge.validation/2"}, {"checks": [{}]}, {"image": "sha256:0"}, {"checks": None}],
)
def test_what_is_no_report_is_refused(change: dict[str, object]) -> None:
    value = {**report().to_json(), **change}
    with pytest.raises((ValueError, TypeError, KeyError)):
        Report.from_json(value)


def test_the_store_gives_the_last_report_of_exactly_this_image(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    assert kept_report(store, report().image) is None
    keep_report(store, report(GUIDE=FAILED))
    keep_report(store, report())
    assert kept_report(store, report().image) == report()
    assert kept_report(store, Digest.of(b"another")) is None
    store.remember(RESULT, report().image, {"schema": "another"})
    assert kept_report(store, report().image) is None


def test_the_table_names_every_check_and_every_fault() -> None:
    out = io.StringIO()
    print_table(report(GUIDE=FAILED, SMOKE=NOT_RUN), out)
    text = out.getvalue()
    assert all(check.value in text for check in CheckId)
    assert "13 of 15 checks passed; failed: guide.blocks; not run: tasks.smoke" in text
    assert "one" in text
    assert "\x1b" not in text


def test_the_table_repeats_the_notes_of_the_build_or_says_that_nobody_knows_them() -> None:
    out = io.StringIO()
    print_table(replace(report(), notes=("x" * 200, "[two]")), out)
    assert f"\nnote: {'x' * 200}\nnote: [two]\n" in out.getvalue()
    print_table(report(), out)
    assert "not known: the image was built elsewhere" in out.getvalue()


def test_every_check_of_the_version_has_a_function_and_a_promise() -> None:
    assert list(CHECKS) == list(PROMISES) == list(CheckId)
    assert SCHEMA == "reprobridge.validation/1"


def test_a_check_needs_only_checks_before_it() -> None:
    order = list(CheckId)
    assert all(
        order.index(needed) < order.index(check)
        for check, all_needed in NEEDS.items()
        for needed in all_needed
    )


def test_the_guide_lists_exactly_the_checks_of_this_version() -> None:
    guide = ROOT / "guides/reference/validation-report.md"
    assert checks_table() in guide.read_text()
