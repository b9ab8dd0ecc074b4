"""The command `reprobridge`, which `python -m reprobridge` is too: from its first moment on it may be interrupted.

The command line itself is `cli/main.py`, which is imported where an interrupt is heeded: that takes longer than a
short command does.
"""

import contextlib
import os
import sys

from reprobridge.system.interrupts import heed_interrupts

INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells expect."""


def main() -> int:
    """Run the command of `sys.argv`; gives the exit status (guides/reference/exit-codes.md)."""
    heed_interrupts()
    try:
        from reprobridge.cli.main import main as run

        return run()
    except KeyboardInterrupt:
        from reprobridge.cli.streams import talk

        talk("reprobridge: interrupted\n")
        with contextlib.suppress(OSError):
            sys.stdout.flush()
        # All is cleaned up. Python's own end would wait for threads, and let those that nobody waits for meet its ruins.
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    sys.exit(main())
