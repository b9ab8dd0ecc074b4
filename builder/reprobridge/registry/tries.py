"""When to try again, how long to wait before, and when to give up."""

from reprobridge.registry.options import Patience
from reprobridge.registry.refusals import Throttled, Transient


class Tries:
    """The tries of one step. Nothing here depends on a clock: waiting is the patience's `pause`."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._failed = 0
        self._throttled = 0

    def after(self, trouble: Transient) -> None:
        """Wait before the next try; raises the trouble when there is none left."""
        if isinstance(trouble, Throttled):
            self._throttled += 1
            last = self._throttled >= self._patience.throttled_tries
            wait = max(1.0, min(2.0 ** (self._throttled - 1), 30.0), trouble.wait or 0.0)
        else:
            self._failed += 1
            last = self._failed >= (2 if trouble.hopeless else self._patience.tries)
            wait = max(2.0 ** (self._failed - 2), trouble.wait or 0.0)
        if last or wait > self._patience.longest_wait:
            raise trouble
        found = f" ({trouble.found})" if trouble.found else ""
        self._patience.say(f"{trouble.where}: {trouble.message}{found}; trying again")
        self._patience.pause(wait)
