"""Leaving out what loses a conflict: from the indexes of an image's fragments back into its recipes.

Whole layers are compared first (`summary.py`). What is decided among the recipes of those that may meet is
remembered, so that a build in which nothing of the environment changed reads no index.
"""

from collections.abc import Mapping

from reprobridge.assemble.claims import suspects
from reprobridge.assemble.summary import Summary
from reprobridge.assemble.workshop import Workshop
from reprobridge.digest import Digest, Json, digest_json
from reprobridge.errors import AssembleError
from reprobridge.frozen import frozen, replace
from reprobridge.lock.revisions import ASSEMBLY
from reprobridge.plan.bytecode import bytecode_owner
from reprobridge.plan.model import (
    BuildPlan,
    BytecodeRecipe,
    DebianStateRecipe,
    DebRecipe,
    FragmentRecipe,
    InventoryRecipe,
    RequestedRecipe,
    SbomRecipe,
    WheelRecipe,
)
from reprobridge.spec.package_name import normalized


@frozen
class Omissions:
    """What was decided about paths that several fragments have."""

    omit: Mapping[Digest, tuple[str, ...]]
    """Paths that a recipe loses, by the recipe's key."""
    notes: tuple[str, ...]
    """One readable line for each conflict that had a harmless winner."""

    def to_json(self) -> dict[str, Json]:
        """For the store."""
        return {"omit": {str(key): paths for key, paths in self.omit.items()}, "notes": self.notes}

    @classmethod
    def from_json(cls, value: object) -> "Omissions":
        """From the store. Raises ValueError, TypeError or KeyError for anything else."""
        if not isinstance(value, dict):
            raise TypeError(f"expected an object, found {value!r}")
        omit = {Digest.parse(key): tuple(paths) for key, paths in value["omit"].items()}
        return cls(omit, tuple(value["notes"]))


def omissions(plan: BuildPlan, summaries: Mapping[Digest, Summary], workshop: Workshop) -> Omissions:
    """Decide every path that two fragments of the plan have; `summaries` are its layers', by key.

    Raises AssembleError where only the author can.
    """
    close = {*suspects(summaries), *(key for key, summary in summaries.items() if summary.crowded)}
    parts = {part.key(): part for layer in plan.layers if layer.key() in close for part in layer.parts}
    if not parts:
        return Omissions({}, ())
    keys: Json = sorted(str(key) for key in parts)
    key = digest_json({"parts": keys, "owners": dict(plan.owners), "revision": ASSEMBLY})
    try:
        return Omissions.from_json(workshop.remembered("omissions", key))
    except (KeyError, TypeError, ValueError):
        decided = _decide(parts, plan.owners, workshop)
        workshop.remember_derived("omissions", key, decided.to_json())
        return decided


def _decide(
    parts: Mapping[Digest, FragmentRecipe], owners: Mapping[str, str], workshop: Workshop
) -> Omissions:
    from reprobridge.assemble.conflicts import Owned, settle

    near = suspects({key: workshop.claims(part) for key, part in parts.items()})
    keys = {owner_of(parts[key]): key for key in near}
    found = settle((Owned(owner, workshop.index(parts[key])) for owner, key in keys.items()), owners)
    if found.problems:
        shown = "\n".join(str(problem) for problem in found.problems)
        raise AssembleError(f"packages want the same paths\n{shown}")
    omit = {keys[owner]: tuple(sorted(paths)) for owner, paths in found.omit.items()}
    return Omissions(omit, tuple(found.notes))


def owner_of(recipe: FragmentRecipe) -> str:
    """Whose the fragment's paths are: a package's name, or what else the fragment is; unique in an image."""
    match recipe:
        case WheelRecipe():
            return normalized(recipe.wheel.name.partition("-")[0])
        case DebRecipe():
            return f"debian:{recipe.package}"
        case BytecodeRecipe(of=(WheelRecipe() as wheel,)):
            return bytecode_owner(owner_of(wheel))
        case _:
            return f"{recipe.kind}:{recipe.key().hex[:12]}"


def with_omissions(plan: BuildPlan, omit: Mapping[Digest, tuple[str, ...]]) -> BuildPlan:
    """The plan with the losers' paths left out, wherever the recipes stand."""
    layers = tuple(
        replace(layer, parts=tuple(_without(part, omit) for part in layer.parts)) for layer in plan.layers
    )
    return replace(plan, layers=layers)


def _without(recipe: FragmentRecipe, omit: Mapping[Digest, tuple[str, ...]]) -> FragmentRecipe:
    match recipe:
        case WheelRecipe():
            return _wheel_without(recipe, omit)
        case RequestedRecipe():
            return replace(recipe, wheels=tuple(_wheel_without(wheel, omit) for wheel in recipe.wheels))
        case SbomRecipe():
            wheels = {name: _wheel_without(wheel, omit) for name, wheel in recipe.wheels.items()}
            return replace(recipe, wheels=wheels)
        case DebRecipe():
            return _deb_without(recipe, omit)
        case DebianStateRecipe():
            return replace(recipe, debs=tuple(_deb_without(deb, omit) for deb in recipe.debs))
        case InventoryRecipe():
            return replace(recipe, of=tuple(_without(part, omit) for part in recipe.of))
        case BytecodeRecipe():
            of = tuple(_without(part, omit) for part in recipe.of)
            return replace(recipe, of=of, omit=omit.get(recipe.key(), recipe.omit))
        case _:
            return recipe


def _wheel_without(wheel: WheelRecipe, omit: Mapping[Digest, tuple[str, ...]]) -> WheelRecipe:
    return replace(wheel, omit=omit.get(wheel.key(), wheel.omit))


def _deb_without(deb: DebRecipe, omit: Mapping[Digest, tuple[str, ...]]) -> DebRecipe:
    return replace(deb, omit=omit.get(deb.key(), deb.omit))
