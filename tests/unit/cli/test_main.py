"""The command line as a whole."""

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from reprobridge.cli.build import write_digest
from reprobridge.cli.main import COMMANDS, load_command, main
from reprobridge.digest import Digest
from reprobridge.errors import AssembleError, StoreError


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
        ["biuld"],
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


@pytest.mark.parametrize(("number", "place"), [(errno.ENOSPC, None), (errno.EROFS, "store/blobs/x")])
def test_a_full_disk_and_a_store_that_takes_nothing_are_no_bugs(
    number: int, place: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(number, "refused", place and str(tmp_path / place))

    monkeypatch.setattr("reprobridge.cli.cache.execute", refuse)
    assert main(["cache", "info", "--store", str(tmp_path / "store")]) == StoreError.exit_code


def test_a_digest_file_that_cannot_be_written_is_no_bug(tmp_path: Path) -> None:
    with pytest.raises(AssembleError, match="the digest cannot be written"):
        write_digest(tmp_path, Digest.of(b""))
