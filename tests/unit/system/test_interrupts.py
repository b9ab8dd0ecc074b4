"""Being asked to end, once, twice and three times."""

import signal
import subprocess
import sys

import pytest

from reprobridge.system.interrupts import INTERRUPTS

PROGRAM = """
import os, sys
from reprobridge.system.interrupts import heed_interrupts

def ask():
    try:
        os.kill(os.getpid(), int(sys.argv[1]))
        print("goes on")
    except KeyboardInterrupt:
        print("interrupted")

heed_interrupts()
ask()
ask()
ask()
"""


def asked_to_end(number: signal.Signals, *wrapper: str) -> str:
    """What a process says that asks itself to end."""
    argv = [*wrapper, sys.executable, "-c", PROGRAM, str(int(number))]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("number", INTERRUPTS)
def test_who_asks_twice_in_haste_does_not_cut_short_the_cleaning_up(number: signal.Signals) -> None:
    assert asked_to_end(number) == "interrupted\ngoes on\ninterrupted\n"


def test_what_is_ignored_from_the_start_stays_so() -> None:
    assert asked_to_end(signal.SIGHUP, "nohup") == "goes on\n" * 3
