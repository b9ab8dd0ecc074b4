"""`reprobridge keygen`: a pair that only its owner can read, and nothing is ever written over."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from reprobridge.cli.key_files import VARIABLE, private_key, public_key
from reprobridge.errors import UsageError
from reprobridge.publish.signing.keys import is_encrypted


def keygen(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "reprobridge", "keygen", *words]
    return subprocess.run(
        argv,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env={key: value for key, value in os.environ.items() if key != VARIABLE} | environment,
        umask=0o027,
    )


def test_a_pair_is_written_and_named(tmp_path: Path) -> None:
    done = keygen(tmp_path)
    assert (done.returncode, done.stdout) == (0, "reprobridge.key\nreprobridge.pub\n")
    key, public = tmp_path / "reprobridge.key", tmp_path / "reprobridge.pub"
    assert private_key(key).public_key == public_key(public)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (key, public)] == [0o600, 0o640]
    assert str(public_key(public).fingerprint) in done.stderr
    assert "no password" in done.stderr
    assert public.read_text().startswith("-----BEGIN PUBLIC KEY-----\n")


def test_a_password_encrypts_the_private_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = keygen(tmp_path, "-o", "paper", **{VARIABLE: "correct horse"})
    assert (done.returncode, "no password" in done.stderr) == (0, False)
    key = tmp_path / "paper.key"
    assert is_encrypted(key.read_bytes())
    monkeypatch.setenv(VARIABLE, "correct horse")
    assert private_key(key).public_key == public_key(tmp_path / "paper.pub")
    monkeypatch.setenv(VARIABLE, "wrong")
    with pytest.raises(UsageError, match="password is another"):
        private_key(key)
    monkeypatch.setenv(VARIABLE, "")
    with pytest.raises(UsageError, match="REPROBRIDGE_KEY_PASSWORD"):
        private_key(key)


@pytest.mark.parametrize("kind", ["key", "pub"])
def test_nothing_is_written_over(tmp_path: Path, kind: str) -> None:
    there = tmp_path / f"reprobridge.{kind}"
    there.write_text("mine")
    done = keygen(tmp_path)
    assert done.returncode == 2
    assert f"reprobridge.{kind}: the file exists" in done.stderr
    assert "no password" not in done.stderr
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {there.name: "mine"}


def test_a_dangling_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "reprobridge.key").symlink_to("elsewhere")
    assert keygen(tmp_path).returncode == 2
    assert not (tmp_path / "elsewhere").exists()


STRUCK = """\
import os, runpy, sys

number, ending = int(sys.argv[1]), sys.argv[2]

def strike(event, arguments):
    if event == "open" and str(arguments[0]).endswith(ending):
        os.kill(os.getpid(), number)

sys.addaudithook(strike)
sys.argv[1:] = ["keygen"]
runpy.run_module("reprobridge", run_name="__main__", alter_sys=True)
"""
"""The command, interrupted while it makes the file with this ending."""


@pytest.mark.parametrize("ending", [".key", ".pub"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_leaves_no_half_pair(ending: str, number: signal.Signals, tmp_path: Path) -> None:
    argv = [sys.executable, "-c", STRUCK, str(int(number)), ending]
    done = subprocess.run(
        argv, cwd=tmp_path, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert (done.returncode, done.stderr.splitlines()[-1]) == (130, "reprobridge: interrupted")
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left in ([], ["reprobridge.key", "reprobridge.pub"])
    if left:
        assert private_key(tmp_path / left[0]).public_key == public_key(tmp_path / left[1])


def test_a_folder_that_is_missing_is_said(tmp_path: Path) -> None:
    done = keygen(tmp_path, "--output", "missing/paper")
    assert done.returncode == 6
    assert "missing/paper.key: the key cannot be written" in done.stderr


@pytest.mark.parametrize("name", ["paper", "paper.key", "paper.pub"])
def test_the_name_may_be_that_of_either_file(tmp_path: Path, name: str) -> None:
    assert keygen(tmp_path, "--output", name).stdout == "paper.key\npaper.pub\n"


def test_a_name_of_nothing_but_an_ending_is_refused(tmp_path: Path) -> None:
    assert keygen(tmp_path, "--output", ".key").returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_two_pairs_differ(tmp_path: Path) -> None:
    keygen(tmp_path, "-o", "a")
    keygen(tmp_path, "-o", "b")
    assert public_key(tmp_path / "a.pub") != public_key(tmp_path / "b.pub")


def test_a_missing_key_file_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="reprobridge keygen"):
        private_key(tmp_path / "none.key")


def test_a_pipe_that_nobody_writes_and_a_device_without_end_are_no_keys(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, found in ((tmp_path / "pipe", "pipe"), (Path("/dev/zero"), "too large")):
        with pytest.raises(UsageError, match=found):
            public_key(path)


def test_a_key_may_come_through_a_pipe(tmp_path: Path) -> None:
    keygen(tmp_path, "-o", "a")
    reading, writing = os.pipe()
    with os.fdopen(reading), os.fdopen(writing, "wb") as stream:
        stream.write((tmp_path / "a.pub").read_bytes())
        stream.close()
        assert public_key(Path(f"/dev/fd/{reading}")) == public_key(tmp_path / "a.pub")
