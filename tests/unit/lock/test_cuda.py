"""What locked packages need of a machine's driver."""

import pytest

from reprobridge.frozen import replace
from reprobridge.lock.cuda import cuda, unknown_driver
from reprobridge.lock.model import LockedWheel
from reprobridge_launcher.hardware import DRIVER_OF_CUDA
from support.specs import sample_wheel


def runtime(name: str, version: str) -> tuple[LockedWheel, ...]:
    """An environment with this runtime library of CUDA."""
    return (sample_wheel("numpy"), replace(sample_wheel(name), version=version))


@pytest.mark.parametrize(
    ("name", "version", "release", "major"),
    [
        ("nvidia-cuda-runtime-cu11", "11.8.89", "11.8", "11"),
        ("nvidia-cuda-runtime-cu12", "12.4.127", "12.4", "12"),
        ("nvidia-cuda-runtime", "13.0.96", "13.0", "13"),
    ],
)
def test_of_a_known_major_the_least_driver_is_stated_without_a_word(
    name: str, version: str, release: str, major: str
) -> None:
    wheels = runtime(name, version)
    assert cuda(wheels) == {"cuda": release, "driver": DRIVER_OF_CUDA[major]}
    assert unknown_driver(wheels) == ()


@pytest.mark.parametrize("version", ["14.0.1", "10.2.89", "0.0.1", "15"])
def test_of_any_other_the_author_is_told_that_none_is_known(version: str) -> None:
    wheels = runtime("nvidia-cuda-runtime", version)
    found, (warning,) = cuda(wheels), unknown_driver(wheels)
    assert found is not None
    assert found["driver"] is None
    assert f"CUDA {found['cuda']}: " in warning


def test_without_cuda_there_is_nothing_to_say() -> None:
    assert cuda([sample_wheel("nvidia-cublas")]) is None
    assert unknown_driver([sample_wheel("numpy")]) == ()
