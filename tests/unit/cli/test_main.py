"""The command line as a whole."""

import argparse
import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reprobridge.cli.build import write_digest
from reprobridge.cli.doors import Doors
from reprobridge.cli.main import COMMANDS, add_common, carry_out, load_command, main
from reprobridge.digest import Digest
from reprobridge.errors import AssembleError
from support.artifacts import WINE
from support.command import succeed


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    argv = [sys.executable, "-m", "reprobridge", *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([name, "--help"])
    assert stop.value.code == 0
    assert load_command(name).SUMMARY in " ".join(capsys.readouterr().out.split())


def test_help_lists_every_command_with_its_summary(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert all(load_command(name).SUMMARY in shown for name in COMMANDS)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["build", "--no-such"],
        ["cache"],
        ["build", "a", "b"],
        ["build", "--workers", "0"],
        ["cache", "prune", "--older-than", "-3"],
    ],
)
def test_wrong_words_give_a_hint_and_exit_2(words: list[str]) -> None:
    done = run(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("reprobridge: ")
    assert "hint: see `reprobridge" in done.stderr


@pytest.mark.parametrize("output", ["zip:x", "oci:", "docker:x", "store:x", ""])
def test_an_output_that_cannot_be_understood_is_refused_before_anything_is_built(output: str) -> None:
    done = run("build", "nowhere", "--output", output)
    assert done.returncode == 2
    assert "docker-archive:FILE" in done.stderr


def test_a_folder_without_a_spec_is_an_error_without_a_traceback(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    done = run("build", str(tmp_path_factory.mktemp("empty")))
    assert done.returncode == 2
    assert "reprobridge.yaml" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "module", ["httpx", "rich", "jinja2", "cookiecutter", "packaging", "pysequoia", "yaml"]
)
def test_help_imports_nothing_heavy(module: str) -> None:
    code = (
        "import sys\nfrom reprobridge.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        f"sys.exit({module!r} in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


IMPORTING = """\
import os, runpy, signal, sys

def strike(event, arguments):
    if event == "import" and arguments[0] == "reprobridge.cli.main":
        os.kill(os.getpid(), signal.SIGINT)

sys.addaudithook(strike)
sys.argv[1:] = ["--version"]
runpy.run_module("reprobridge", run_name="__main__", alter_sys=True)
"""
"""The command, interrupted as soon as it imports."""


def test_an_interrupt_while_modules_are_imported_ends_it_without_a_traceback() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTING], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "reprobridge: interrupted\n")


class Refused:
    """A command whose first write is refused."""

    NAME = "refused"
    """The Protocol's."""
    SUMMARY = "write what is refused"
    """The Protocol's."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Only the common ones."""
        add_common(parser)

    def execute(self, arguments: argparse.Namespace, doors: Doors) -> int:
        """Write."""
        del arguments, doors
        raise self._error


@pytest.mark.parametrize(
    ("number", "place", "status"),
    [
        (errno.ENOSPC, None, 7),
        (errno.EROFS, "store/blobs/x", 7),
        (errno.EROFS, "elsewhere/x", 2),
        (errno.ENAMETOOLONG, "elsewhere/x", 2),
        (errno.EACCES, None, 70),
        (errno.EBADF, "elsewhere/x", 70),
    ],
)
def test_a_full_disk_and_paths_that_the_system_refuses_are_no_bugs(
    number: int, place: str | None, status: int, tmp_path: Path
) -> None:
    command = Refused(OSError(number, "refused", place and str(tmp_path / place)))
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    arguments = parser.parse_args(["--store", str(tmp_path / "store")])
    assert carry_out(command, arguments) == status


@pytest.mark.parametrize("kind", [AssembleError, RuntimeError])
def test_what_a_terminal_would_obey_is_escaped_in_errors(
    kind: type[Exception], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = Refused(kind("a file is called \x1b[2J\r\u202e\udcff\n  hint: look"))
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    carry_out(command, parser.parse_args(["--store", str(tmp_path / "store")]))
    assert "a file is called \\x1b[2J\\r\\u202e\\udcff\n  hint: look" in capsys.readouterr().err


@pytest.mark.parametrize(("word", "meant"), [("biuld", "build"), ("valdate", "validate"), ("lcok", "lock")])
def test_a_mistyped_command_is_guessed(word: str, meant: str) -> None:
    done = run(word)
    assert done.returncode == 2
    assert f"hint: did you mean `reprobridge {meant}`?" in done.stderr


def test_a_word_that_is_near_no_command_lists_them_all() -> None:
    done = run("zzz")
    assert done.returncode == 2
    assert ", ".join(COMMANDS) in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("--store", "{store}", "-q", "cache", "info", "--json"),
        ("--store={store}", "--offline", "cache", "info", "--json"),
        ("cache", "info", "--json", "--store", "{store}"),
    ],
)
def test_options_of_every_command_may_stand_before_it(words: tuple[str, ...], tmp_path: Path) -> None:
    # A command's own name as a folder must not be taken for the command.
    store = tmp_path / "build"
    done = run(*(word.format(store=store) for word in words))
    assert (done.returncode, json.loads(done.stdout)["root"]) == (0, str(store))


def test_every_common_option_is_known_before_the_command() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    add_common(parser)
    for option in (option for action in parser._actions for option in action.option_strings):
        value = ("x",) if option == "--store" else ()
        assert "found: no-such" in run(option, *value, "no-such").stderr


def test_a_digest_file_that_cannot_be_written_is_no_bug(tmp_path: Path) -> None:
    with pytest.raises(AssembleError, match="the digest cannot be written") as caught:
        write_digest(tmp_path, Digest.of(b""))
    assert "--digest-file" in str(caught.value.hint)


def test_a_place_for_the_digest_is_looked_at_before_anything_is_built(tmp_path: Path) -> None:
    place = tmp_path / "nowhere" / "digest"
    done = run("build", str(tmp_path), "--digest-file", str(place), "--store", str(tmp_path / "store"))
    assert (done.returncode, done.stdout) == (6, "")
    assert f"hint: make it: `mkdir -p {place.parent}`" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["held back", "written at once"])
@pytest.mark.parametrize("words", [("schema",), ("schema", "--markdown"), ("template", "list")])
def test_a_full_standard_output_is_told_with_a_way_out(words: tuple[str, ...], unbuffered: str) -> None:
    argv = [sys.executable, "-m", "reprobridge", *words]
    setting = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(argv, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=setting)
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        6,
        "reprobridge: standard output cannot be written",
    )
    assert "hint: make room" in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["held back", "written at once"])
@pytest.mark.parametrize("words", [("schema",), ("template", "list")])
def test_who_stops_reading_hears_nothing(words: tuple[str, ...], unbuffered: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    argv = [sys.executable, "-m", "reprobridge", *words]
    setting = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(argv, stdout=writing, stderr=subprocess.PIPE, text=True, check=False, env=setting)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def unheard(stream: str, *words: str) -> int:
    """The exit status of the command when nobody reads its standard output, or its standard error, any more."""
    reading, writing = os.pipe()
    os.close(reading)
    argv = [sys.executable, "-m", "reprobridge", *words]
    where = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: writing}
    done = subprocess.run(argv, check=False, stdout=where["stdout"], stderr=where["stderr"])
    os.close(writing)
    return done.returncode


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_who_is_not_heard_fails_all_the_same(stream: str, tmp_path: Path) -> None:
    store = ("--store", str(tmp_path / "store"))
    paper = shutil.copytree(WINE, tmp_path / "paper")
    (paper / "src/run.py").write_text("edited")
    assert unheard(stream, "init", str(tmp_path / "new")) == 0
    assert unheard(stream, "lock", str(paper), "--check", *store) == 1
    assert unheard(stream, "build", str(paper), *store) == 3
    assert unheard(stream, "build", str(tmp_path), *store) == 2


@pytest.mark.parametrize("stream", ["0<", "1>", "2>"])
def test_a_closed_stream_is_no_bug(stream: str, tmp_path: Path) -> None:
    script = f'exec "$0" -m reprobridge "$@" {stream}&-'
    words = ("template", "list", "--store", str(tmp_path / "store"))
    argv = ["sh", "-c", script, sys.executable, *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run([*argv[:4], "build", str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("words", ["schema", "template list"])
def test_a_closed_standard_output_wants_nothing(words: str) -> None:
    script = f'exec "$0" -m reprobridge {words} >&-'
    done = subprocess.run(["sh", "-c", script, sys.executable], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_options_may_stand_between_the_words_of_a_command(tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    succeed(run("init", str(folder)))
    done = run("run", str(folder), "--seed", "1", "no-such-task")
    assert "found: no-such-task" in done.stderr


def test_the_help_of_a_command_shows_how_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["build", "--help"])
    assert capsys.readouterr().out.startswith("usage: reprobridge build [-h] [--output WHERE]")


@pytest.mark.parametrize(
    "words", [("lock",), ("validate",), ("run",), ("inspect",), ("publish",), ("pull",)], ids=" ".join
)
def test_a_path_that_no_file_can_have_is_no_bug(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*words, "n" * 300, "--store", str(tmp_path / "store"), "--offline")
    assert done.returncode == 2
    assert "File name too long" in done.stderr
    assert "hint: " in done.stderr
    assert "bug" not in done.stderr
