"""The clock by which a file system stamps files: on many kernels it stands still for up to 10 ms."""

from pathlib import Path


def let_it_tick(folder: Path) -> None:
    """Return when whatever is changed from now on has a later change time than what was changed before."""
    probe = folder / "tick"
    probe.write_bytes(b"")
    before = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == before:
        probe.write_bytes(b"")
    probe.unlink()
