"""`reprobridge inspect`: what an image is, and which layers it shares; without its big layers."""

import argparse
from typing import TYPE_CHECKING

from reprobridge.cli.doors import Doors
from reprobridge.digest import Digest

if TYPE_CHECKING:
    from reprobridge.oci.layout import ImageParts

NAME = "inspect"
SUMMARY = "show an image: paper, tasks, environment, changes, layers and what they share"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument(
        "image", metavar="DIR|oci:PATH|IMAGE", help="an image of the store, of a layout or of a registry"
    )
    parser.add_argument(
        "--compare-with",
        nargs="+",
        action="extend",
        default=[],
        metavar="IMAGE",
        help="images whose layers are looked for (default: all of the store)",
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument("--insecure", action="store_true", help="plain http to a registry on another machine")


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Look and print."""
    from reprobridge.cli.images import open_image
    from reprobridge.replicate.inspect import inspect, inspection_json
    from reprobridge.replicate.seen import see

    with doors.store.working():
        parts = open_image(arguments.image, doors, whole=False, insecure=arguments.insecure)
        image = see(parts, doors.store)
        name = f"{parts.name}:{parts.version}" if parts.version else parts.name
        others = _others(arguments, image.digest, doors)
        inspection = inspect(image, name, others, _misfits(arguments.image, parts))
    if arguments.json:
        import json

        print(json.dumps(inspection_json(inspection), indent=1), file=doors.out)
    else:
        from reprobridge.replicate.inspect_text import inspection_lines

        for line in inspection_lines(inspection):
            print(line, file=doors.out)
    return 0


def _misfits(word: str, parts: "ImageParts") -> dict[Digest, str]:
    """What is wrong with the layers of a layout; those of other places need not be here."""
    from reprobridge.cli.images import layout_of
    from reprobridge.oci.layout import misfits

    return misfits(layout_of(word)[0], parts) if word.startswith("oci:") else {}


def _others(arguments: argparse.Namespace, image: Digest, doors: Doors) -> dict[str, tuple[Digest, ...]]:
    """The layers of the images that were named, or of all others in the store."""
    from reprobridge.cli.images import open_image
    from reprobridge.oci.layout import read_parts

    if arguments.compare_with:
        named = {
            word: open_image(word, doors, whole=False, insecure=arguments.insecure)
            for word in arguments.compare_with
        }
    else:
        named = {
            f"{name}:{tag}": read_parts(name, tag, manifest, doors.store.path)
            for name, tag, manifest in doors.store.references()
            if doors.store.has(manifest) and manifest != image
        }
    return {name: tuple(layer.digest for layer in parts.layers) for name, parts in named.items()}
