"""What only the NVIDIA driver's own program knows: memory of each GPU, and the CUDA version that the driver serves.

`nvidia-smi` takes a second where it has to wake up the driver, so it's asked only for tasks that use GPUs.
"""

import os
import select
import time

from reprobridge_launcher.record import Record

PROGRAMS = ("/usr/bin/nvidia-smi", "/usr/lib/wsl/lib/nvidia-smi")
"""Where NVIDIA's container toolkit puts it."""
PATIENCE = 20.0
"""Seconds that it gets: longer than a driver takes to wake up, and a broken one may never answer."""


class Told(Record):
    """What `nvidia-smi` says; nothing where it can't be asked."""

    driver: "str | None" = None
    """Version of the driver."""
    cuda: "str | None" = None
    """Newest CUDA version that the driver serves."""
    memory: "tuple[tuple[str, int], ...]" = ()
    """PCI address and bytes of each GPU."""


def ask(root: str = "") -> Told:
    """Ask `nvidia-smi`."""
    for path in PROGRAMS:
        if os.access(root + path, os.X_OK):
            return parse(answer((root + path, "-q", "-d", "MEMORY"), PATIENCE))
    return Told()


def parse(text: str) -> Told:
    """Read what `nvidia-smi -q -d MEMORY` prints."""
    facts = {}
    sizes = []
    address = section = ""
    for line in text.splitlines():
        key, colon, value = (part.strip() for part in line.partition(" : "))
        if line.startswith("GPU "):
            address = key[4:].lower()[-12:]  # of eight digits for the domain, the kernel writes four
        elif not colon:
            section = key
        elif key.endswith("Version") and value[:1].isdigit():
            facts[key.split()[0].lower()] = value
        elif (section, key) == ("FB Memory Usage", "Total") and value.endswith(" MiB"):
            sizes.append((address, int(value[:-4]) << 20))
    return Told(driver=facts.get("driver"), cuda=facts.get("cuda"), memory=tuple(sizes))


def answer(argv: "tuple[str, ...]", patience: float) -> str:
    """Return what a program prints; empty where it can't be started, fails, or doesn't end in time."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            nothing = os.open(os.devnull, os.O_RDWR)
            for descriptor, own in ((nothing, 0), (sink, 1), (nothing, 2)):
                os.dup2(descriptor, own)
            os.execve(argv[0], list(argv), {"LC_ALL": "C"})  # noqa: S606 - no shell is what we want
        finally:
            os._exit(127)
    os.close(sink)
    data, has_ended = _all_of(source, time.monotonic() + patience)
    os.close(source)
    if not has_ended:
        os.kill(child, 9)
    # Who waits for a broken driver can't be killed, and isn't waited for.
    _process, status = os.waitpid(child, 0 if has_ended else os.WNOHANG)
    return data.decode("utf-8", "replace") if has_ended and status == 0 else ""


def _all_of(source: int, deadline: float) -> "tuple[bytes, bool]":
    """Everything that comes until the deadline, and whether that is all."""
    poll = select.poll()
    poll.register(source, select.POLLIN)
    data = b""
    while poll.poll(max(int((deadline - time.monotonic()) * 1000), 0)):
        piece = os.read(source, 1 << 16)
        if not piece:
            return data, True
        data += piece
    return data, False
