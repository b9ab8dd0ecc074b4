"""`reprobridge cache info | prune`: the local store."""

import argparse
import json
import time

from reprobridge.cli.doors import Doors

NAME = "cache"
SUMMARY = "show what lies in the local store, or delete what is not needed"

_DAY = 24 * 60 * 60


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    info = actions.add_parser("info", help="how much lies where")
    info.add_argument("--json", action="store_true", help="for machines")
    prune = actions.add_parser("prune", help="delete what no image needs")
    prune.add_argument(
        "--older-than", type=float, default=30.0, metavar="DAYS", help="keep what is younger (default 30)"
    )
    prune.add_argument("--all", action="store_true", help="delete images, too: everything")


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Show or prune."""
    if arguments.action == "info":
        return _info(doors, as_json=arguments.json)
    from reprobridge.store.prune import clear, prune

    if arguments.all:
        freed = clear(doors.store)
    else:
        freed = prune(doors.store, keep_after=time.time() - arguments.older_than * _DAY)
    print(f"{freed} bytes freed", file=doors.out)
    return 0


def _info(doors: Doors, *, as_json: bool) -> int:
    from reprobridge.store.prune import measure

    usages = measure(doors.store)
    images = [f"{name}:{tag} {manifest}" for name, tag, manifest in doors.store.references()]
    if as_json:
        value = {usage.kind: {"objects": usage.objects, "bytes": usage.size} for usage in usages}
        print(json.dumps({"root": str(doors.store.root), **value, "images": images}), file=doors.out)
        return 0
    print(f"store {doors.store.root}", file=doors.out)
    for usage in usages:
        print(f"{usage.kind:10} {usage.objects:8} objects {usage.size:15} bytes", file=doors.out)
    for image in images:
        print(image, file=doors.out)
    return 0
