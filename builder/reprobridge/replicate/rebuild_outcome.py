"""The outcome of a rebuild: every layer of the image beside what its lock gives."""

from collections.abc import Iterator

from reprobridge.digest import Json
from reprobridge.frozen import frozen
from reprobridge.replicate.difference.json_form import difference_json
from reprobridge.replicate.difference.model import ImageDifference
from reprobridge.replicate.difference.text import difference_lines
from reprobridge.replicate.one_line import one_line
from reprobridge.replicate.rebuild import Rebuilt
from reprobridge.replicate.seen import SeenImage, SeenLayer

SCHEMA = "reprobridge.rebuild/1"
"""Value of `schema` in the JSON form."""


@frozen(kw_only=True)
class Outcome:
    """An image and what its lock gives."""

    image: SeenImage
    """The image."""
    rebuilt: Rebuilt
    """What was made."""
    difference: ImageDifference
    """What differs, the image first."""

    def layers(self) -> Iterator[tuple[SeenLayer, bool]]:
        """Each layer of the image, and whether the rebuilt one has it."""
        made = {layer.digest for layer in self.rebuilt.image.layers}
        for layer in self.image.layers:
            yield layer, layer.descriptor.digest in made

    def to_json(self) -> dict[str, Json]:
        """The JSON form."""
        layers: list[Json] = [
            {"title": layer.title, "digest": str(layer.descriptor.digest), "equal": equal}
            for layer, equal in self.layers()
        ]
        return {
            "schema": SCHEMA,
            "image": str(self.image.digest),
            "rebuilt": str(self.rebuilt.image.manifest.digest),
            "equal": self.difference.equal,
            "code": {"from": self.rebuilt.code.value, "why": self.rebuilt.why},
            "layers": layers,
            "difference": difference_json(self.difference),
        }


def outcome_lines(outcome: Outcome) -> Iterator[str]:
    """The lines to print."""
    for layer, equal in outcome.layers():
        yield f"{'equal' if equal else 'DIFFERS':8} {layer.descriptor.digest}  {one_line(layer.title)}"
    yield f"code: from the {outcome.rebuilt.code.value} ({one_line(outcome.rebuilt.why)})"
    if outcome.difference.equal:
        yield f"the rebuilt image is the same: {outcome.image.digest}"
    else:
        yield "the image (-) and what its lock gives (+):"
        yield from difference_lines(outcome.difference)
