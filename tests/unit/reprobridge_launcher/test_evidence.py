"""Evidence records: written in one step, read back as they were, and honest after a kill."""

import hashlib
import json
from pathlib import Path

import pytest

from reprobridge_launcher import evidence, interval, references
from reprobridge_launcher.fields import FormatError
from reprobridge_launcher.record import replaced
from support.bookkeeping_disk import BookkeepingDisk
from support.launcher_artifact import Artifact, artifact, manifest, task
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


def test_a_finished_record_is_on_the_disk_with_every_file_and_folder_that_leads_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Artifact(tmp_path).write().call("run", "lda")
    (folder,) = (tmp_path / "out/lda").iterdir()
    (folder / "outputs" / "tables").mkdir(parents=True)
    (folder / "outputs" / "tables" / "a.csv").write_text("1\n")
    disk = BookkeepingDisk(monkeypatch)
    record = evidence.load(str(folder))
    evidence.keep(replaced(record, files=evidence.files(str(folder))), str(folder))
    everything = [tmp_path / "out", *(tmp_path / "out").rglob("*")]
    assert [path for path in everything if not disk.holds(path)] == []


def test_the_evidence_says_what_the_task_fixes_and_which_data_it_found(tmp_path: Path) -> None:
    digest = hashlib.sha256(b"data").hexdigest()
    entry = {"id": "d", "path": "d.bin", "sha256": digest, "size": 4, "delivery": "mount"}
    seeds = {"option": "--seed", "values": [1, 2, 4]}
    measurement = task()["measurement"] | {"statistic": "mean", "over": "seeds"}
    made = Artifact(tmp_path).write(manifest(task(seeds=seeds, measurement=measurement), data=[entry]))
    (tmp_path / "data/d.bin").write_bytes(b"data")
    made.call("run", "lda", "--seed", "2")
    record = made.evidence()
    assert record["config"] == {
        "experiment": task()["experiment"],
        "scope": "full_pipeline",
        "checkpoints": [],
        "statistic": "mean",
        "seeds": [1, 2, 4],
        "repeats": 1,
    }
    assert record["inputs"] == [{"path": "d.bin", "sha256": digest, "size": 4}]


def test_the_interval_can_be_derived_again_from_what_is_stored_with_it(tmp_path: Path) -> None:
    made = Artifact(tmp_path).write()
    made.call("run", "lda")
    compared = evidence.parse(made.evidence()).comparison
    assert compared is not None
    assert compared.policy == interval.Policy(confidence=0.95, floor=0.01, floor_basis="reference_mean")
    again = interval.derive(
        references.load(str(made.root / "references.json"))["lda"].observations, compared.policy
    )
    assert (again.low, again.high, again.n) == (compared.low, compared.high, compared.n)


def test_what_a_command_closed_to_its_own_user_is_evidence_like_the_rest(tmp_path: Path) -> None:
    code = (
        "import os\nos.chdir(os.environ['RRA_OUT'])\nos.mkdir('folder')\nopen('folder/file', 'x')\n"
        "os.chmod('folder/file', 0)\nos.chmod('folder', 0)\nos.chmod('..', 0)\nprint('accuracy: 98.5')\n"
    )
    made = artifact(tmp_path, code)
    assert made.call("run", "lda").returncode == 0
    record = made.evidence()
    assert record["state"] == "finished"
    assert "outputs/folder/file" in [file["path"] for file in record["files"]]
    (folder,) = made.out.glob("lda/*")
    kept = [folder, folder / "outputs/folder", folder / "outputs/folder/file"]
    assert [path.stat().st_mode & 0o700 for path in kept] == [0o700, 0o700, 0o400]
