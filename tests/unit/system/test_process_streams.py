"""Streams that are taken as they come, by real processes."""

import sys

from reprobridge.system.processes import Command, RealProcesses


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
    ended = RealProcesses().run(
        python(
            "import time; print('begun', flush=True); time.sleep(1000)",
            timeout=5.0,
            on_stdout=taken.extend,
            on_stderr=taken.extend,
        )
    )
    assert (ended.timed_out, bytes(taken)) == (True, b"begun\n")
