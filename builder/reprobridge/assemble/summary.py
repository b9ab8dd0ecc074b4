"""What a build wants to know of a layer as a whole, so that it need not ask each of its hundred parts every time.

A layer's claims are those of its parts (`claims.py`), each path as a number of 32 bits: reading those of a base
system takes 0.3 ms so, and 10 as texts. Two paths with one number only make a layer suspect that need not be.
"""

from collections.abc import Sequence
from zlib import crc32

from reprobridge.assemble.claims import Claims, suspects
from reprobridge.assemble.notes import notes_of
from reprobridge.assemble.workshop import Workshop
from reprobridge.digest import Digest, Json
from reprobridge.frozen import frozen
from reprobridge.plan.model import BuildPlan, LayerPlan

RESULT = "summary"
"""Kind of the store's results that hold summaries, by the layer's key."""
_RULES = 3
"""Grows when the same layer has another summary."""


@frozen(kw_only=True)
class Summary:
    """What is known of a layer."""

    paths: frozenset[int]
    """Numbers of the paths that its parts claim."""
    folders: frozenset[int]
    """Numbers of the folders that its parts claim."""
    crowded: bool
    """Whether two of its parts may have a path in common."""
    notes: tuple[str, ...]
    """What the author should hear of it."""

    def to_json(self) -> dict[str, Json]:
        """For the store."""
        claims: dict[str, Json] = {"paths": sorted(self.paths), "folders": sorted(self.folders)}
        return {**claims, "crowded": self.crowded, "notes": self.notes, "rules": _RULES}

    @classmethod
    def from_json(cls, value: object) -> "Summary | None":
        """From the store; None for anything else."""
        match value:
            case {
                "paths": [*paths],
                "folders": [*folders],
                "crowded": bool(crowded),
                "notes": [*notes],
                "rules": rules,
            } if rules == _RULES and all(type(number) is int for number in (*paths, *folders)):
                return cls(
                    paths=frozenset(paths),
                    folders=frozenset(folders),
                    crowded=crowded,
                    notes=tuple(map(str, notes)),
                )
        return None


def summaries(plan: BuildPlan, workshop: Workshop) -> dict[Digest, Summary]:
    """The summaries of a plan's finished layers, by key, in their order."""
    return {layer.key(): summary_of(layer, workshop) for layer in plan.layers}


def summary_of(layer: LayerPlan, workshop: Workshop) -> Summary:
    """The summary of a finished layer."""
    known = Summary.from_json(workshop.remembered(RESULT, layer.key()))
    if known is None:
        known = _summarised(layer, workshop)
        workshop.remember_derived(RESULT, layer.key(), known.to_json())
    return known


def _summarised(layer: LayerPlan, workshop: Workshop) -> Summary:
    claims = {part.key(): workshop.claims(part) for part in layer.parts}
    return summarise(tuple(claims.values()), tuple(notes_of(layer, workshop)))


def summarise(parts: Sequence[Claims], notes: tuple[str, ...]) -> Summary:
    """The summary of a layer whose parts claim this."""
    return Summary(
        paths=frozenset(_number(path) for part in parts for path in part.paths),
        folders=frozenset(_number(path) for part in parts for path in part.folders),
        crowded=bool(suspects(dict(enumerate(parts)))),
        notes=notes,
    )


def _number(path: str) -> int:
    return crc32(path.encode("utf-8", "surrogateescape"))
