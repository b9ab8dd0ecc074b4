"""`reprobridge lock`: resolve every wish of the spec into an exact, hash-pinned entry."""

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.cli.building import add_sandbox
from reprobridge.cli.doors import Doors
from reprobridge.cli.values import path_word
from reprobridge.errors import UsageError

if TYPE_CHECKING:
    from reprobridge.lock.model import Lock

NAME = "lock"
SUMMARY = "resolve the spec into reprobridge.lock, check it, or export it"

STALE = 1
"""Exit status of --check when the lock does not answer the spec."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument(
        "folder", nargs="?", type=path_word, default=Path(), metavar="DIR", help="artifact (default: here)"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 when the lock is stale; alone"
    )
    parser.add_argument(
        "--upgrade",
        nargs="*",
        metavar="NAME",
        help="take newest releases: of all packages, or of these Python packages",
    )
    parser.add_argument(
        "--upgrade-tools", action="store_true", help="pin what of this release reaches the image"
    )
    parser.add_argument(
        "--upgrade-template", action="store_true", help="take this release's base system, or today's packages"
    )
    parser.add_argument(
        "--export", choices=("pylock.toml", "requirements.txt"), help="print the Python packages; alone"
    )
    add_sandbox(parser)


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Lock, check or export."""
    _require_one(arguments)
    if arguments.export:
        return _export(arguments, doors)
    if arguments.check:
        return _check(arguments.folder, doors)
    from reprobridge.lock.file import FILE_NAME, require_replaceable, write_lock
    from reprobridge.lock.lock import LockOptions, lock_artifact, read_previous
    from reprobridge.spec.package_name import normalized
    from reprobridge.spec.parse import read_spec

    path = arguments.folder / FILE_NAME
    require_replaceable(path)
    upgrade = arguments.upgrade
    options = LockOptions(
        upgrade=upgrade == [],
        packages=tuple(normalized(name) for name in upgrade or ()),
        tools=arguments.upgrade_tools,
        template=arguments.upgrade_template,
    )
    spec = read_spec(arguments.folder)
    previous = read_previous(path)
    if previous:
        _require_locked(options.packages, previous)
    with doors.store.working():
        locked = lock_artifact(spec, previous, options, arguments.folder, doors.for_locking())
    for warning in locked.warnings:
        doors.log(f"warning: {warning}")
    if locked.lock == previous:
        doors.log(f"{path} is up to date")
    else:
        write_lock(path, locked.lock)
        doors.log(f"wrote {path}")
    _warn_of_tools(locked.lock, arguments.folder, doors)
    return 0


def _require_one(arguments: argparse.Namespace) -> None:
    """Raises UsageError when what only reads the lock was asked for beside something else."""
    upgrades = {
        "--upgrade": arguments.upgrade is not None,
        "--upgrade-tools": arguments.upgrade_tools,
        "--upgrade-template": arguments.upgrade_template,
    }
    options = {"--check": arguments.check, "--export": arguments.export is not None, **upgrades}
    given = [option for option, is_given in options.items() if is_given]
    if len(given) > 1 and (arguments.check or arguments.export):
        raise UsageError(
            "the options exclude each other",
            expected="--check or --export, which only read the lock, or what upgrades it",
            found=", ".join(given),
            hint="upgrade first, then check or export",
        )


def _warn_of_tools(lock: "Lock", folder: Path, doors: Doors) -> None:
    """Say that a build will refuse a lock whose wishes are answered: its tools stay as they are until asked."""
    from reprobridge.lock.tools import tool_differences, tools_remedy

    if differences := tool_differences(lock.tools):
        places = ", ".join(problem.where for problem in differences)
        doors.log(f"warning: this release gives other bytes than the lock promises: {places}")
        doors.log(f"hint: {tools_remedy(lock.tools.release, folder)}")


def _require_locked(names: tuple[str, ...], lock: "Lock") -> None:
    """Raises UsageError for names to upgrade that are no locked Python packages."""
    locked = {wheel.name for platform in lock.platforms.values() for wheel in platform.python.wheels}
    if unknown := [name for name in names if name not in locked]:
        raise UsageError(
            "only locked Python packages can be upgraded by name",
            where="--upgrade",
            expected=", ".join(sorted(locked)) or "no name: the artifact has no Python packages",
            found=", ".join(name or "an empty name" for name in unknown),
            hint="the artifact's folder stands before --upgrade; a new package goes into the requirements",
        )


def _check(folder: Path, doors: Doors) -> int:
    from reprobridge.lock.file import FILE_NAME, read_lock
    from reprobridge.lock.freshness import stale_wishes
    from reprobridge.lock.owners import owners
    from reprobridge.lock.staleness import staleness, tool_changes
    from reprobridge.lock.tools import tools_remedy
    from reprobridge.spec.parse import read_spec

    spec, lock, lock_doors = read_spec(folder), read_lock(folder / FILE_NAME), doors.for_locking()
    stale = stale_wishes(spec, lock, folder, lock_doors)
    if not stale:
        owners(spec, lock.platforms.values())
    changed, tools = staleness(stale, spec, lock, folder, lock_doors), tool_changes(lock.tools)
    for line in (*changed, *tools):
        print(line, file=doors.out)
    doors.out.flush()  # before the hints, also where both go into one pipe
    if changed:
        doors.log(f"hint: run `reprobridge lock {shlex.quote(str(folder))}`")
    if tools:
        doors.log(f"hint: {tools_remedy(lock.tools.release, folder)}")
    if not changed and not tools:
        doors.log(f"{folder / FILE_NAME} answers the spec")
    return STALE if changed or tools else 0


def _export(arguments: argparse.Namespace, doors: Doors) -> int:
    from reprobridge.lock.file import FILE_NAME, read_lock
    from reprobridge.lock.pypi_export import export

    lock = read_lock(arguments.folder / FILE_NAME)
    for platform in sorted(lock.platforms):
        doors.out.write(export(lock.platforms[platform].python, arguments.export))
    return 0
