"""The layers of bytecode: which there are, and what each is made of.

They stand above all packages, so that an image with bytecode has the layers of the one without it, in the same
order, and both share them (ADR 0012). The standard library's is the lowest: every paper of the template has it.
"""

from collections.abc import Mapping, Sequence

from reprobridge.frozen import frozen
from reprobridge.lock.model import LockedPlatform, LockedWheel
from reprobridge.plan.model import BytecodeRecipe, DebRecipe, LayerPlan, WheelRecipe
from reprobridge.plan.order import LayerOrder, bytecode_layers

STANDARD_LIBRARY = 1
"""How many layers hold the bytecode of the interpreter's own modules."""
_BYTECODE = " bytecode"


def bytecode_tag(python: str) -> str:
    """What an interpreter of this minor version calls its bytecode (PEP 3147)."""
    return f"cpython-{python.replace('.', '')}"


def bytecode_path(source: str, python: str) -> str:
    """Where an interpreter of this minor version looks for the bytecode of a source."""
    folder, _, name = source.rpartition("/")
    return f"{folder}/__pycache__/{name.removesuffix('.py')}.{bytecode_tag(python)}.pyc"


def bytecode_owner(package: str) -> str:
    """Whose the bytecode of a package is, among the owners of paths; sorts among them as the packages do."""
    return f"{package}{_BYTECODE}"


def is_bytecode_owner(owner: str) -> bool:
    """Whether it owns bytecode; no package's name has a blank."""
    return owner.endswith(_BYTECODE)


@frozen(kw_only=True)
class BytecodePlan:
    """What layers of bytecode are planned from."""

    locked: LockedPlatform
    """The packages."""
    recipes: Mapping[str, WheelRecipe]
    """The recipe of each wheel, by its name."""
    ground: tuple[LayerPlan, ...]
    """What the interpreter runs on: base system, Python, and the base system's state."""
    order: LayerOrder
    """The canonical order."""

    def layers(self, room: int) -> list[LayerPlan]:
        """All of them, lowest first, in at most `room` layers where there are more than buckets."""
        debs = tuple(part for part in self.ground[1].parts if isinstance(part, DebRecipe))
        library = LayerPlan(title="bytecode: standard library", parts=(self._recipe(debs),))
        planned = bytecode_layers(self.locked.python.wheels, self.order, room - STANDARD_LIBRARY)
        return [library, *(self._layer(layer.wheels) for layer in planned)]

    def _layer(self, wheels: Sequence[LockedWheel]) -> LayerPlan:
        names = ", ".join(f"{wheel.name} {wheel.version}" for wheel in wheels)
        parts = tuple(self._recipe((self.recipes[wheel.name],)) for wheel in wheels)
        return LayerPlan(title=f"bytecode: {names}", parts=parts)

    def _recipe(self, of: tuple[WheelRecipe | DebRecipe, ...]) -> BytecodeRecipe:
        python = self.locked.python
        return BytecodeRecipe(
            of=of, python=python.version, interpreter=python.interpreter, ground=self.ground
        )
