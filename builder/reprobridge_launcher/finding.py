"""What a check of the image or the machine found."""

from reprobridge_launcher.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:  # novermin: read by type checkers only
    from typing import Literal


class Finding(Record):
    """What one check found."""

    id: "str"
    """Name of the check."""
    verdict: "Literal['passed', 'warning', 'failed']"
    """A warning doesn't keep tasks from running."""
    detail: "str"
    """What was found."""
    remedy: "str | None" = None
    """What to do about it."""
    code: "int" = 0
    """Exit code of a failure."""
