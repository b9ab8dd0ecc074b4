"""The layers of bytecode in a plan: where they stand, how many they are, and what they depend on."""

from collections.abc import Mapping

import pytest

from reprobridge.assemble.omissions import owner_of
from reprobridge.data_files import data_folder
from reprobridge.frozen import replace
from reprobridge.lock.model import Lock, LockedDeb, LockedWheel
from reprobridge.lock.revisions import ON_DEMAND
from reprobridge.plan.bytecode import bytecode_owner
from reprobridge.plan.model import (
    BuildPlan,
    BytecodeRecipe,
    FilesRecipe,
    InventoryRecipe,
    SbomRecipe,
    WheelRecipe,
)
from reprobridge.plan.order import LayerOrder
from reprobridge.plan.plan import PlanInputs, plan
from reprobridge.spec.model import Environment, PythonWish
from support.specs import PLATFORM, sample_deb, sample_lock, sample_spec, sample_wheel

ORDER = LayerOrder.parse((data_folder("image-templates") / "layer-order.json").read_bytes())
WHEELS = (sample_wheel("six"), sample_wheel("torch", 10**8), sample_wheel("nvidia-cublas", 10**8))
OWNERS = {"shared/x.py": "torch", "shared/y.so": "torch"}


def with_bytecode(wheels: tuple[LockedWheel, ...] = WHEELS, extra: tuple[LockedDeb, ...] = ()) -> Lock:
    """The sample lock with bytecode."""
    lock = sample_lock(wheels, extra)
    locked = lock.platforms[PLATFORM]
    return replace(
        lock,
        tools=replace(lock.tools, converters={**lock.tools.converters, **ON_DEMAND}),
        platforms={PLATFORM: replace(locked, python=replace(locked.python, bytecode=True))},
    )


def planned(lock: Lock, *, bytecode: bool = True, owners: Mapping[str, str] | None = None) -> BuildPlan:
    """The plan of the sample paper with this lock."""
    python = PythonWish(requirements=None, owners=owners or {}, bytecode=bytecode)
    spec = sample_spec(environment=Environment(template="debian12-py311", python=python))
    return plan(PlanInputs(spec=spec, lock=lock, platform=PLATFORM, launcher={"entry.py": b""}, order=ORDER))


def recipes(made: BuildPlan) -> dict[str, BytecodeRecipe]:
    """The plan's recipes of bytecode by the name of their wheel; the standard library's by an empty one."""
    found = [part for layer in made.layers for part in layer.parts if isinstance(part, BytecodeRecipe)]
    return {_name(recipe): recipe for recipe in found}


def _name(recipe: BytecodeRecipe) -> str:
    first = recipe.of[0]
    return first.wheel.name.partition("-")[0] if isinstance(first, WheelRecipe) else ""


def test_an_image_with_bytecode_has_the_same_layers_below_and_above_it() -> None:
    without, made = planned(sample_lock(WHEELS), bytecode=False), planned(with_bytecode())
    assert [layer.title for layer in made.layers] == [
        "base system",
        "Python 3.11",
        "python: nvidia-cublas 1.0",
        "python: torch 1.0",
        "python: six 1.0",
        "bytecode: standard library",
        "bytecode: torch 1.0",
        *sorted(["bytecode: nvidia-cublas 1.0", "bytecode: six 1.0"]),
        "system state",
        "code",
        "launcher",
        "artifact",
        "references",
    ]
    others = [layer.key() for layer in made.layers if not layer.title.startswith("bytecode")]
    differ = [layer.title for layer, key in zip(without.layers, others, strict=True) if layer.key() != key]
    assert differ == ["artifact"]


def test_each_package_is_compiled_once_and_the_interpreters_own_modules_too() -> None:
    assert set(recipes(planned(with_bytecode()))) == {"", "six", "torch", "nvidia_cublas"}


@pytest.mark.parametrize("big", [1, 20, 44, 52, 90])
def test_bytecode_keeps_to_the_budget_of_layers(big: int) -> None:
    wheels = tuple(sample_wheel(f"p{number}", 10**7 + number) for number in range(big))
    small = tuple(sample_wheel(f"s{number}", 10) for number in range(30))
    made = planned(with_bytecode((*wheels, *small)))
    assert len(made.layers) <= ORDER.budget
    assert len(recipes(made)) == big + 30 + 1


def test_bytecode_depends_on_its_package_and_on_the_base_system_alone() -> None:
    one = recipes(planned(with_bytecode()))
    other = recipes(
        planned(with_bytecode((*WHEELS[:1], sample_wheel("numpy")), extra=(sample_deb("libgl1"),)))
    )
    assert one[""].key() == other[""].key()
    assert one["six"].key() == other["six"].key()
    assert one["six"].key() != one["torch"].key()
    assert one["six"].key() != replace(one["six"], ground=one["six"].ground[:1]).key()


def test_bytecode_of_packages_is_in_the_inventory() -> None:
    made = planned(with_bytecode())
    listed = next(part for layer in made.layers for part in layer.parts if isinstance(part, InventoryRecipe))
    assert sorted(_name(part) for part in listed.of if isinstance(part, BytecodeRecipe)) == [
        "nvidia_cublas",
        "six",
        "torch",
    ]


def test_the_authors_word_for_a_module_holds_for_its_bytecode() -> None:
    site = "opt/env/lib/python3.11/site-packages"
    assert planned(with_bytecode(), owners=OWNERS).owners == {
        f"{site}/shared/x.py": "torch",
        f"{site}/shared/y.so": "torch",
        f"{site}/shared/__pycache__/x.cpython-311.pyc": bytecode_owner("torch"),
    }
    assert len(planned(sample_lock(WHEELS), bytecode=False, owners=OWNERS).owners) == 2


def test_packages_and_their_bytecode_sort_alike_by_owner() -> None:
    found = recipes(planned(with_bytecode((sample_wheel("a"), sample_wheel("a-b"), sample_wheel("ab")))))
    names = ["a", "a-b", "ab"]
    assert sorted(names) == names
    assert sorted(bytecode_owner(name) for name in names) == [bytecode_owner(name) for name in names]
    assert {owner_of(recipe) for name, recipe in found.items() if name} == set(map(bytecode_owner, names))


def test_the_image_says_that_it_has_bytecode() -> None:
    def said(made: BuildPlan, path: str) -> str:
        parts = [part for layer in made.layers for part in layer.parts]
        files = [file for part in parts if isinstance(part, FilesRecipe) for file in part.files]
        bills = {part.path: part.document for part in parts if isinstance(part, SbomRecipe)}
        return ({file.path: file.data for file in files} | bills)[path].decode()

    with_it, without = planned(with_bytecode()), planned(sample_lock(WHEELS), bytecode=False)
    for path, words in {"rra/GUIDE.md": "## Bytecode", "rra/sbom.spdx.json": "bytecode of /usr/bin/"}.items():
        assert words in said(with_it, path)
        assert words not in said(without, path)
