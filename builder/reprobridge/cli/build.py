"""`reprobridge build`: assemble the locked artifact into an OCI image."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from reprobridge.cli.building import add_sandbox
from reprobridge.cli.doors import Doors
from reprobridge.cli.values import count, path_word
from reprobridge.digest import Digest
from reprobridge.errors import AssembleError, UsageError
from reprobridge.system.files import USUAL, write_file
from reprobridge.system.processes import cores

if TYPE_CHECKING:
    from reprobridge.cli.outputs import Output
    from reprobridge.lock.doors import Doors as LockDoors
    from reprobridge.lock.model import Lock
    from reprobridge.publish.known_source import KnownSource
    from reprobridge.spec.model import Spec

NAME = "build"
SUMMARY = "assemble the locked artifact into an OCI image"

DEFAULT_WORKERS = min(8, cores())
"""As many processes as there are cores for us, at most eight."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's words."""
    parser.add_argument(
        "folder", nargs="?", type=path_word, default=Path(), metavar="DIR", help="artifact (default: here)"
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
        type=count,
        default=DEFAULT_WORKERS,
        help="most processes (default: one a core, at most 8)",
    )
    add_sandbox(parser)
    parser.add_argument(
        "--digest-file", type=path_word, metavar="FILE", help="write the digest of record into a file"
    )
    parser.add_argument("--json", action="store_true", help="print digest, name and notes as JSON")
    _add_known(parser.add_argument_group("layers that others made"))


def _add_known(group: "argparse._ArgumentGroup") -> None:
    group.add_argument(
        "--known",
        metavar="REGISTRY/REPO",
        help="use what is known of layers there, without their packages; their bytes stay there",
    )
    group.add_argument(
        "--known-key", type=path_word, metavar="FILE", help="public key that must have signed that"
    )
    group.add_argument(
        "--recompute",
        nargs="?",
        type=count,
        const=sys.maxsize,
        default=0,
        metavar="N",
        help="make N of the known layers again, chosen by chance, and compare (default: all)",
    )
    group.add_argument("--insecure", action="store_true", help="plain http to a registry on another machine")


def execute(arguments: argparse.Namespace, doors: Doors) -> int:
    """Build, write the output, print the digest of record."""
    from reprobridge.assemble.build import BuildRequest, build_artifact
    from reprobridge.cli.outputs import write_output
    from reprobridge.cli.progress import build_progress

    output = _output(arguments, doors)
    knowledge, lock_doors = _knowledge(arguments, doors), doors.for_locking()
    with build_progress(doors) as progress:
        request = BuildRequest(
            folder=arguments.folder,
            progress=progress,
            downloads=progress,
            workers=arguments.workers,
            knowledge=knowledge,
            answer=_relocking(arguments.folder, lock_doors, doors.log) if arguments.relock else None,
        )
        built = build_artifact(request, lock_doors)
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


def _output(arguments: argparse.Namespace, doors: Doors) -> "Output":
    """Where the image goes, once it is certain that it and its digest may be written there. Raises as `outputs` does."""
    from reprobridge.cli.outputs import (
        parse_output,
        require_apart,
        require_beside_artifact,
        require_place,
        require_writable,
    )

    output, digest_file = parse_output(arguments.output), arguments.digest_file
    require_writable(output)
    if digest_file:
        require_place(digest_file)
        require_apart(output, digest_file)
    for file, option in ((output.file, "--output"), (digest_file, "--digest-file")):
        if file:
            require_beside_artifact(file, option, arguments.folder, doors.store)
    return output


def _knowledge(arguments: argparse.Namespace, doors: Doors) -> "KnownSource | None":
    """What --known names. Raises UsageError for words that do not fit together."""
    if not arguments.known:
        if arguments.known_key or arguments.recompute:
            raise UsageError("nothing is known without --known", expected="--known REGISTRY/REPO")
        return None
    if not arguments.known_key:
        raise UsageError("nobody is named whose word counts", where="--known", expected="--known-key FILE")
    if arguments.output != "store":
        raise UsageError(
            "an image whose layers lie elsewhere can't be written out",
            where="--output",
            expected="store, from where `reprobridge publish` takes it",
            found=arguments.output,
            hint="build without --known",
        )
    from random import SystemRandom

    from reprobridge.assemble.elsewhere import Place
    from reprobridge.cli.key_files import public_key
    from reprobridge.publish.known_layers import RemoteList
    from reprobridge.publish.known_source import KnownSource
    from reprobridge.publish.signing.policy import KeyPolicy
    from reprobridge.registry.connect import connect
    from reprobridge.registry.reference import ImageReference

    reference = ImageReference.parse(arguments.known)
    registry = connect(reference.registry, doors.http, say=doors.log, insecure=arguments.insecure)
    return KnownSource(
        store=doors.store,
        remote=RemoteList(registry, reference.repository),
        place=Place(reference.registry, reference.repository),
        policy=KeyPolicy(public_key(arguments.known_key)),
        again=lambda known: SystemRandom().sample(range(known), min(arguments.recompute, known)),
        tell=doors.log,
    )


def write_digest(path: Path, digest: Digest) -> None:
    """Write the digest of record into a file. Raises AssembleError."""
    try:
        write_file(path, f"{digest}\n".encode(), mode=USUAL)
    except OSError as error:
        raise AssembleError(
            "the digest cannot be written",
            where=str(path),
            expected="a writable path with room",
            found=error.strerror or str(error),
            hint="the image is built: make room, or name another file with --digest-file, and run again",
        ) from error


def _relocking(
    folder: Path, doors: "LockDoors", tell: Callable[[str], None]
) -> "Callable[[Spec], tuple[Lock, bytes]]":
    """Locks again what changed in a specification, and tells what `lock` would: warnings, and another lock."""

    def relock(spec: "Spec") -> "tuple[Lock, bytes]":
        from reprobridge.lock.file import FILE_NAME, lock_file, parse_lock, require_replaceable, write_lock
        from reprobridge.lock.lock import LockOptions, lock_artifact

        path = folder / FILE_NAME
        require_replaceable(path)
        data = lock_file(path) if path.exists() else b""
        previous = parse_lock(data, str(path)) if path.exists() else None
        locked = lock_artifact(spec, previous, LockOptions(), folder, doors)
        for warning in locked.warnings:
            tell(f"warning: {warning}")
        lock = locked.lock
        if lock != previous:
            data = write_lock(path, lock)
            tell(f"wrote {path}")
        return lock, data

    return relock
