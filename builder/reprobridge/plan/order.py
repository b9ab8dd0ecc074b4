"""The canonical order of layers and who shares one: a rule, and its table from image-templates/layer-order.json.

Classic Docker shares layers by prefix, so what most papers have in common comes first and the order is frozen.
Big packages have a layer of their own; small ones are spread over a few layers by a hash of their name, so that
one changed package touches one layer. When big packages would exceed the budget, the size that earns an own
layer doubles until they fit.
"""

import json
from collections.abc import Sequence

from reprobridge.digest import Digest
from reprobridge.frozen import frozen
from reprobridge.lock.model import LockedWheel

HARD_LIMIT = 120
"""Most layers of an image; Docker's image store takes 125 (measured)."""


@frozen(kw_only=True)
class LayerOrder:
    """The table; a lock pins its digest (`lock/tools.py`)."""

    base_python: tuple[str, ...]
    """Patterns of the template's packages that make the Python layer."""
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    """Groups of wheels in order: name and package patterns; the rest follows."""
    own_layer_from: int
    """Bytes of a wheel from which it has a layer of its own."""
    small_buckets: int
    """How many layers the small wheels are spread over."""
    budget: int
    """Most layers, unless the image cannot do with less."""
    native: tuple[str, ...] = ()
    """Groups of wheels that hold libraries and next to no Python."""

    @classmethod
    def parse(cls, data: bytes) -> "LayerOrder":
        """Read the table."""
        table = json.loads(data)
        return cls(
            base_python=tuple(table["base_python"]),
            groups=tuple((group["name"], tuple(group["packages"])) for group in table["wheel_groups"]),
            own_layer_from=table["own_layer_from"],
            small_buckets=table["small_buckets"],
            budget=table["budget"],
            native=tuple(group["name"] for group in table["wheel_groups"] if group.get("native")),
        )


@frozen
class WheelLayer:
    """Wheels that share a layer."""

    title: str
    """For people."""
    wheels: tuple[LockedWheel, ...]
    """Sorted by name."""


def wheel_layers(wheels: Sequence[LockedWheel], order: LayerOrder, room: int) -> list[WheelLayer]:
    """Wheels by layer, in canonical order, in at most `room` layers where there are more than buckets."""
    return _layers(wheels, wheels, order, room)


def bytecode_layers(wheels: Sequence[LockedWheel], order: LayerOrder, room: int) -> list[WheelLayer]:
    """Wheels by the layer of their bytecode, likewise; big ones that hold next to no Python share one, too."""
    native = {number for number, (name, _) in enumerate(order.groups) if name in order.native}
    return _layers(wheels, [wheel for wheel in wheels if _group(wheel, order) not in native], order, room)


def _layers(
    wheels: Sequence[LockedWheel], weighty: Sequence[LockedWheel], order: LayerOrder, room: int
) -> list[WheelLayer]:
    """Of the weighty wheels the big ones have a layer alone."""
    threshold = order.own_layer_from
    while sum(wheel.file.size >= threshold for wheel in weighty) > max(0, room - order.small_buckets):
        threshold *= 2
    big = sorted(
        (wheel for wheel in weighty if wheel.file.size >= threshold),
        key=lambda wheel: (_group(wheel, order), -wheel.file.size, wheel.name),
    )
    small = [wheel for wheel in wheels if wheel not in big]
    alone = [WheelLayer(f"python: {wheel.name} {wheel.version}", (wheel,)) for wheel in big]
    return alone + _small_layers(small, order.small_buckets)


def _small_layers(wheels: Sequence[LockedWheel], buckets: int) -> list[WheelLayer]:
    layers = []
    for bucket in range(buckets):
        members = [wheel for wheel in wheels if _bucket(wheel.name, buckets) == bucket]
        if members:
            members.sort(key=lambda wheel: wheel.name)
            names = ", ".join(f"{wheel.name} {wheel.version}" for wheel in members)
            layers.append(WheelLayer(f"python: {names}", tuple(members)))
    return layers


def _bucket(name: str, buckets: int) -> int:
    return int(Digest.of(name.encode()).hex[:8], 16) % buckets


def _group(wheel: LockedWheel, order: LayerOrder) -> int:
    for number, (_, patterns) in enumerate(order.groups):
        if any(_matches(wheel.name, pattern) for pattern in patterns):
            return number
    return len(order.groups)


def is_base_python(package: str, order: LayerOrder) -> bool:
    """Whether a package of the template belongs into the Python layer."""
    return any(_matches(package, pattern) for pattern in order.base_python)


def _matches(name: str, pattern: str) -> bool:
    """Whether a name is the pattern's; a star stands at the end only (fnmatch compiles each, 8 ms a build)."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
