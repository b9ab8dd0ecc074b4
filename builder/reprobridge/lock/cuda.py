"""What locked packages need of a machine's NVIDIA driver.

CUDA is known by its runtime library, whose wheel has CUDA's own version: `nvidia-cuda-runtime`, and with the major
version in its name up to CUDA 12.
A driver serves all releases of the majors that it knows, so only a major has a least driver; that of a major that is
not out yet can't be known ("Minor Version Compatibility", table 1, in NVIDIA's guide on CUDA compatibility:
https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html).
"""

from collections.abc import Iterable

from reprobridge.lock.model import LockedWheel
from reprobridge_launcher.hardware import DRIVER_OF_CUDA

_RUNTIME = "nvidia-cuda-runtime"


def cuda(wheels: Iterable[LockedWheel]) -> dict[str, str | None] | None:
    """CUDA release of the locked runtime library and the least driver, None where unknown; None without CUDA."""
    for wheel in wheels:
        if wheel.name == _RUNTIME or wheel.name.startswith(f"{_RUNTIME}-cu"):
            release = wheel.version.split(".")[:2]
            return {"cuda": ".".join(release), "driver": DRIVER_OF_CUDA.get(release[0])}
    return None


def unknown_driver(wheels: Iterable[LockedWheel]) -> tuple[str, ...]:
    """A warning where these packages bring a CUDA whose least driver nobody here knows."""
    found = cuda(wheels)
    if found is None or found["driver"]:
        return ()
    said = "this release does not know which NVIDIA driver it needs, so the image names none and no run checks it"
    return (f"CUDA {found['cuda']}: {said}; say it in the guide",)
