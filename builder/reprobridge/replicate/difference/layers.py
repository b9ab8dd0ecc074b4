"""Comparing the layers of two images: which are the same, which belong together, which moved.

Layers of equal digest are the same. Of the others, those with equal titles belong together, and those with
titles that name the same packages in other versions (`python: numpy 2.3.0`). What moved is what stands
outside of the longest run that both images have in the same order.
"""

import bisect
from collections.abc import Callable, Hashable, Sequence

from reprobridge.frozen import frozen
from reprobridge.replicate.difference.model import (
    Files,
    LayerChanged,
    LayerDifference,
    LayerMoved,
    LayerOnly,
    NotLooked,
    Side,
)
from reprobridge.replicate.seen import SeenLayer

Look = Callable[[SeenLayer, SeenLayer], Files | NotLooked]
"""Compares the inside of two layers."""


@frozen
class Pair:
    """Two layers that belong together, by their numbers."""

    before: int
    """In the first image."""
    after: int
    """In the second one."""


def compare_layers(
    before: Sequence[SeenLayer], after: Sequence[SeenLayer], look: Look
) -> tuple[LayerDifference, ...]:
    """Every difference, lowest layer first, those of the first image before those of the second."""
    pairs = pair_up(before, after)
    changed = [
        (pair.before, 0, LayerChanged(old, new, look(old, new)))
        for pair, old, new in ((pair, before[pair.before], after[pair.after]) for pair in pairs)
        if old.descriptor.digest != new.descriptor.digest
    ]
    other = [(p.before, 1, LayerMoved(before[p.before], p.before, p.after)) for p in moved(pairs)]
    gone = {*range(len(before))} - {pair.before for pair in pairs}
    new = {*range(len(after))} - {pair.after for pair in pairs}
    only = [(number, 2, LayerOnly(before[number], number, Side.BEFORE)) for number in gone]
    only += [(number, 3, LayerOnly(after[number], number, Side.AFTER)) for number in new]
    found: list[tuple[int, int, LayerDifference]] = [*changed, *other, *only]
    return tuple(difference for _, _, difference in sorted(found, key=lambda one: one[:2]))


def pair_up(before: Sequence[SeenLayer], after: Sequence[SeenLayer]) -> list[Pair]:
    """Layers that belong together, sorted by their numbers in the first image."""
    pairs: list[Pair] = []
    left, right = list(range(len(before))), list(range(len(after)))
    for name in (_digest, _title, _purpose):
        waiting: dict[Hashable, list[int]] = {}
        for number in right:
            waiting.setdefault(name(after[number]), []).append(number)
        pairs += [
            Pair(number, matching.pop(0))
            for number in left
            if (matching := waiting.get(name(before[number])))
        ]
        left = sorted({*left} - {pair.before for pair in pairs})
        right = sorted({*right} - {pair.after for pair in pairs})
    return sorted(pairs, key=lambda pair: pair.before)


def moved(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs outside of one longest run in which both images have the same order."""
    # Patience sorting: `tails[n]` is the pair with the lowest end among all runs of n + 1 pairs.
    tails: list[int] = []
    ends: list[int] = []
    previous: dict[int, int | None] = {}
    for number, pair in enumerate(pairs):
        place = bisect.bisect_left(ends, pair.after)
        previous[number] = tails[place - 1] if place else None
        tails[place : place + 1] = [number]
        ends[place : place + 1] = [pair.after]
    run: set[int] = set()
    last = tails[-1] if tails else None
    while last is not None:
        run.add(last)
        last = previous[last]
    return [pair for number, pair in enumerate(pairs) if number not in run]


def _digest(layer: SeenLayer) -> Hashable:
    return layer.descriptor.digest


def _title(layer: SeenLayer) -> Hashable:
    return layer.title


def _purpose(layer: SeenLayer) -> Hashable:
    """The title without versions: `python: numpy 2.3.0, six 1.0` gives `python:` with numpy and six."""
    kind, _, names = layer.title.partition(" ")
    return kind, tuple(name.split(" ")[0] for name in names.split(", "))
