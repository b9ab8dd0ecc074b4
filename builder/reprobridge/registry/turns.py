"""How many bodies move at once: several, and one once the server stumbled.

GHCR answers 500 now and then to one client's concurrent pushes, and does not to serial ones.
"""

import contextlib
import threading
from collections.abc import Iterator


class Turns:
    """Counts who moves something now."""

    def __init__(self, width: int) -> None:
        self.width = width
        """How many may at once."""
        self._active = 0
        self._changed = threading.Condition()

    @contextlib.contextmanager
    def take(self) -> Iterator[None]:
        """Wait for a turn, and have it."""
        with self._changed:
            self._changed.wait_for(lambda: self._active < self.width)
            self._active += 1
        try:
            yield
        finally:
            with self._changed:
                self._active -= 1
                self._changed.notify_all()

    def go_serial(self) -> None:
        """From now on one at a time; those who move something finish it."""
        with self._changed:
            self.width = 1
