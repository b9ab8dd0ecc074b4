"""What is built: sets of packages, and the cases that each set goes through, one after the other.

A case begins where the one before has ended: cold, then the same again, then one edited line, one more
package, and a second paper on the same machine.
"""

from dataclasses import dataclass
from enum import StrEnum


class Case(StrEnum):
    """One build of a series; the value is what the table calls it."""

    COLD = "cold"
    NOTHING = "no-op"
    EDIT = "one line edited"
    ADD = "one package added"
    SECOND = "second paper"


@dataclass(frozen=True, kw_only=True, slots=True)
class PackageSet:
    """Packages of a first paper, and how the other builds differ."""

    name: str
    """Letter by which it is chosen."""
    title: str
    """For the table's heading."""
    first: tuple[str, ...]
    """Requirements of the first paper."""
    added: str
    """The package that is added to it: small, and new to every cache of results."""
    second: tuple[str, ...]
    """Requirements of the second paper: the same big wheels, one small one less, one that is new."""
    rounds: int
    """How often the whole series is run by default."""


SETS = {
    each.name: each
    for each in (
        PackageSet(
            name="S",
            title="numpy, scipy, scikit-learn, pandas, matplotlib",
            first=(
                "numpy==2.4.6",
                "scipy==1.17.1",
                "scikit-learn==1.9.1",
                "pandas==3.1.1",
                "matplotlib==3.11.2",
            ),
            added="tabulate==0.10.0",
            second=(
                "numpy==2.4.6",
                "scipy==1.17.1",
                "pandas==3.1.1",
                "matplotlib==3.11.2",
                "seaborn==0.13.2",
            ),
            rounds=4,
        ),
        PackageSet(
            name="M",
            title="torch for CPUs",
            first=("torch==2.13.0", "numpy==2.4.6", "tqdm==4.70.1"),
            added="einops==0.8.2",
            second=("torch==2.13.0", "numpy==2.4.6", "tabulate==0.10.0"),
            rounds=4,
        ),
        PackageSet(
            name="L",
            title="torch for CUDA 13",
            first=("torch==2.14.1", "numpy==2.4.6", "tqdm==4.70.1"),
            added="einops==0.8.2",
            second=("torch==2.14.1", "numpy==2.4.6", "tabulate==0.10.0"),
            rounds=2,
        ),
    )
}
"""Every set by its letter."""

PYTHON = "3.11"
"""Of the image (template debian12-py311)."""
TEMPLATE = "debian12-py311"
"""The base system of every paper."""
GLIBC = (2, 36)
"""Of that base system: wheels for older ones fit."""


def wheel_platforms() -> list[str]:
    """Platform tags that fit the base system, best first."""
    return [f"manylinux_2_{minor}_x86_64" for minor in range(GLIBC[1], 16, -1)] + ["manylinux2014_x86_64"]


def until(last: Case) -> list[Case]:
    """The cases up to one of them: none can be left out before it, since each begins where the one before ended."""
    every = list(Case)
    return every[: every.index(last) + 1]


def orders(names: list[str], rounds: int) -> list[list[str]]:
    """In which order builders take their turns in each round: there, and back the next time (A B C, C B A)."""
    return [names if number % 2 == 0 else names[::-1] for number in range(rounds)]
