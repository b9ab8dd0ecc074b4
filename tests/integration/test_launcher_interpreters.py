"""The launcher on every real interpreter that is here, from Python 3.6 on; fewer than two are a failure."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from reprobridge_launcher import interval
from support.interpreters import interpreters
from support.launcher_artifact import Artifact, manifest, task

FOUND = interpreters()

RUN_PY = """\
import json, os, sys, time
if "--wait" in sys.argv:
    print("waiting", flush=True)
    time.sleep(1000)
acc = 98 + int(os.environ.get("RRA_SEED", 5)) / 10
print("ran on %d.%d" % sys.version_info[:2])
with open(os.path.join(os.environ["RRA_OUT"], "result.json"), "w") as stream:
    json.dump({"test": {"acc": acc}}, stream)
with open("table.csv", "w") as stream:
    stream.write("method,acc\\nours,%s\\nbase,50\\n" % acc)
with open(os.path.join(os.environ["RRA_OUT"], "cut.json"), "w") as stream:
    stream.write('{"test": {"acc": 9')
print('{"acc": %s}' % acc)
"""
MEAN = task()["measurement"] | {"statistic": "mean", "over": "seeds"}
TASKS = (
    task(id="regex", extract={"kind": "regex", "file": "stdout", "regex": '"acc": (?P<value>[0-9.]+)'}),
    task(id="json", extract={"kind": "json", "file": "result.json", "json": "/test/acc"}),
    task(
        id="csv",
        extract={"kind": "csv", "file": "table.csv", "csv": {"where": {"method": "ours"}, "column": "acc"}},
        seeds={"option": None, "values": [1, 3]},
        measurement=MEAN,
    ),
    task(id="cut", extract={"kind": "json", "file": "cut.json", "json": "/test/acc"}),
    task(id="wait", command=["python3", "run.py", "--wait"]),
)


def test_at_least_two_interpreters_are_here() -> None:
    assert len(FOUND) >= 2, f"only {sorted(FOUND)} found on PATH and among pyenv's versions"


@pytest.fixture(params=FOUND.values(), ids=[f"{major}.{minor}" for major, minor in FOUND])
def artifact(request: pytest.FixtureRequest, tmp_path: Path) -> Artifact:
    tasks = [made | {"command": ["python3", *made["command"][1:]]} for made in TASKS]
    smoke = {"command": ["python3", "run.py"], "timeout": 60}
    document = manifest(*[made | {"smoke": smoke} for made in tasks])
    return Artifact(tmp_path, request.param).write(document, {"run.py": RUN_PY})


def test_tasks_are_listed_shown_and_checked(artifact: Artifact) -> None:
    assert "regex" in artifact.call("list").stdout
    assert "one command" in artifact.call("show", "json").stdout
    assert "§3" in artifact.call("decisions", LC_ALL="C").stdout
    check = artifact.call("check", "--json")
    assert (check.returncode, json.loads(check.stdout)["findings"][0]["verdict"]) == (0, "passed")


@pytest.mark.parametrize(("name", "expected"), [("regex", 98.5), ("json", 98.5), ("csv", 98.2)])
def test_values_are_measured_and_read_again(artifact: Artifact, name: str, expected: float) -> None:
    result = artifact.call("run", name, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["results"][0]["value"] == pytest.approx(expected)
    (folder,) = (artifact.out / name).iterdir()
    assert float(artifact.call("extract", name, str(folder)).stdout) == pytest.approx(expected)


def test_cut_json_is_told_and_gives_no_value(artifact: Artifact) -> None:
    result = artifact.call("run", "cut")
    assert (result.returncode, "cut.json: expected JSON, found " in result.stdout) == (6, True)
    (folder,) = (artifact.out / "cut").iterdir()
    again = artifact.call("extract", "cut", str(folder))
    assert (again.returncode, "cut.json: expected JSON, found " in again.stderr) == (6, True)
    assert "Traceback" not in result.stderr + again.stderr


def test_cut_documents_of_a_run_and_of_the_image_are_told(artifact: Artifact) -> None:
    assert artifact.call("run", "json").returncode == 0
    (folder,) = (artifact.out / "json").iterdir()
    for path, words, code in (
        (folder / "evidence.json", ("extract", "json", str(folder)), 6),
        (artifact.root / "manifest.json", ("list",), 7),
    ):
        path.write_text(path.read_text()[:100])
        result = artifact.call(*words)
        assert (result.returncode, "Traceback" in result.stderr) == (code, False)
        assert f"rra: {path}: expected a JSON document, found " in result.stderr
        assert ("the image is broken" in result.stderr) == (words == ("list",))


def test_the_task_runs_on_the_environment_s_interpreter(artifact: Artifact) -> None:
    version = next(key for key, path in FOUND.items() if path == artifact.python)
    assert "ran on {}.{}".format(*version) in artifact.call("run", "regex").stdout


def test_the_interval_is_the_same_everywhere(artifact: Artifact) -> None:
    observations = (97.0, 98.4, 98.6, 98.2, 99.3)
    references = {"observations": observations, "where": "five machines", "interval": {}}
    document = {"schema": "reprobridge.references/1", "tasks": {"regex": references}}
    (artifact.root / "references.json").write_text(json.dumps(document))
    (told,) = json.loads(artifact.call("run", "regex", "--json").stdout)["results"]
    expected = interval.derive(observations, interval.Policy())
    assert told["interval"] == [expected.low, expected.high]
    assert expected.half_width > 0.01 * expected.mean


def test_smoke_runs_measure_without_counting(artifact: Artifact) -> None:
    result = artifact.call("smoke", "json", "--json")
    assert result.returncode == 0
    assert json.loads(result.stdout)["results"][0]["compatible"] is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_leaves_a_record_that_says_so(artifact: Artifact, number: int) -> None:
    process = artifact.start("run", "wait")
    while not any("waiting" in path.read_text() for path in artifact.out.glob("wait/*/stdout.log")):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate(timeout=60)
    state = artifact.evidence("wait")["state"]
    if number == signal.SIGKILL:
        assert (process.returncode, state) == (-signal.SIGKILL, "running")
    else:
        assert (process.returncode, state) == (5, "interrupted")


def test_its_own_script_starts_it(artifact: Artifact) -> None:
    status = os.spawnv(os.P_WAIT, str(artifact.root / "bin/rra"), ["rra", "guide"])
    assert status == 0
