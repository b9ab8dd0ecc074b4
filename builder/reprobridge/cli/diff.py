"""`reprobridge diff`: what differs between two images."""

import argparse

from reprobridge.cli.doors import Doors

NAME = "diff"
SUMMARY = "compare two images: what they are made from, configuration, layers, files"

DIFFERENT = 1
"""Exit status when the images differ (guides/reference/exit-codes.md)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    for name in ("before", "after"):
        parser.add_argument(
            name, metavar="DIR|oci:PATH|IMAGE", help="an image of the store, of a layout or of a registry"
        )
    parser.add_argument("--all", action="store_true", help="show every difference, not the first of many")
    parser.add_argument("--json", action="store_true", help="print the whole tree as JSON")
    parser.add_argument("--insecure", action="store_true", help="plain http to a registry on another machine")


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Compare and print; 0: equal."""
    from reprobridge.cli.images import open_image
    from reprobridge.replicate.difference.compare import Comparison, compare_images
    from reprobridge.replicate.seen import see

    with doors.store.working():
        before, after = (
            see(open_image(word, doors, whole=False, insecure=arguments.insecure), doors.store)
            for word in (arguments.before, arguments.after)
        )
        difference = compare_images(before, after, Comparison(store=doors.store))
    if arguments.json:
        import json

        from reprobridge.replicate.difference.json_form import difference_json

        print(json.dumps(difference_json(difference), indent=1, sort_keys=True), file=doors.out)
    else:
        from reprobridge.replicate.difference.text import difference_lines

        for line in difference_lines(difference, everything=arguments.all):
            print(line, file=doors.out)
    return 0 if difference.equal else DIFFERENT
