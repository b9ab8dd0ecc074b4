"""`reprobridge cache info | prune`: the local store."""

import argparse
import json
import time
from collections.abc import Mapping

from reprobridge.cli.doors import Doors
from reprobridge.cli.values import days
from reprobridge.errors import UsageError

NAME = "cache"
SUMMARY = "show what lies in the local store, or delete what is not needed"

_DAY = 24 * 60 * 60
_DAYS = 30
_WAITING = (
    "waiting: other reprobridge commands work with this store, and a run's tasks may take hours; "
    "nothing is deleted before they end, and interrupting is safe"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument(
        "action", choices=("info", "prune"), help="say how much lies where, or delete what no image needs"
    )
    parser.add_argument("--json", action="store_true", help="info: for machines")
    parser.add_argument(
        "--older-than", type=days, metavar="DAYS", help=f"prune: keep what is younger (default {_DAYS})"
    )
    parser.add_argument(
        "--all", action="store_true", help="prune: delete images too, and all but what was measured"
    )


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Show or prune."""
    if arguments.action == "info":
        _refuse("info", {"--older-than": arguments.older_than is not None, "--all": arguments.all})
        return _info(doors, as_json=arguments.json)
    _refuse("prune", {"--json": arguments.json})
    from reprobridge.store.prune import clear, measured, prune

    if arguments.all:
        freed = clear(doors.store, waiting=lambda: doors.log(_WAITING))
        for folder in measured(doors.store):
            doors.log(f"kept, since it can't be made again: what was measured, in {folder}")
    else:
        age = _DAYS if arguments.older_than is None else arguments.older_than
        freed = prune(doors.store, keep_after=time.time() - age * _DAY, waiting=lambda: doors.log(_WAITING))
    print(f"{freed} bytes freed", file=doors.out)
    return 0


def _refuse(action: str, options: Mapping[str, bool]) -> None:
    """Raises UsageError when an option of the other action was given."""
    if given := [option for option, is_given in options.items() if is_given]:
        raise UsageError(f"cache {action} takes no {', '.join(given)}", hint="see `reprobridge cache --help`")


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
