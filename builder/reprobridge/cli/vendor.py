"""`reprobridge vendor`: every locked file in one folder, from which the artifact builds offline."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.cli.building import add_sandbox
from reprobridge.cli.doors import Doors
from reprobridge.cli.values import path_word
from reprobridge.wording import counted

if TYPE_CHECKING:
    from reprobridge.lock.doors import Doors as LockDoors
    from reprobridge.lock.model import Lock

NAME = "vendor"
SUMMARY = "put every locked file into a folder that builds offline"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument(
        "folder", nargs="?", type=path_word, default=Path(), metavar="DIR", help="artifact (default: here)"
    )
    parser.add_argument(
        "--to", type=path_word, default=Path("vendor"), metavar="FOLDER", help="where (default: vendor)"
    )
    add_sandbox(parser)


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Bring everything and write the folder."""
    from reprobridge.assemble.arrivals import wanted_files
    from reprobridge.cli.outputs import require_folder
    from reprobridge.lock.fetch import Fetcher
    from reprobridge.lock.file import FILE_NAME, read_lock
    from reprobridge.lock.freshness import require_fresh
    from reprobridge.lock.source import obtain_tree, wanted_source
    from reprobridge.lock.vendor import locked_files, locked_trees, require_ours, vendor
    from reprobridge.spec.parse import read_spec

    require_folder(arguments.to)
    require_ours(arguments.to)
    folder, lock_doors = arguments.folder, doors.for_locking()
    spec, lock = read_spec(folder), read_lock(folder / FILE_NAME)
    require_fresh(spec, lock, folder, lock_doors)
    with doors.store.working():
        fetcher = Fetcher(doors.store, doors.network, vendored=lock_doors.vendored)
        wanted = [*wanted_source(spec, lock.source, lock_doors)]
        for platform in lock.platforms:
            _build(lock, platform, folder, lock_doors)
            wanted += wanted_files(lock, platform, lock_doors).values()
        for _ in fetcher.fetch(wanted):
            pass  # into the store, from which the folder is filled below
        obtain_tree(spec, lock.source, folder, lock_doors)
        report = vendor(arguments.to, locked_files(lock), locked_trees(lock), doors.store)
    print(arguments.to, file=doors.out)
    doors.log(
        f"{counted(len(report.written), 'file')} written, {len(report.kept)} kept, {report.size} bytes; "
        f"now `REPROBRIDGE_VENDOR={arguments.to} reprobridge build {folder} --offline` works anywhere"
    )
    return 0


def _build(lock: "Lock", platform: str, folder: Path, doors: "LockDoors") -> None:
    """Have wheels that nobody published in the store, and what they are built from."""
    python = lock.platforms[platform].python
    if not python.builds:
        return
    from reprobridge.lock.sdist.ground import locked_ground
    from reprobridge.lock.sdist.rebuild import obtain_built
    from reprobridge.lock.sdist.source import obtain_source

    wheels = {wheel.file.sha256 for _, wheel in python.built}
    obtain_built(python, wheels, locked_ground(lock, platform, folder), doors)
    for build in python.builds:
        obtain_source(build, folder, doors)
