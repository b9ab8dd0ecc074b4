"""What the author should hear of a build: oddities that the converters left in their facts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reprobridge.assemble.workshop import Workshop
from reprobridge.plan.model import BytecodeRecipe, DebianStateRecipe, LayerPlan, WheelRecipe

_IN_EVERY_BASE = frozenset({"libpam-modules-bin", "login", "util-linux"})
"""Packages of the templates with set-uid files (su, newgrp, unix_chkpwd): every build would name them, and each needs
a password that no account of an image has."""


def notes_of(layer: LayerPlan, workshop: Workshop) -> Iterator[str]:
    """One readable line for each oddity of a layer, in the order of its parts."""
    for part in layer.parts:
        match part:
            case WheelRecipe():
                yield from _of_wheel(part, workshop)
            case DebianStateRecipe():
                yield from state_notes(json.loads(workshop.facts(part)))
            case BytecodeRecipe():
                yield from _of_bytecode(part, workshop)
            case _:
                pass


def _of_wheel(recipe: WheelRecipe, workshop: Workshop) -> Iterator[str]:
    from reprobridge.assemble.wheel.facts import read_facts

    facts = read_facts(workshop.facts(recipe))
    for warning in (*facts.warnings, *facts.record_warnings):
        yield f"{recipe.wheel.name}: {warning}"


def state_notes(facts: Mapping[str, Any]) -> Iterator[str]:
    """What is to be said of Debian packages, by the facts of their state."""
    for package, effects in sorted(facts["unknown"].items()):
        yield f"Debian package {package}: its scripts are not run, and may do more: {'; '.join(effects)}"
    for package, files in sorted(facts["dropped"].items()):
        if package not in _IN_EVERY_BASE:
            yield f"Debian package {package}: {_dropped(files)} are dropped: an artifact runs as one unprivileged user"


def _dropped(files: Sequence[tuple[str, int]]) -> str:
    """Which bits of which files, given with their modes."""
    kinds = [
        name
        for name, bit in (("set-uid", 0o4000), ("set-gid", 0o2000))
        if any(mode & bit for _, mode in files)
    ]
    return f"{' and '.join(kinds)} bits of {', '.join(f'/{path}' for path, _ in files)}"


def _of_bytecode(recipe: BytecodeRecipe, workshop: Workshop) -> Iterator[str]:
    from reprobridge.assemble.bytecode.convert import unstable

    for path in unstable(workshop.facts(recipe)):
        yield f"{path}: no bytecode, since two compilations gave different ones"
