"""Words that a user may get wrong, and what a new artifact says."""

import select
import subprocess
import sys
from pathlib import Path

import pytest

from reprobridge.cli.main import main
from reprobridge.lock.revisions import REVISIONS
from reprobridge.store.store import Store
from support.artifacts import MINIMAL, WINE, copy_of
from support.command import reprobridge, succeed


@pytest.mark.parametrize(
    "words", [("info", "--all"), ("info", "--older-than", "3"), ("prune", "--json")], ids=" ".join
)
def test_an_option_of_the_other_action_is_refused(words: tuple[str, ...], tmp_path: Path) -> None:
    done = reprobridge("cache", *words, store=tmp_path / "store")
    assert done.returncode == 2
    assert words[1] in done.stderr


def test_a_prune_says_that_it_waits_for_others_and_that_it_may_be_interrupted(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "reprobridge", "--store", str(tmp_path / "store"), "cache", "prune"]
    with Store(tmp_path / "store").working():
        waits = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert waits.stderr is not None
        is_heard = select.select([waits.stderr], [], [], 60)[0] != []
        said = waits.stderr.readline() if is_heard else ""
    out, _ = waits.communicate(timeout=60)
    assert (out, waits.returncode) == ("0 bytes freed\n", 0)
    assert said.startswith("waiting: other reprobridge commands")
    assert "interrupting is safe" in said


def test_an_unknown_option_points_to_the_help_of_its_command(tmp_path: Path) -> None:
    done = reprobridge("build", "--no-such", store=tmp_path / "store")
    assert "hint: see `reprobridge build --help`" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        "--check --upgrade",
        "--check --upgrade-tools",
        "--check --upgrade-template",
        "--check --export pylock.toml",
        "--export requirements.txt --upgrade",
        "--export requirements.txt --upgrade-tools",
    ],
)
def test_what_only_reads_a_lock_takes_no_option_that_it_would_ignore(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lock", str(MINIMAL), *words.split()]) == 2
    shown = capsys.readouterr()
    found = shown.err.partition("found: ")[2].splitlines()[0].split(", ")
    assert shown.out == ""
    assert sorted(found) == sorted(word for word in words.split() if word.startswith("--"))


@pytest.mark.parametrize("artifact", [MINIMAL, WINE], ids=lambda path: path.name)
def test_only_locked_packages_are_upgraded_by_name(artifact: Path, tmp_path: Path) -> None:
    copy = copy_of(artifact, tmp_path)
    before = (copy / "reprobridge.lock").read_bytes()
    done = reprobridge("lock", copy, "--upgrade", "no-such-package", store=tmp_path / "store")
    assert done.returncode == 2
    assert "no-such-package" in done.stderr
    assert "stands before --upgrade" in done.stderr
    assert (copy / "reprobridge.lock").read_bytes() == before


@pytest.mark.parametrize("command", [("lock",), ("build", "--relock")], ids=" ".join)
def test_a_link_in_the_locks_place_is_refused_before_anything_is_resolved(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    copy = copy_of(WINE, tmp_path)
    lock = copy / "reprobridge.lock"
    lock.unlink()
    lock.symlink_to("nowhere")
    name, *options = command
    nobody = {"UV_NO_CACHE": "1"}  # knows the packages
    done = reprobridge(name, copy, *options, "--offline", store=tmp_path / "store", environment=nobody)
    assert done.returncode == 3
    assert "the lock cannot be written" in done.stderr
    assert "a link to nowhere" in done.stderr


def test_relocking_before_a_build_says_what_locking_says(tmp_path: Path) -> None:
    said = []
    for name, words in (("one", ("lock",)), ("two", ("build", "--relock", "--offline"))):
        copy = copy_of(MINIMAL, tmp_path / name)
        (copy / "src" / "a.py").write_text("")
        (copy / "src" / "A.py").write_text("")
        spec = copy / "reprobridge.yaml"
        spec.write_text(spec.read_text().replace("command: [python, run.py]", "command: [python, gone.py]"))
        done = reprobridge(*words, copy, store=tmp_path / "store")
        said.append([line for line in done.stderr.splitlines() if line.startswith("warning: ")])
        assert "wrote " in done.stderr
    assert len(said[0]) == 2
    assert said[1] == said[0]


def test_locking_keeps_the_tools_of_another_state_and_says_that_a_build_refuses_them(tmp_path: Path) -> None:
    copy = copy_of(MINIMAL, tmp_path)
    lock = copy / "reprobridge.lock"
    lock.write_text(lock.read_text().replace(f'"wheel": {REVISIONS["wheel"]}', '"wheel": 99'))
    done = reprobridge("lock", copy, store=tmp_path / "store")
    succeed(done)
    assert f"{lock} is up to date" in done.stderr
    assert (
        "warning: this release gives other bytes than the lock promises: tools.converters.wheel"
        in done.stderr
    )
    assert "--upgrade-tools" in done.stderr
    refused = reprobridge("build", copy, "--offline", store=tmp_path / "store")
    assert refused.returncode == 3
    assert "converters.wheel" in refused.stderr
    succeed(reprobridge("lock", copy, "--upgrade-tools", store=tmp_path / "store"))
    succeed(reprobridge("lock", copy, "--check", store=tmp_path / "store"))


def test_a_check_refuses_what_a_build_would_though_the_lock_is_fresh(tmp_path: Path) -> None:
    copy = copy_of(MINIMAL, tmp_path)
    spec = copy / "reprobridge.yaml"
    owners = "python: {owners: {a.py: nosuch}, "
    spec.write_text(spec.read_text().replace("python: {", owners))
    done = reprobridge("lock", copy, "--check", store=tmp_path / "store")
    assert done.returncode == 3
    assert "environment.python.owners" in done.stderr
    assert "answers the spec" not in done.stderr


def test_a_new_artifact_locks_without_a_warning(tmp_path: Path) -> None:
    succeed(reprobridge("init", tmp_path / "new", store=tmp_path / "store"))
    done = reprobridge("lock", tmp_path / "new", store=tmp_path / "store")
    succeed(done)
    assert done.stderr == f"wrote {tmp_path / 'new' / 'reprobridge.lock'}\n"
