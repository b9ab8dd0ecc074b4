"""Layers of bytecode that somebody else made, made again to see whether they are true."""

from pathlib import Path

import pytest

from reprobridge.assemble.build_room import Silence, plan_of
from reprobridge.assemble.composition import composed
from reprobridge.assemble.image import Making, build_image
from reprobridge.errors import TrustError
from reprobridge.frozen import replace
from reprobridge.lock.model import LockedFile
from reprobridge.plan.model import BytecodeRecipe, LayerPlan, WheelRecipe
from reprobridge.publish.known_layer import KnownLayer, known_of
from reprobridge.publish.known_source import require_true
from reprobridge.store.store import Store
from reprobridge.system.bytecode_frontend import BYTECODE, PASSES
from support.host_compiler import PYTHON, HostCompiler, HostSandbox
from support.wheels import WheelSource, build_wheel


@pytest.fixture
def store(store_folder: Path) -> Store:
    return Store(store_folder)


@pytest.fixture(params=[1, 2])
def layer(store: Store, request: pytest.FixtureRequest) -> LayerPlan:
    """The bytecode of one wheel or of two, which are in the store."""
    recipes = []
    for number in range(request.param):
        wheel = build_wheel(WheelSource(name=f"p{number}", files={f"p{number}.py": "x = 1\n"}))
        file = LockedFile(wheel.filename, store.add(wheel.data), len(wheel.data))
        of = (WheelRecipe(wheel=file, python=PYTHON),)
        recipes.append(BytecodeRecipe(of=of, python=PYTHON, interpreter="/usr/bin/python3", ground=()))
    return LayerPlan(title="bytecode", parts=tuple(recipes))


@pytest.fixture
def known(layer: LayerPlan, store: Store) -> KnownLayer:
    """What is known of the layer once it was made."""
    making = Making(arrivals=HostCompiler(store, HostSandbox()), progress=Silence(), workers=1)
    build_image(replace(plan_of((layer,)), platform="linux/amd64"), store, making)
    found = known_of(store, composed(layer))
    assert found is not None
    return found


def test_a_layer_that_is_what_compiling_gives_is_true(
    store: Store, layer: LayerPlan, known: KnownLayer
) -> None:
    require_true(store, layer, known, HostCompiler(store, HostSandbox()))


def test_a_layer_that_is_something_else_is_refused_although_it_is_kept_here(
    store: Store, layer: LayerPlan, known: KnownLayer
) -> None:
    def change(work: Path) -> None:
        """Another interpreter's bytecode."""
        for name in PASSES:
            data = bytearray((work / name / BYTECODE).read_bytes())
            data[-1] ^= 1
            (work / name / BYTECODE).write_bytes(data)

    with pytest.raises(TrustError, match="its bytes differ"):
        require_true(store, layer, known, HostCompiler(store, HostSandbox(after=change)))
