"""What verifying an image gave: an answer to each question, and what was measured; for people and for machines."""

from collections.abc import Iterator

from reprobridge.digest import Digest, Json
from reprobridge.frozen import frozen
from reprobridge.replicate.measured import Measured, measured_json, measured_text
from reprobridge.replicate.one_line import one_line

SCHEMA = "reprobridge.verification/1"
"""Value of `schema` in the JSON form."""


@frozen
class Point:
    """The answer to one question."""

    name: str
    """What was asked: `manifest`, `layers`, `signature`, …"""
    held: bool
    """Whether it holds."""
    evidence: str
    """What was found, in a line for people."""
    note: str = ""
    """What else was found that somebody who relies on the evidence should know; mostly empty."""


@frozen(kw_only=True)
class Verification:
    """All answers about one image."""

    image: Digest
    """The digest of record that was verified."""
    points: tuple[Point, ...]
    """In the order in which they were asked."""
    measured: tuple[Measured, ...] = ()
    """What the publisher attests to have measured, as far as it counts; empty where nothing says it."""

    @property
    def held(self) -> bool:
        """Whether everything holds."""
        return all(point.held for point in self.points)

    def to_json(self) -> dict[str, Json]:
        """The JSON form."""
        points: list[Json] = [
            {"name": point.name, "held": point.held, "evidence": point.evidence, "note": point.note}
            for point in self.points
        ]
        measured: list[Json] = [measured_json(one) for one in self.measured]
        image = str(self.image)
        return {"schema": SCHEMA, "image": image, "held": self.held, "points": points, "measured": measured}


def verification_lines(verification: Verification) -> Iterator[str]:
    """The table for people."""
    width = max(len(point.name) for point in verification.points)
    for point in verification.points:
        yield f"{'holds' if point.held else 'FAILS'}  {point.name:{width}}  {one_line(point.evidence)}"
        if point.note:
            yield f"note   {point.name:{width}}  {one_line(point.note)}"
    width = max((len(one.task) for one in verification.measured), default=0)
    for one in verification.measured:
        yield f"value  {one.task:{width}}  {one_line(measured_text(one))}"
