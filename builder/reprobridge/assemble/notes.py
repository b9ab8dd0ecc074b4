"""What the author should hear of a build: oddities that the converters left in their facts."""

import json
from collections.abc import Iterator

from reprobridge.assemble.workshop import Workshop
from reprobridge.plan.model import BytecodeRecipe, DebianStateRecipe, LayerPlan, WheelRecipe


def notes_of(layer: LayerPlan, workshop: Workshop) -> Iterator[str]:
    """One readable line for each oddity of a layer, in the order of its parts."""
    for part in layer.parts:
        match part:
            case WheelRecipe():
                yield from _of_wheel(part, workshop)
            case DebianStateRecipe():
                yield from _of_state(part, workshop)
            case BytecodeRecipe():
                yield from _of_bytecode(part, workshop)
            case _:
                pass


def _of_wheel(recipe: WheelRecipe, workshop: Workshop) -> Iterator[str]:
    from reprobridge.assemble.wheel.facts import read_facts

    facts = read_facts(workshop.facts(recipe))
    for warning in (*facts.warnings, *facts.record_warnings):
        yield f"{recipe.wheel.name}: {warning}"


def _of_state(recipe: DebianStateRecipe, workshop: Workshop) -> Iterator[str]:
    for package, effects in sorted(json.loads(workshop.facts(recipe))["unknown"].items()):
        yield f"Debian package {package}: its scripts are not run, and may do more: {'; '.join(effects)}"


def _of_bytecode(recipe: BytecodeRecipe, workshop: Workshop) -> Iterator[str]:
    from reprobridge.assemble.bytecode.convert import unstable

    for path in unstable(workshop.facts(recipe)):
        yield f"{path}: no bytecode, since two compilations gave different ones"
