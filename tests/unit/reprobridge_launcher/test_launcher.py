"""The launcher as a reader meets it: commands, exit codes, evidence, signals."""

import json
from pathlib import Path

import pytest

from reprobridge_launcher import campaign
from support.launcher_artifact import Artifact, artifact, manifest, task

SEEDED = {
    "seeds": {"option": "--seed", "values": [1, 2, 4]},
    "measurement": task()["measurement"] | {"statistic": "mean", "over": "seeds"},
}
SEED_PY = "import os, sys\nassert os.environ['RRA_SEED'] == sys.argv[2]\nprint('accuracy:', 98 + int(sys.argv[2]) / 10)\n"


class TestRun:
    def test_a_task_is_measured_and_compared(self, tmp_path: Path) -> None:
        made = artifact(tmp_path)
        result = made.call("run", "lda")
        assert result.returncode == 0
        for text in (
            "accuracy: 98.5",
            "lda: accuracy 98.5 percent",
            "98.9% (Table 1, row LDA)",
            "compatible",
        ):
            assert text in result.stdout
        assert "97.515 to 99.485 (5 observations; half-width 1 %)" in result.stdout
        kept = campaign.is_host_folder(str(made.out))
        assert ("the evidence goes with the container" in result.stderr) != kept

    def test_as_json_standard_output_holds_nothing_else(self, tmp_path: Path) -> None:
        result = artifact(tmp_path).call("run", "lda", "--json")
        (told,) = json.loads(result.stdout)["results"]
        assert (told["value"], told["published"], told["compatible"], told["unit"]) == (
            98.5,
            98.9,
            True,
            "percent",
        )
        assert told["interval"] == [97.515, 99.485]
        assert "fitting on data" in result.stderr

    def test_the_evidence_says_what_ran(self, tmp_path: Path) -> None:
        made = artifact(tmp_path)
        made.call("run", "lda", RRA_NONCE="n1", RRA_IMAGE_DIGEST="sha256:abc", SECRET="s")
        record = made.evidence()
        assert (record["state"], record["mode"], record["witness"]) == ("finished", "scored", "launcher")
        assert (record["nonce"], record["artifact"]["image"]) == ("n1", "sha256:abc")
        assert record["code"]["tree"] == record["code"]["expected"]
        assert record["code"]["changes"] == ["C1"]
        assert record["setting"]["variables"]["OMP_NUM_THREADS"] == "1"
        assert "SECRET" not in json.dumps(record)
        (part,) = record["parts"]
        assert (part["argv"], part["exit_code"], part["value"]) == (["python", "run.py"], 0, 98.5)
        assert part["matches"][0]["file"] == "stdout.log"
        assert {f["path"] for f in record["files"]} == {"stdout.log", "stderr.log"}
        assert record["start"] <= part["start"] <= part["end"] <= record["end"]

    def test_all_seeds_make_one_observation(self, tmp_path: Path) -> None:
        made = artifact(tmp_path, SEED_PY, **SEEDED)
        assert made.call("run", "lda").returncode == 0
        record = made.evidence()
        assert record["value"] == pytest.approx(98 + 7 / 30)
        assert [part["seed"] for part in record["parts"]] == [1, 2, 4]
        assert record["comparison"]["verdict"] == "compatible"
        assert {f["path"] for f in record["files"]} >= {"part-1/stdout.log", "part-3/stderr.log"}

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["--seed", "2"], "seed 2 only; the task defines 1, 2, 4"),
            (["--repeat", "2"], "repeats: 2; the task defines 1"),
            (["--", "--verbose"], "arguments added: --verbose"),
        ],
    )
    def test_a_run_of_a_part_or_with_additions_is_shown_and_never_compared(
        self, tmp_path: Path, words: list[str], said: str
    ) -> None:
        made = artifact(tmp_path, SEED_PY, **SEEDED)
        result = made.call("run", "lda", *words)
        assert result.returncode == 0
        assert said in result.stdout
        assert "verdict" not in result.stdout
        assert (made.evidence()["comparison"], made.evidence()["deviations"]) == (None, [said])
        assert made.call("run", "lda", "--require-compatible", *words).returncode == 8

    def test_changed_code_changes_the_value_and_is_never_compared(self, tmp_path: Path) -> None:
        made = artifact(tmp_path)
        (made.root / "code/run.py").write_text("print('accuracy: 97.9')\n")
        result = made.call("run", "lda", "--json")
        (told,) = json.loads(result.stdout)["results"]
        assert (told["value"], told["compatible"]) == (97.9, None)
        assert "the code isn't the artifact's" in told["deviations"][0]

    def test_an_incompatible_value_is_measured_unless_compatibility_is_required(self, tmp_path: Path) -> None:
        made = artifact(tmp_path, "print('accuracy: 99.9')\n")
        assert made.call("run", "lda").returncode == 0
        assert made.call("run", "lda", "--require-compatible").returncode == 8

    def test_a_command_reads_nothing_whatever_is_piped_to_the_launcher(self, tmp_path: Path) -> None:
        code = "import os, sys\nprint(os.readlink('/proc/self/fd/0'), [sys.stdin.read()], 'accuracy: 98.5')\n"
        result = artifact(tmp_path, code).call("run", "lda", stdin=b"typed")
        assert "/dev/null ['']" in result.stdout
        assert result.returncode == 0

    def test_each_run_starts_fresh(self, tmp_path: Path) -> None:
        code = "import os\nassert not os.listdir(os.environ['RRA_OUT'])\nopen('mark', 'x')\nprint('accuracy: 98.5')\n"
        made = artifact(tmp_path, code)
        assert [made.call("run", "lda").returncode for _ in range(2)] == [0, 0]
        assert not (made.root / "code/mark").exists()
        assert len(list((made.out / "lda").iterdir())) == 2

    def test_results_beside_the_code_are_kept_in_the_outputs(self, tmp_path: Path) -> None:
        code = "import os\nos.mkdir('r')\nopen('r/x.json', 'w').write('{\"acc\": 98.4}')\n"
        made = artifact(tmp_path, code, extract={"kind": "json", "file": "r/*.json", "json": "/acc"})
        assert made.call("run", "lda").returncode == 0
        (path,) = made.out.glob("lda/*/outputs/r/x.json")
        assert path.read_text() == '{"acc": 98.4}'

    def test_a_shipped_score_is_not_measured(self, tmp_path: Path) -> None:
        form = {"kind": "json", "file": "r/x.json", "json": "/acc"}
        files = {"run.py": "print('nothing')\n", "r/x.json": '{"acc": 98.4}'}
        made = Artifact(tmp_path).write(manifest(task(extract=form)), files)
        assert made.call("run", "lda").returncode == 6
        assert made.evidence()["failure"]["class"] == "extraction_error"

    def test_several_tasks_run_and_the_first_failure_gives_the_exit_code(self, tmp_path: Path) -> None:
        document = manifest(
            task(), task(id="bad", command=["python", "-c", "1/0"]), task(id="none", command=["true"])
        )
        result = Artifact(tmp_path).write(document).call("run", "--all", "--json")
        assert result.returncode == 5
        assert [told["exit_code"] for told in json.loads(result.stdout)["results"]] == [0, 5, 6]

    def test_evidence_can_go_elsewhere(self, tmp_path: Path) -> None:
        made = artifact(tmp_path)
        assert made.call("run", "lda", "--out", str(tmp_path / "else/where")).returncode == 0
        assert list((tmp_path / "else/where/lda").iterdir())
        assert not (made.out / "lda").exists()


class TestFailures:
    @pytest.mark.parametrize(
        ("command", "code", "failure", "message"),
        [
            (["python", "-c", "raise ValueError('boom')"], 5, "execution_blocked", "exit status 1"),
            (["nonexistent"], 5, "execution_blocked", "no such program"),
            (["sh", "-c", "kill -9 $$"], 5, "execution_blocked", "signal 9"),
            (["python", "-c", "raise MemoryError"], 5, "resource_or_access", "exit status 1"),
            (["true"], 6, "extraction_error", "found none"),
            (["sh", "-c", "echo accuracy: 1; echo accuracy: 2"], 6, "extraction_error", "found 1, 2"),
        ],
    )
    def test_each_has_its_exit_code_class_and_message(
        self, tmp_path: Path, command: list[str], code: int, failure: str, message: str
    ) -> None:
        made = artifact(tmp_path, command=command)
        result = made.call("run", "lda")
        assert result.returncode == code
        assert message in result.stdout
        record = made.evidence()
        assert (record["failure"]["class"], record["value"], record["comparison"]) == (failure, None, None)

    def test_the_first_error_lines_are_shown(self, tmp_path: Path) -> None:
        result = artifact(tmp_path, command=["python", "-c", "raise ValueError('boom')"]).call("run", "lda")
        assert "ValueError: boom" in result.stdout

    def test_a_time_limit_is_told(self, tmp_path: Path) -> None:
        made = artifact(tmp_path, command=["sleep", "1000"], resources={"gpus": 0, "time": 0.05})
        assert made.call("run", "lda").returncode == 5
        record = made.evidence()
        assert (record["failure"]["class"], record["parts"][0]["timed_out"]) == ("resource_or_access", True)

    def test_a_failed_part_ends_the_observation(self, tmp_path: Path) -> None:
        made = artifact(tmp_path, "import sys; sys.exit(sys.argv[2] == '2')\n", **SEEDED)
        made.call("run", "lda")
        assert len(made.evidence()["parts"]) == 1

    def test_invalid_text_in_the_output_harms_nothing(self, tmp_path: Path) -> None:
        code = "import sys\nsys.stdout.buffer.write(b'\\xff\\xfe accuracy: 98.5 \\x80\\n')\nsys.exit(0)\n"
        made = artifact(tmp_path, code)
        assert made.call("run", "lda").returncode == 0
        failing = artifact(
            tmp_path / "b", "import sys\nsys.stderr.buffer.write(b'error \\xff\\n')\nsys.exit(1)\n"
        )
        assert failing.call("run", "lda", "--json").returncode == 5
        assert "\\xff" in failing.evidence()["failure"]["lines"][0]

    def test_a_missing_manifest_is_told(self, tmp_path: Path) -> None:
        made = artifact(tmp_path)
        (made.root / "manifest.json").unlink()
        result = made.call("list")
        assert (result.returncode, "manifest.json: expected a file, found No such" in result.stderr) == (
            7,
            True,
        )

    def test_a_broken_manifest_is_told(self, tmp_path: Path) -> None:
        made = artifact(tmp_path)
        (made.root / "manifest.json").write_text('{"schema": "reprobridge.manifest/9"}')
        result = made.call("list")
        assert result.returncode == 7
        assert "schema: expected reprobridge.manifest/1, found 'reprobridge.manifest/9'" in result.stderr


class TestSmoke:
    def test_every_task_runs_its_short_command_and_nothing_counts(self, tmp_path: Path) -> None:
        document = manifest(task(), task(id="qda"))
        made = Artifact(tmp_path).write(
            document, {"run.py": "import sys\nprint('accuracy: 1', sys.argv[1:])\n"}
        )
        result = made.call("smoke")
        assert result.returncode == 0
        assert "['--short']" in result.stdout
        record = made.evidence("qda")
        assert (record["mode"], record["comparison"], record["value"]) == ("smoke", None, 1.0)

    def test_without_smoke_runs_there_is_nothing_to_run(self, tmp_path: Path) -> None:
        result = artifact(tmp_path, smoke=None).call("smoke")
        assert (result.returncode, "no task has a smoke run" in result.stderr) == (2, True)

    def test_a_task_that_measures_nothing_fails(self, tmp_path: Path) -> None:
        assert artifact(tmp_path, "print('nothing')\n").call("smoke", "lda").returncode == 6


class TestExtract:
    def test_the_value_is_read_again_from_the_folder_of_a_run(self, tmp_path: Path) -> None:
        made = artifact(tmp_path, SEED_PY, **SEEDED)
        made.call("run", "lda")
        (folder,) = (made.out / "lda").iterdir()
        result = made.call("extract", "lda", str(folder), "--json")
        assert json.loads(result.stdout)["value"] == made.evidence()["value"]
        (folder / "part-2/stdout.log").write_text("nothing")
        assert made.call("extract", "lda", str(folder)).returncode == 6

    def test_any_folder_with_a_log_will_do(self, tmp_path: Path) -> None:
        made = artifact(tmp_path)
        (tmp_path / "stdout.log").write_text("accuracy: 12.5\n")
        result = made.call("extract", "lda", str(tmp_path))
        assert (result.returncode, result.stdout) == (0, "12.5\n")

    def test_a_smoke_run_is_named_as_such(self, tmp_path: Path) -> None:
        made = artifact(tmp_path)
        made.call("smoke")
        (folder,) = (made.out / "lda").iterdir()
        assert "doesn't count" in made.call("extract", "lda", str(folder)).stderr

    def test_a_value_that_a_command_printed_before_it_failed_is_named_as_such(self, tmp_path: Path) -> None:
        made = artifact(tmp_path, "print('accuracy: 98.5')\nraise SystemExit(3)\n")
        made.call("run", "lda")
        (folder,) = (made.out / "lda").iterdir()
        result = made.call("extract", "lda", str(folder))
        assert (result.returncode, result.stdout) == (0, "98.5\n")
        assert result.stderr == "note: this run gave no value: ended with exit status 3\n"

    def test_the_value_of_a_part_is_named_as_such(self, tmp_path: Path) -> None:
        made = artifact(tmp_path, SEED_PY, **SEEDED)
        made.call("run", "lda")
        (folder,) = (made.out / "lda").iterdir()
        record = made.evidence() | {"state": "interrupted"}
        (folder / "evidence.json").write_text(json.dumps(record | {"parts": record["parts"][:2]}))
        result = made.call("extract", "lda", str(folder))
        assert (result.stdout, "this run is interrupted, its value is of a part" in result.stderr) == (
            "98.15\n",
            True,
        )

    def test_a_broken_record_is_told_as_the_run_s_and_not_as_the_image_s(self, tmp_path: Path) -> None:
        made = artifact(tmp_path)
        made.call("run", "lda")
        (folder,) = (made.out / "lda").iterdir()
        (folder / "evidence.json").write_text(json.dumps(made.evidence() | {"start": "noon"}))
        result = made.call("extract", "lda", str(folder))
        assert (result.returncode, result.stdout) == (6, "")
        assert f"rra: {folder}/evidence.json: start: expected a number, found 'noon'\n" in result.stderr
        assert "the record of this run is broken" in result.stderr
        assert "image" not in result.stderr

    def test_the_run_of_another_task_is_refused(self, tmp_path: Path) -> None:
        made = Artifact(tmp_path).write(manifest(task(), task(id="qda")))
        made.call("run", "lda")
        (folder,) = (made.out / "lda").iterdir()
        assert made.call("extract", "qda", str(folder)).returncode == 2


class TestTexts:
    @pytest.mark.parametrize(
        ("words", "text"),
        [
            ([], "Table 1, row LDA"),
            (["list"], "Table 1, row LDA"),
            (["show", "lda"], "97.515 to 99.485"),
            (["guide"], "# Guide"),
            (["changes"], "# Changes"),
            (["decisions"], "What is standardised?"),
            (["check"], "1 files are as built"),
            (["env"], "OMP_NUM_THREADS"),
            (["shell", "--", "sh", "-c", "pwd; echo $OMP_NUM_THREADS"], "/code\n1\n"),
            (["--help"], "Exit codes"),
        ],
    )
    def test_each_command_shows_what_it_is_for(self, tmp_path: Path, words: list[str], text: str) -> None:
        result = artifact(tmp_path).call(*words)
        assert result.returncode == 0, result.stderr
        assert text in result.stdout

    @pytest.mark.parametrize("command", ["list", "check", "decisions", "env"])
    def test_what_a_machine_may_read_is_json(self, tmp_path: Path, command: str) -> None:
        assert json.loads(artifact(tmp_path).call(command, "--json").stdout)

    def test_the_time_is_that_of_all_commands_and_each_has_its_limit(self, tmp_path: Path) -> None:
        made = artifact(tmp_path, **SEEDED)
        assert "  3 min  " in made.call("list").stdout
        assert json.loads(made.call("list", "--json").stdout)["tasks"][0]["time"] == 180
        told = dict(
            line.split("  ", 1) for line in made.call("show", "lda").stdout.splitlines() if "  " in line
        )
        assert told["takes"].strip() == "3 min"
        assert told["stopped after"].strip() == "10 min for each command"

    def test_what_is_installed_instead_of_what_was_locked_is_told(self, tmp_path: Path) -> None:
        document = manifest()
        document["environment"]["distributions"] = [{"name": "no-such-package", "version": "1.0"}]
        assert "1.0; found none" in Artifact(tmp_path).write(document).call("env").stdout

    def test_a_shell_reads_what_is_piped_and_minds_every_signal(self, tmp_path: Path) -> None:
        made = artifact(tmp_path)
        assert made.call("shell", "--", "cat", stdin=b"typed").stdout == "typed"
        ignored = made.call("shell", "--", "grep", "SigIgn", "/proc/self/status").stdout.split()[1]
        assert int(ignored, 16) & ((1 << 31) - 1) == 0

    def test_show_as_json_is_the_task_of_the_manifest(self, tmp_path: Path) -> None:
        told = json.loads(artifact(tmp_path).call("show", "lda", "--json").stdout)
        assert told["extract"]["regex"] == task()["extract"]["regex"]

    def test_no_data_sets_is_said_plainly(self, tmp_path: Path) -> None:
        result = artifact(tmp_path).call("fetch")
        assert (result.returncode, "needs no data sets" in result.stderr) == (0, True)

    def test_every_command_has_a_help(self, tmp_path: Path) -> None:
        from reprobridge_launcher.main import COMMANDS

        made = artifact(tmp_path)
        for name, _module, _summary in COMMANDS:
            result = made.call(name, "--help")
            assert (result.returncode, result.stdout.startswith("Usage: " + name)) == (0, True)

    def test_a_reader_that_goes_away_is_no_crash(self, tmp_path: Path) -> None:
        made = artifact(tmp_path)
        (made.root / "GUIDE.md").write_text("x" * 1_000_000)
        process = made.start("guide")
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.wait(60) == 5
        assert process.stderr.read() == b""
        process.stderr.close()

    def test_text_is_utf8_whatever_the_locale_says(self, tmp_path: Path) -> None:
        assert "§3" in artifact(tmp_path).call("decisions", LC_ALL="POSIX").stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rnu"], "did you mean run?"),
        (["run", "ldaa"], "did you mean lda?"),
        (["run", "x"], "tasks: lda"),
        (["run"], "which task?"),
        (["run", "--", "lda"], "which task? it stands before --\nhint: run TASK -- ARGUMENTS"),
        (["run", "--all", "lda"], "exclude each other"),
        (["run", "lda", "--sed", "1"], "did you mean --seed?"),
        (["run", "lda", "--seed", "1"], "takes no seed"),
        (["run", "lda", "--repeat", "0"], "at least 1"),
        (["list", "x"], "unexpected x"),
        (["extract", "lda"], "expected the folder of a run"),
        (["extract", "lda", "/nonexistent"], "/nonexistent doesn't exist"),
        (["extract", "lda", "/etc/passwd"], "/etc/passwd is no folder"),
        (["fetch", "cifar"], "no data set cifar"),
    ],
)
def test_a_wrong_command_line_is_told_what_would_be_right(
    tmp_path: Path, words: list[str], message: str
) -> None:
    result = artifact(tmp_path).call(*words)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stdout == ""
