"""Streams that are taken as they come, by real processes."""

import sys

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
