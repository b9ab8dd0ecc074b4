"""What every builder can do: begin anew, and build a paper."""

from dataclasses import dataclass
from typing import Protocol

from benchmarks.measure import Cost
from benchmarks.papers import Paper


@dataclass(frozen=True, kw_only=True, slots=True)
class Built:
    """A finished build."""

    costs: tuple[Cost, ...]
    """One for each of the builder's columns."""
    digest: str
    """Of the image: of its manifest, or of its configuration where the builder has no manifest."""
    layers: int
    """How many it has, base included."""
    size: int
    """Bytes of its compressed layers, base included."""


class Builder(Protocol):
    """A builder with everything that it keeps between builds."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns in the table: one for each result that it can end with."""

    def begin(self, papers: list[Paper]) -> None:
        """Bring base and downloads to where a machine has them that has built before."""

    def reset(self) -> None:
        """Forget every result; base and downloads stay."""

    def build(self, paper: Paper, *, edited: bool) -> Built:
        """Build and measure; `edited`: the source has changed since the paper was locked."""
