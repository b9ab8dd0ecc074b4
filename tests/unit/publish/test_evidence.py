"""Finding the report and the evidence: in the store, in files and folders, from elsewhere."""

import json
import os
import re
from pathlib import Path

import pytest

from reprobridge.digest import Digest
from reprobridge.errors import PublishError, TrustError
from reprobridge.publish.evidence import find_evidence, find_report
from reprobridge.publish.statements.validation import EXTENSION, read_validation
from reprobridge.store.store import Store
from reprobridge.validate.kept import RESULT, keep_report
from reprobridge.validate.scored import keep_scored, record_bytes
from reprobridge_launcher import evidence
from reprobridge_launcher import manifest as launcher_manifest
from reprobridge_launcher.manifest import Manifest
from support import launcher_artifact
from support.publishing import failed, record_of, report_about, scored, text_of

IMAGE = Digest.of(b"image")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


@pytest.fixture
def artifact() -> Manifest:
    return launcher_manifest.parse(launcher_artifact.manifest())


def write(folder: Path, name: str, record: evidence.Evidence) -> None:
    place = folder / "lda" / name
    place.mkdir(parents=True)
    (place / "runner.json").write_bytes(record_bytes(record))


def test_the_stores_report_is_found_unless_a_file_is_named(
    store: Store, artifact: Manifest, tmp_path: Path
) -> None:
    assert find_report(store, IMAGE, None) is None
    kept, other = (report_about(digest, artifact) for digest in (IMAGE, Digest.of(b"other")))
    keep_report(store, kept)
    file = tmp_path / "report.json"
    file.write_text(text_of(other))
    assert find_report(store, IMAGE, None) == kept
    assert find_report(store, IMAGE, file) == other


@pytest.mark.parametrize("content", [None, "", "[]", json.dumps({"schema": "reprobridge.validation/2"})])
def test_a_file_that_is_no_report_is_refused(store: Store, tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "report.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(PublishError, match=r"report\.json: the validation report cannot be read") as caught:
        find_report(store, IMAGE, file)
    assert "reprobridge.validation/1" in str(caught.value.expected)
    assert "expected" not in str(caught.value.found)


def test_a_pipe_that_nobody_writes_to_is_no_report(store: Store, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "report.json")
    with pytest.raises(PublishError, match="cannot be read"):
        find_report(store, IMAGE, tmp_path / "report.json")


@pytest.mark.parametrize("change", ['"image": 5', '"milliseconds": 1e999', '"image": "sha512:0"'])
def test_a_report_with_broken_values_is_refused_or_not_there(
    store: Store, artifact: Manifest, tmp_path: Path, change: str
) -> None:
    report = report_about(IMAGE, artifact)
    text = re.sub(f"{change.partition(':')[0]}: [^,}}]+", change, json.dumps(report.to_json()))
    file = tmp_path / "report.json"
    file.write_text(text)
    with pytest.raises(PublishError, match="cannot be read"):
        find_report(store, IMAGE, file)
    keep_report(store, report)
    store._result_path(RESULT, IMAGE).write_text(text)
    assert find_report(store, IMAGE, None) is None
    with pytest.raises(TrustError, match="cannot be read"):
        read_validation({EXTENSION: {"report": json.loads(text), "acceptNotRun": [], "acceptUnmeasured": []}})


def test_evidence_is_found_in_folders_and_what_counts_wins(
    store: Store, artifact: Manifest, tmp_path: Path
) -> None:
    (task,) = artifact.tasks
    assert find_evidence(store, artifact, [], {}) == {}
    write(tmp_path, "1", record_of(artifact, task, deviations=("seed 1 only",), start=9.0))
    assert find_evidence(store, artifact, [tmp_path], {})["lda"].record.deviations == ("seed 1 only",)
    write(tmp_path, "2", record_of(artifact, task, start=5.0, **failed("execution_blocked")))
    assert find_evidence(store, artifact, [tmp_path], {})["lda"].record.start == 5.0
    write(tmp_path, "3", record_of(artifact, task, start=2.0))
    assert find_evidence(store, artifact, [tmp_path], {})["lda"].record.start == 2.0
    keep_scored(store, artifact, record_of(artifact, task, start=3.0))
    assert find_evidence(store, artifact, [tmp_path], {})["lda"].record.start == 3.0
    offered = {"lda": scored(record_of(artifact, task, start=4.0))}
    assert find_evidence(store, artifact, [tmp_path], offered)["lda"].record.start == 4.0


@pytest.mark.parametrize(
    ("name", "found"), [("nope", "nothing"), ("file", "a file"), ("empty", "a folder without one")]
)
def test_what_is_no_folder_of_evidence_is_refused(
    store: Store, artifact: Manifest, tmp_path: Path, name: str, found: str
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(PublishError, match="there is no evidence") as caught:
        find_evidence(store, artifact, [tmp_path / name], {})
    assert (caught.value.where, caught.value.found) == (str(tmp_path / name), found)


def test_a_broken_record_in_a_named_folder_is_an_error(
    store: Store, artifact: Manifest, tmp_path: Path
) -> None:
    (tmp_path / "lda" / "1").mkdir(parents=True)
    (tmp_path / "lda" / "1" / "runner.json").write_text("{}")
    with pytest.raises(PublishError, match=r"runner\.json: a record of a run cannot be read"):
        find_evidence(store, artifact, [tmp_path], {})
