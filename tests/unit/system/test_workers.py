"""Worker processes end with whoever asked for them."""

import subprocess
import sys

from reprobridge.sandbox.view import find_program
from reprobridge.system.workers import can_have_workers

PROGRAM = """
import signal
from reprobridge.system.workers import workers

def shout(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGTERM, shout)
for _ in range(20):
    try:
        with workers(3):
            raise ValueError
    except ValueError:
        print("ended")
"""
"""In a process of its own: workers are forked, and tests beside this one may have started threads."""


def test_an_error_ends_the_workers_without_a_word() -> None:
    argv = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=300)
    assert (done.stdout, done.stderr) == ("ended\n" * 20, "")


def test_where_processes_cannot_wait_for_each_other_there_are_no_workers() -> None:
    bubblewrap = find_program()
    assert bubblewrap is not None
    asking = "from reprobridge.system.workers import can_have_workers; print(can_have_workers())"
    argv = [str(bubblewrap.path), "--ro-bind", "/", "/", sys.executable, "-c", asking]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert (done.stdout, can_have_workers()) == ("False\n", True)
