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

LOSING = """
import os, signal, time, weakref
from reprobridge.system.interrupts import heed_interrupts

class Thing: pass

heed_interrupts()
thing = Thing()
gone = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGTERM))
try:
    del thing
    time.sleep(600)
except KeyboardInterrupt:
    print("interrupted")
"""
"""Is asked to end while it does what cannot raise."""

RUNNING = """
import os, signal, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from reprobridge.system.interrupts import heed_interrupts
from reprobridge.system.processes import Command, RealProcesses

begun = threading.Event()
run = RealProcesses().run

def work():
    try:
        run(Command(argv=("sh", "-c", "echo begun; exec sleep 600"), on_stdout=lambda _: begun.set(), on_stderr=print))
        print("goes on")
    finally:
        print("cleans up:", run(Command(argv=("echo", "done"))).stdout.decode().strip())

heed_interrupts()
pool = ThreadPoolExecutor(1)
try:
    pool.submit(work)
    pool.submit(work)
    begun.wait()
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(600)
except KeyboardInterrupt:
    pool.shutdown()
    print("interrupted")
"""
"""Is asked to end while one thread runs a program and another piece of work waits for that."""


def asked_to_end(number: signal.Signals, *wrapper: str) -> str:
    """What a process says that asks itself to end."""
    return said(*wrapper, sys.executable, "-c", PROGRAM, str(int(number)))


def said(*argv: str) -> str:
    """What a process prints that must not say anything else."""
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert not done.stderr.replace("nohup: ignoring input\n", "")
    return done.stdout


@pytest.mark.parametrize("number", INTERRUPTS)
def test_who_asks_twice_in_haste_does_not_cut_short_the_cleaning_up(number: signal.Signals) -> None:
    assert asked_to_end(number) == "interrupted\ngoes on\ninterrupted\n"


def test_what_is_ignored_from_the_start_stays_so() -> None:
    assert asked_to_end(signal.SIGHUP, "nohup") == "goes on\n" * 3


def test_no_interrupt_is_lost_where_nothing_can_be_raised() -> None:
    assert said(sys.executable, "-c", LOSING) == "interrupted\n"


def test_an_interrupt_ends_the_programs_of_other_threads_which_start_none_but_to_clean_up() -> None:
    assert said(sys.executable, "-c", RUNNING) == "cleans up: done\ncleans up: done\ninterrupted\n"
