"""Time limits that end a command in its midst, on any machine.

    ended = first_that_began(lambda seconds: run("echo begun; sleep 1000", timeout=seconds))

A limit that is short on a machine at rest ends a command on a loaded one before it has said a word.
"""

from collections.abc import Callable

from reprobridge.system.processes import Completed


def first_that_began(run: Callable[[float], Completed], seconds: float = 0.5) -> Completed:
    """What `run` gives with the first limit, each four times the one before, under which the command spoke."""
    ended = run(seconds)
    while not ended.stdout and seconds < 200:
        seconds *= 4
        ended = run(seconds)
    return ended
