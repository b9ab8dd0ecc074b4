"""Runs inside an image: prints the median seconds of bare Python, of a task's command, and of the launcher."""

import json
import statistics
import subprocess
import sys
import time

KINDS = (
    ["/usr/bin/python3", "-c", "pass"],
    ["/opt/env/bin/python", "/rra/code/run.py"],
    ["/rra/bin/rra", "run", "one"],
)


def seconds(argv: list[str]) -> float:
    """Of one process."""
    start = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


times: list[list[float]] = [[] for _ in KINDS]
for _ in range(int(sys.argv[1])):
    for kind, argv in enumerate(KINDS):
        times[kind].append(seconds(argv))
print(json.dumps([statistics.median(each) for each in times]))
