"""`cache prune` while other commands work in the same store: whoever comes second waits, and nobody loses anything."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.artifacts import MINIMAL, golden_digest
from support.command import reprobridge, succeed

pytestmark = [pytest.mark.slow, pytest.mark.network]

HELD = """\
import os, runpy, sys

event, number, *words = sys.argv[1:]
main, left = os.getpid(), int(number)

def hold(happening, arguments):
    global left
    if happening == event and os.getpid() == main:
        left -= 1
        if left == 0:
            os.write(2, b"held\\n")
            sys.stdin.read()

sys.addaudithook(hold)
sys.argv[1:] = words
runpy.run_module("reprobridge", run_name="__main__", alter_sys=True)
"""
"""Runs the command; right before its so-manyth event of a kind (PEP 578) it says so and waits until its input ends."""


@contextmanager
def held(event: str, number: int, *words: str | Path, store: Path) -> "Iterator[subprocess.Popen[str]]":
    """The command, which has come to this event and waits there."""
    argv = [sys.executable, "-c", HELD, event, str(number), *map(str, words), "--store", str(store)]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said == "held\n", said + process.stderr.read()
        yield process


def end(process: "subprocess.Popen[str]") -> str:
    """Let a held command go on; gives what it prints, once it has succeeded."""
    out, err = process.communicate("")
    assert process.returncode == 0, err
    return out


PRUNE = ("cache", "prune", "--older-than", "0")


@pytest.fixture
def parts_only(built_store: Path) -> Path:
    """The image's bytes, which a build takes and no reference keeps."""
    for folder in ("references", "results/image"):
        shutil.rmtree(built_store / folder)
    return built_store


def waiting_prune(store: Path) -> "subprocess.Popen[str]":
    """A prune that says that it waits."""
    argv = [sys.executable, "-m", "reprobridge", *PRUNE, "--store", str(store)]
    pipe = subprocess.PIPE
    prune = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    assert prune.stderr is not None
    assert prune.stderr.readline().startswith("waiting")
    return prune


def test_a_prune_waits_for_a_build_which_loses_nothing(parts_only: Path) -> None:
    words = ("build", MINIMAL)
    with held("os.link", 1, *words, store=parts_only) as build, waiting_prune(parts_only) as prune:
        assert golden_digest(MINIMAL) in end(build)
        end(prune)
    shown = reprobridge(
        "inspect", f"reprobridge/probable-error:1.0.0@{golden_digest(MINIMAL)}", store=parts_only
    )
    assert "deviation" in succeed(shown)


def test_a_prune_waits_for_a_run_which_keeps_its_unpacked_layers(built_store: Path, tmp_path: Path) -> None:
    words = ("run", MINIMAL, "deviation", "--json", "--out", tmp_path / "out")
    with held("os.rename", 2, *words, store=built_store) as run, waiting_prune(built_store) as prune:
        unpacked = list((built_store / "unpacked").iterdir())
        assert unpacked
        (result,) = json.loads(end(run))["results"]
        assert result["value"] == 1.1669
        end(prune)
    assert not any(folder.exists() for folder in unpacked)


def test_a_build_waits_for_a_prune_and_makes_what_that_deletes(parts_only: Path) -> None:
    with (
        held("os.remove", 1, *PRUNE, store=parts_only) as prune,
        held("fcntl.flock", 1, "build", MINIMAL, store=parts_only) as build,
    ):
        assert build.stdin is not None
        build.stdin.close()
        assert not end(prune).startswith("0 ")
        assert build.stdout is not None
        assert build.stderr is not None
        assert golden_digest(MINIMAL) in build.stdout.read(), build.stderr.read()
