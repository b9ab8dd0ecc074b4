"""`reprobridge template`: the base systems, and their locks."""

import argparse
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from reprobridge.cli.doors import Doors
from reprobridge.cli.values import path_word
from reprobridge.errors import UsageError
from reprobridge.wording import counted, nearest

NAME = "template"
SUMMARY = "list the base systems, or lock their packages anew"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What stands behind `reprobridge template`."""
    parser.add_argument("verb", choices=["list", "lock"], help="list them, or write lockfiles/NAME.lock.json")
    parser.add_argument("names", nargs="*", metavar="NAME", help="templates; all when none is named")
    parser.add_argument(
        "--into", type=path_word, metavar="FOLDER", help="where locks are written; lockfiles/ when not given"
    )


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Carry the command out."""
    from reprobridge.lock.template import load_template, template_names

    names = arguments.names or template_names()
    _require_known(names, template_names())
    if arguments.verb == "list":
        for name in names:
            print(f"{name}\t{load_template(name).title}", file=doors.out)
        return 0
    for name in names:
        _lock(name, arguments.into, doors)
    return 0


def _require_known(names: Sequence[str], known: Sequence[str]) -> None:
    """Raises UsageError for a name that no template has."""
    for name in names:
        if name not in known:
            guess = nearest(name, known)
            raise UsageError(
                "there is no such template",
                expected=" or ".join(known),
                found=name or "an empty word",
                hint=f"did you mean {guess}?" if guess else "`reprobridge template list` says what each is",
            )


def _lock(name: str, folder: Path | None, doors: Doors) -> None:
    from reprobridge.data_files import data_folder
    from reprobridge.lock.debian.index import IndexSources
    from reprobridge.lock.debian.lock import lock_template
    from reprobridge.lock.debian.mirrors import read_settings
    from reprobridge.lock.template import load_template
    from reprobridge.system.durable import write_durably
    from reprobridge.system.files import USUAL

    sources = IndexSources(
        network=doors.network, store=doors.store, settings=read_settings(os.environ), now=datetime.now(UTC)
    )
    locked = lock_template(load_template(name), sources)
    path = (folder or data_folder("lockfiles")) / f"{name}.lock.json"
    write_durably(path, locked.to_bytes(), mode=USUAL)
    for platform, base in locked.platforms.items():
        doors.log(f"{name} {platform}: {counted(len(base.debs), 'package')}")
    print(path, file=doors.out)
