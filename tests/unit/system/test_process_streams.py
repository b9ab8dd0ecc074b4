"""Streams that are taken as they come, by real processes."""

import sys

import pytest

from reprobridge.frozen import replace
from reprobridge.system.processes import Command, Completed, RealProcesses
from support.time_limits import first_that_began


def python(text: str, **fields: object) -> Command:
    return Command(argv=(sys.executable, "-c", text), **fields)  # type: ignore[arg-type]


def test_sinks_get_both_streams_and_nothing_is_kept() -> None:
    taken: dict[str, bytearray] = {"out": bytearray(), "err": bytearray()}
    ended = RealProcesses().run(
        python(
            "import sys; sys.stdout.write('o' * 300000); sys.stderr.write('e' * 200000); sys.exit(3)",
            on_stdout=taken["out"].extend,
            on_stderr=taken["err"].extend,
        )
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, b"", b"")
    assert (len(taken["out"]), len(taken["err"])) == (300000, 200000)


def test_what_came_before_a_timeout_reaches_the_sink() -> None:
    taken = bytearray()

    def run(seconds: float) -> Completed:
        taken.clear()
        endless = "import time; print('begun', flush=True); time.sleep(1000)"
        sinks = {"on_stdout": taken.extend, "on_stderr": taken.extend}
        return replace(RealProcesses().run(python(endless, timeout=seconds, **sinks)), stdout=bytes(taken))

    ended = first_that_began(run)
    assert (ended.timed_out, ended.stdout) == (True, b"begun\n")


@pytest.mark.parametrize(
    "taken", [{}, {"on_stdout": bytearray(), "on_stderr": bytearray()}], ids=["kept", "sinks"]
)
def test_a_command_reads_the_bytes_that_it_is_given_and_then_the_end(taken: dict[str, bytearray]) -> None:
    given = b"line\n" * 100_000
    sinks = {name: stream.extend for name, stream in taken.items()}
    counts = "import sys; print(len(sys.stdin.read()))"
    ended = RealProcesses().run(python(counts, stdin=given, timeout=60, **sinks))
    assert (ended.returncode, ended.stdout + taken.get("on_stdout", b"")) == (0, b"500000\n")


def test_a_command_that_reads_not_all_of_its_bytes_is_no_failure() -> None:
    ended = RealProcesses().run(python("pass", stdin=b"x" * 1_000_000))
    assert ended.returncode == 0


RUNS = """\
import sys
from reprobridge.system.processes import Command, RealProcesses
read = (sys.executable, "-c", "import os, sys; print(os.readlink('/proc/self/fd/0'), sys.stdin.read())")
print(RealProcesses().run(Command(argv=read)).stdout.decode())
"""


def test_what_is_piped_to_us_reaches_no_command() -> None:
    ended = RealProcesses().run(python(RUNS, stdin=b"typed"))
    assert ended.stdout.decode().split() == ["/dev/null"]
