"""Evidence records: written in one step, read back as they were, and honest after a kill."""

import json
from pathlib import Path

import pytest

from reprobridge_launcher import evidence
from reprobridge_launcher.fields import FormatError
from reprobridge_launcher.record import replaced
from support.launcher_artifact import Artifact
from support.nearly_full import nearly_full


def test_a_record_reads_back_as_it_was_written(tmp_path: Path) -> None:
    Artifact(tmp_path).write().call("run", "lda")
    (folder,) = (tmp_path / "out/lda").iterdir()
    record = evidence.load(str(folder))
    assert evidence.parse(json.loads(json.dumps(evidence.form(record)))) == record
    assert record.state == "finished"
    assert record.witness == "launcher"


def test_a_record_that_does_not_fit_leaves_the_one_before_and_nothing_else(tmp_path: Path) -> None:
    Artifact(tmp_path).write().call("run", "lda")
    (folder,) = (tmp_path / "out/lda").iterdir()
    record, before = evidence.load(str(folder)), sorted(folder.iterdir())
    with nearly_full(1000), pytest.raises(OSError, match="too large"):
        evidence.write(replaced(record, run="another"), str(folder))
    assert (evidence.load(str(folder)), sorted(folder.iterdir())) == (record, before)


def test_a_run_never_takes_the_folder_of_another(tmp_path: Path) -> None:
    made = {evidence.new_run(str(tmp_path), "lda", "scored")[1] for _ in range(50)}
    assert len(made) == 50


def test_smoke_runs_are_named_as_such(tmp_path: Path) -> None:
    run, folder = evidence.new_run(str(tmp_path), "lda", "smoke")
    assert run.startswith("smoke-")
    assert Path(folder).name == run


def test_files_are_listed_with_digests_and_without_links_and_the_record(tmp_path: Path) -> None:
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs/b").write_text("b")
    (tmp_path / "a.log").write_text("")
    (tmp_path / "evidence.json").write_text("{}")
    (tmp_path / "link").symlink_to("/etc/passwd")
    assert [(f.path, f.size) for f in evidence.files(str(tmp_path))] == [("a.log", 0), ("outputs/b", 1)]


@pytest.mark.parametrize("value", [{}, [], {"schema": "reprobridge.evidence/1"}, {"schema": "other"}])
def test_a_broken_record_is_refused(value: object) -> None:
    with pytest.raises(FormatError):
        evidence.parse(value)
