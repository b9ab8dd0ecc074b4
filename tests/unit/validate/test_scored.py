"""Scored evidence in the store: found again by what was measured, whatever image delivered it."""

from pathlib import Path

import pytest

from reprobridge.digest import Json
from reprobridge.store.store import Store
from reprobridge.validate.scored import RESULT, Scored, keep_scored, kept_scored, measured_key, record_bytes
from reprobridge_launcher import manifest as launcher_manifest
from reprobridge_launcher.manifest import Manifest
from reprobridge_launcher.record import replaced
from support import launcher_artifact
from support.publishing import failed, record_of


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def artifact() -> Manifest:
    return launcher_manifest.parse(launcher_artifact.manifest())


def test_a_record_that_counts_is_kept_and_found(store: Store, artifact: Manifest) -> None:
    (task,) = artifact.tasks
    record = record_of(artifact, task)
    assert keep_scored(store, artifact, record)
    kept = kept_scored(store, artifact, task)
    assert kept is not None
    assert kept.record == record


def test_an_image_with_another_guide_but_the_same_code_and_lock_has_the_same_evidence(
    store: Store, artifact: Manifest
) -> None:
    (task,) = artifact.tasks
    keep_scored(store, artifact, record_of(artifact, task))
    other = replaced(artifact, artifact=replaced(artifact.artifact, id="b" * 64))
    assert kept_scored(store, other, task) is not None


@pytest.mark.parametrize(
    "what",
    [
        {"source": {"kind": "path", "origin": "./src", "commit": None, "tree": "1" * 64}},
        {"environment": {"python": None, "variables": {"OMP_NUM_THREADS": "1"}, "locks": {"/l": "1" * 64}}},
        {"environment": {"python": None, "variables": {"OMP_NUM_THREADS": "2"}, "locks": {}}},
        {"tasks": [launcher_artifact.task(digest="e" * 64)]},
    ],
)
def test_other_code_locks_variables_or_tasks_have_none(
    store: Store, artifact: Manifest, what: dict[str, object]
) -> None:
    keep_scored(store, artifact, record_of(artifact, artifact.tasks[0]))
    other = launcher_manifest.parse(launcher_artifact.manifest(**what))
    assert kept_scored(store, other, other.tasks[0]) is None


@pytest.mark.parametrize(
    "changes",
    [{"deviations": ("seed 1 only",)}, {"witness": "launcher"}, {"mode": "smoke"}, {"task": "none"}],
)
def test_what_does_not_count_is_not_kept(
    store: Store, artifact: Manifest, changes: dict[str, object]
) -> None:
    assert not keep_scored(store, artifact, record_of(artifact, artifact.tasks[0], **changes))
    assert kept_scored(store, artifact, artifact.tasks[0]) is None


def test_a_failure_on_a_machine_that_lacks_what_the_task_needs_is_not_kept_but_a_value_is(
    store: Store, artifact: Manifest
) -> None:
    (task,) = artifact.tasks
    lacking = ("memory: 1.0 GiB, free 1.0 GiB; lda needs 16.0 GiB",)
    broken = replaced(record_of(artifact, task, **failed("resource_or_access")), unfit=lacking)
    assert not keep_scored(store, artifact, broken)
    assert keep_scored(store, artifact, record_of(artifact, task, unfit=lacking))


def test_a_value_replaces_a_failure_and_not_the_other_way_round(store: Store, artifact: Manifest) -> None:
    (task,) = artifact.tasks
    for record, value in (
        (record_of(artifact, task, **failed("execution_blocked")), None),
        (record_of(artifact, task), 98.8764),
        (record_of(artifact, task, **failed("extraction_error")), 98.8764),
        (record_of(artifact, task, value=98.5), 98.5),
    ):
        keep_scored(store, artifact, record)
        kept = kept_scored(store, artifact, task)
        assert kept is not None
        assert kept.record.value == value


def test_a_record_that_names_something_twice_is_none(artifact: Manifest) -> None:
    data = record_bytes(record_of(artifact, artifact.tasks[0]))
    assert Scored.parse(data).record.task == artifact.tasks[0].id
    with pytest.raises(ValueError, match="twice"):
        Scored.parse(data.replace(b"{", b'{"value": 99.0,', 1))


def test_a_damaged_record_counts_as_none(store: Store, artifact: Manifest) -> None:
    (task,) = artifact.tasks
    values: tuple[Json, ...] = ({"record": "{}"}, {"record": "no JSON"}, {"other": 1}, [])
    for value in values:
        store.remember(RESULT, measured_key(artifact, task), value)
        assert kept_scored(store, artifact, task) is None
