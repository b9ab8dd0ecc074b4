"""Worker processes end with whoever asked for them."""

import signal

import pytest

from reprobridge.system.workers import workers


def shout(*_: object) -> None:
    """A handler as the command line has one."""
    raise KeyboardInterrupt


def test_an_error_ends_the_workers_without_a_word(capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.signal(signal.SIGTERM, shout)
    try:
        for _ in range(5):
            with pytest.raises(ValueError, match="mine"), workers(3):
                raise ValueError("mine")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert capfd.readouterr() == ("", "")
