"""`reprobridge build`: assemble the locked artifact into an OCI image."""

import argparse
from pathlib import Path

from reprobridge.cli.doors import Doors
from reprobridge.digest import Digest
from reprobridge.errors import AssembleError
from reprobridge.system.files import write_file
from reprobridge.system.processes import cores

NAME = "build"
SUMMARY = "assemble the locked artifact into an OCI image"

DEFAULT_WORKERS = min(8, cores())
"""As many processes as there are cores for us, at most eight."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument(
        "folder", nargs="?", type=Path, default=Path(), metavar="DIR", help="artifact (default: here)"
    )
    parser.add_argument(
        "--output",
        "-o",
        default="store",
        metavar="WHERE",
        help="store (default), oci:FOLDER, oci-archive:FILE, docker-archive:FILE, docker: or podman:",
    )
    parser.add_argument("--relock", action="store_true", help="first lock again what changed in the spec")
    parser.add_argument(
        "--workers",
        type=_count,
        default=DEFAULT_WORKERS,
        help="most processes (default: one a core, at most 8)",
    )
    parser.add_argument(
        "--digest-file", type=Path, metavar="FILE", help="write the digest of record into a file"
    )
    parser.add_argument("--json", action="store_true", help="print digest, name and notes as JSON")


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Build, write the output, print the digest of record."""
    from reprobridge.assemble.build import BuildRequest, build_artifact
    from reprobridge.cli.outputs import parse_output, write_output
    from reprobridge.cli.progress import build_progress

    output = parse_output(arguments.output)
    if arguments.relock:
        _relock(arguments.folder, doors)
    with build_progress(doors) as progress:
        request = BuildRequest(
            folder=arguments.folder, progress=progress, downloads=progress, workers=arguments.workers
        )
        built = build_artifact(request, doors.for_locking())
    for note in built.notes:
        doors.log(f"note: {note}")
    write_output(output, built, doors)
    if arguments.digest_file:
        write_digest(arguments.digest_file, built.manifest)
    if arguments.json:
        import json

        value = {"digest": str(built.manifest), "name": built.name, "version": built.version}
        print(json.dumps({**value, "notes": built.notes}), file=doors.out)
    else:
        print(f"{built.name}:{built.version}@{built.manifest}", file=doors.out)
    return 0


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found {text!r}")
    return int(text)


def write_digest(path: Path, digest: Digest) -> None:
    """Write the digest of record into a file. Raises AssembleError."""
    try:
        write_file(path, f"{digest}\n".encode())
    except OSError as error:
        raise AssembleError(
            "the digest cannot be written",
            where=str(path),
            expected="a writable path",
            found=error.strerror or str(error),
        ) from error


def _relock(folder: Path, doors: Doors) -> None:
    from reprobridge.lock.file import FILE_NAME, write_lock
    from reprobridge.lock.lock import LockOptions, lock_artifact, read_previous
    from reprobridge.spec.parse import read_spec

    path = folder / FILE_NAME
    previous = read_previous(path)
    lock = lock_artifact(
        read_spec(folder, memory=doors.store), previous, LockOptions(), folder, doors.for_locking()
    ).lock
    if lock != previous:
        write_lock(path, lock)
        doors.log(f"wrote {path}")
