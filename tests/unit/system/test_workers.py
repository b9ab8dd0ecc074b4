"""Worker processes end with whoever asked for them."""

import subprocess
import sys

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
