"""Progress is for people at a terminal: a pipe hears of what takes long, and who asked for quiet hears nothing."""

import os
import subprocess
import sys

import pytest

BUILDING = """
from reprobridge.cli.progress import build_progress
with build_progress(doors) as progress:
    progress.begin("converting", 2)
    progress.step("numpy 2.0")
    progress.step("scipy 1.0")
"""
COMPILING = """
from reprobridge.assemble.schedule import COMPILING
from reprobridge.cli.progress import build_progress
with build_progress(doors) as progress:
    progress.begin(COMPILING, 2)
    progress.step(COMPILING)
"""
MOVING = """
from reprobridge.cli.moving import moving
from reprobridge.digest import Digest
from reprobridge.oci.model import Descriptor, MediaType
blob = Descriptor(MediaType.LAYER, Digest.of(b"layer"), 5)
with moving(doors, "pushing", 5) as progress:
    progress.advance(blob, 5)
    progress.done(blob, None)
"""
DOORS = """
import sys
from reprobridge.cli.doors import Doors
doors = Doors(store_root=None, offline=True, quiet="--quiet" in sys.argv)
"""
SHOWN = {"building": (BUILDING, b"scipy 1.0"), "moving": (MOVING, b"pushing")}


def heard(work: str, *words: str, terminal: bool, kind: str = "xterm") -> bytes:
    """What standard error hears, when it is a terminal and when it is a pipe."""
    reader, writer = os.openpty() if terminal else os.pipe()
    setting = {**os.environ, "TERM": kind}
    try:
        with os.fdopen(writer, "wb") as stderr:
            argv = [sys.executable, "-c", DOORS + work, *words]
            done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=stderr, env=setting, check=True)
            assert done.stdout == b""
            os.set_blocking(reader, False)
            return _rest(reader)
    finally:
        os.close(reader)


def _rest(reader: int) -> bytes:
    """What lies ready: the terminal keeps it as long as its other end is open."""
    said = b""
    try:
        while block := os.read(reader, 1 << 16):
            said += block
    except BlockingIOError:
        pass
    return said


@pytest.mark.parametrize("kind", SHOWN)
def test_a_terminal_shows_progress(kind: str) -> None:
    work, said = SHOWN[kind]
    assert said in heard(work, terminal=True)


@pytest.mark.parametrize("kind", SHOWN)
def test_a_pipe_hears_no_progress(kind: str) -> None:
    assert heard(SHOWN[kind][0], terminal=False) == b""


@pytest.mark.parametrize("kind", SHOWN)
def test_a_terminal_shows_nothing_where_quiet_is_asked_for(kind: str) -> None:
    assert heard(SHOWN[kind][0], "--quiet", terminal=True) == b""


@pytest.mark.parametrize("kind", SHOWN)
def test_a_terminal_that_cannot_draw_a_line_again_hears_what_a_pipe_does(kind: str) -> None:
    assert heard(SHOWN[kind][0], terminal=True, kind="dumb") == b""
    assert b"compiling bytecode of 2 packages" in heard(COMPILING, terminal=True, kind="dumb")


def test_a_pipe_hears_that_bytecode_is_being_compiled() -> None:
    assert heard(COMPILING, terminal=False) == b"compiling bytecode of 2 packages in the sandbox\n"
    assert heard(COMPILING, "--quiet", terminal=False) == b""
