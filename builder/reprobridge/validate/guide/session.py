"""One shell session for a whole guide: the script that runs its commands, and reading what came of each.

The image's /bin/sh evaluates one command after the other in the same shell, so that `cd` and variables last.
Each has an empty standard input. A line with a random word marks in both streams where a command has ended.
"""

import shlex
from collections.abc import Sequence

from reprobridge.frozen import frozen
from reprobridge.system.processes import Completed
from reprobridge.validate.guide.blocks import Step

SHELL = "/bin/sh"
"""The image's shell."""
LONGEST = 120_000
"""Bytes of a session's script: Linux takes 131072 as one argument."""


@frozen
class Outcome:
    """What a command did."""

    stdout: str
    """What it printed."""
    stderr: str
    """What it printed on standard error."""
    status: int
    """Its exit status."""


def script(steps: Sequence[Step], mark: str) -> str:
    """The session's script; `mark` is a word that no command prints."""
    ended = f"printf '\\n%s %s\\n' {mark} \"$?\"; printf '\\n%s\\n' {mark} >&2"
    return "\n".join(f"eval {shlex.quote(step.command)} </dev/null\n{ended}" for step in steps)


def outcomes(ended: Completed, mark: str) -> list[Outcome]:
    """What each command did, as far as the session came."""
    first, *others = ended.stdout.decode("utf-8", "replace").split(f"\n{mark} ")
    errors = ended.stderr.decode("utf-8", "replace").split(f"\n{mark}\n")
    # What follows a mark is the status of the command before it, a newline, and the next command's output.
    statuses = [piece.partition("\n")[0] for piece in others]
    printed = [first, *(piece.partition("\n")[2] for piece in others)]
    return [
        Outcome(stdout, stderr, int(status))
        for stdout, stderr, status in zip(printed, errors, statuses, strict=False)
    ]
