"""`reprobridge rebuild`: make an image again from what it holds, and compare digests."""

import argparse
from typing import TYPE_CHECKING

from reprobridge.cli.building import add_sandbox
from reprobridge.cli.doors import Doors

if TYPE_CHECKING:
    from reprobridge.replicate.rebuild_outcome import Outcome
    from reprobridge.replicate.seen import SeenImage
    from reprobridge.store.store import Store

NAME = "rebuild"
SUMMARY = "make an image again from its own lock, in an empty store, and compare every layer"

LARGEST = 64 << 20
"""Compressed bytes of a differing layer that is looked into without being asked to."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument(
        "image", metavar="DIR|oci:PATH|IMAGE", help="an image of the store, of a layout or of a registry"
    )
    parser.add_argument(
        "--explain", action="store_true", help="look into differing layers of any size, fetching them whole"
    )
    add_sandbox(parser)
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    parser.add_argument("--insecure", action="store_true", help="plain http to a registry on another machine")


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Rebuild, compare, print. Raises TrustError when the digests differ."""
    from reprobridge.cli.images import open_image
    from reprobridge.errors import TrustError
    from reprobridge.replicate.rebuild import empty_store
    from reprobridge.replicate.seen import see

    with doors.store.working(), empty_store(doors.store.root / "scratch") as store:
        parts = open_image(arguments.image, doors, whole=False, insecure=arguments.insecure)
        outcome = _rebuilt(see(parts, doors.store), store, arguments, doors)
    _print(outcome, arguments, doors)
    difference = outcome.difference
    if not difference.equal:
        raise TrustError(
            "the image is not what its lock gives",
            where=arguments.image,
            expected=str(difference.after),
            found=str(difference.before),
            hint="the tree above says what differs; --explain looks into large layers too",
        )
    return 0


def _rebuilt(image: "SeenImage", store: "Store", arguments: argparse.Namespace, doors: Doors) -> "Outcome":
    """Make the image again in an empty store, and compare."""
    from reprobridge.cli.build import DEFAULT_WORKERS
    from reprobridge.cli.progress import build_progress
    from reprobridge.frozen import replace
    from reprobridge.replicate.difference.compare import Comparison, compare_images
    from reprobridge.replicate.rebuild import RebuildRequest, rebuild
    from reprobridge.replicate.rebuild_outcome import Outcome
    from reprobridge.replicate.seen import see

    with build_progress(doors) as progress:
        request = RebuildRequest(image=image, progress=progress, downloads=progress, workers=DEFAULT_WORKERS)
        made = rebuild(request, replace(doors.for_locking(), store=store))
    how = Comparison(store=store, largest=None if arguments.explain else LARGEST)
    difference = compare_images(image, see(made.image, store), how)
    return Outcome(image=image, rebuilt=made, difference=difference)


def _print(outcome: "Outcome", arguments: argparse.Namespace, doors: Doors) -> None:
    if arguments.json:
        import json

        print(json.dumps(outcome.to_json(), indent=1), file=doors.out)
        return
    from reprobridge.replicate.rebuild_outcome import outcome_lines

    for line in outcome_lines(outcome):
        print(line, file=doors.out)
