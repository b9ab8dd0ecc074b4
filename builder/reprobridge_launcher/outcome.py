"""How the launcher ends: its exit codes, and the one exception that carries them."""

MEASURED = 0
"""Done: measured, shown, or checked."""
USAGE = 2
"""The command line was wrong, or there is no place to write."""
DATA_MISSING = 3
"""A declared data set is missing."""
UNFIT = 4
"""Hardware or driver don't suffice."""
FAILED = 5
"""The task's command failed, timed out or was stopped, or its evidence can't be written."""
NOT_EXTRACTED = 6
"""Nothing, or more than one thing, was extracted."""
BROKEN = 7
"""Code, environment or manifest aren't what the image was built with."""
INCOMPATIBLE = 8
"""Measured but not compatible, where that was required."""


class StopError(Exception):
    """The command can't go on; `main` prints it and exits with its code."""

    def __init__(self, code: int, message: str, hint: str = "") -> None:
        """Stop with an exit code, a message that says what is wrong, and what to do about it."""
        super().__init__(message)
        self.code = code
        """One of the exit codes above."""
        self.hint = hint
        """What to do; may be empty."""
