"""How quickly commands start: medians of fresh processes, taken in turns."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.engine import Engine
from benchmarks.measure import Invocation, run

TIMES = 20
"""Processes of each kind."""
_INSIDE = Path(__file__).parent / "data" / "inside.py"


def starts(environment: Mapping[str, str]) -> tuple[float, float]:
    """Seconds of `python -c pass` and of `reprobridge --help`."""
    kinds = ([sys.executable, "-c", "pass"], [sys.executable, "-m", "reprobridge", "--help"])
    times: list[list[float]] = [[], []]
    for _ in range(TIMES):
        for kind, argv in enumerate(kinds):
            times[kind].append(_seconds(argv, environment))
    return statistics.median(times[0]), statistics.median(times[1])


def _seconds(argv: Sequence[str], environment: Mapping[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(argv, env=dict(environment), stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def starts_inside(engine: Engine, archive: Path) -> tuple[float, float, float]:
    """Seconds inside an image of ours: `python3 -c pass`, a task's command, and the same by the launcher."""
    environment = {"DOCKER_HOST": engine.host}
    loaded = run(
        Invocation(argv=[engine.client, "load", "--quiet", "--input", str(archive)], environment=environment)
    )
    image = loaded.strip().rpartition(": ")[2]
    entry = ["--entrypoint", "/usr/bin/python3", image, "-c", _INSIDE.read_text(), str(TIMES)]
    output = run(
        Invocation(argv=[engine.client, "run", "--rm", "--network=none", *entry], environment=environment)
    )
    bare, task, launched = json.loads(output)
    return bare, task, launched
