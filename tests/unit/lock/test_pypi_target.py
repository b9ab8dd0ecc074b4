"""The interpreter that packages are locked for."""

import pytest

from reprobridge.errors import LockError
from reprobridge.lock.pypi_target import PythonTarget


def target(**changes: object) -> PythonTarget:
    """CPython 3.11 on Debian bookworm, changed."""
    fields = {
        "version": "3.11",
        "architecture": "x86_64",
        "glibc": (2, 36),
        "interpreter": "/usr/bin/python3.11",
    }
    return PythonTarget(**{**fields, **changes})  # type: ignore[arg-type]  # the fields are the class's


@pytest.mark.parametrize(
    ("architecture", "glibc", "platform"),
    [
        ("x86_64", (2, 36), "x86_64-manylinux_2_36"),
        ("x86_64", (2, 41), "x86_64-manylinux_2_40"),
        ("aarch64", (2, 30), "aarch64-manylinux_2_28"),
        ("x86_64", (2, 17), "x86_64-manylinux_2_17"),
    ],
)
def test_uv_is_asked_for_the_newest_platform_that_the_image_can_run(
    architecture: str, glibc: tuple[int, int], platform: str
) -> None:
    assert target(architecture=architecture, glibc=glibc).uv_platform() == platform


@pytest.mark.parametrize("changes", [{"architecture": "riscv64"}, {"glibc": (2, 12)}, {"glibc": (3, 0)}])
def test_a_platform_without_wheels_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(LockError, match=r"glibc 2\.17 or later"):
        target(**changes).uv_platform()


@pytest.mark.parametrize(
    ("tag", "fits"),
    [
        ("cp311-cp311-manylinux_2_36_x86_64", True),
        ("cp311-cp311-manylinux_2_37_x86_64", False),
        ("cp311-cp311-manylinux2014_x86_64", True),
        ("cp311-cp311-manylinux1_x86_64", True),
        ("cp38-abi3-manylinux_2_17_x86_64", True),
        ("cp312-abi3-manylinux_2_17_x86_64", False),
        ("cp311-cp311-linux_x86_64", True),
        ("cp311-cp311-musllinux_1_2_x86_64", False),
        ("cp311-cp311-manylinux_2_17_aarch64", False),
        ("cp311-cp311-macosx_11_0_arm64", False),
        ("cp311-cp311t-manylinux_2_17_x86_64", False),
        ("py3-none-manylinux_2_17_x86_64", True),
        ("py2.py3-none-any", True),
        ("py2-none-any", False),
    ],
)
def test_wheels_fit_by_the_targets_tags(tag: str, fits: bool) -> None:
    from packaging.tags import parse_tag

    assert bool(parse_tag(tag) & set(target().tags())) is fits


def test_the_most_specific_wheel_is_best() -> None:
    tags = [str(tag) for tag in target().tags()]
    order = ["cp311-cp311-manylinux_2_36_x86_64", "cp311-abi3-manylinux_2_36_x86_64", "py3-none-any"]
    assert sorted(order, key=tags.index) == order


def test_every_part_of_a_target_is_part_of_its_digest() -> None:
    values = [
        target(),
        target(version="3.13"),
        target(architecture="aarch64"),
        target(glibc=(2, 41)),
        target(interpreter="/x"),
    ]
    assert len({str(value.to_json()) for value in values}) == len(values)


def test_markers_are_the_targets_and_not_the_hosts() -> None:
    from packaging.markers import Marker

    markers = dict(target(version="3.6", architecture="aarch64").markers())
    assert Marker(
        "python_version < '3.7' and platform_machine == 'aarch64' and sys_platform == 'linux' "
        "and implementation_name == 'cpython' and os_name == 'posix' and platform_system == 'Linux'"
    ).evaluate(markers)
